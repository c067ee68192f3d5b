/* courier.c - see courier.h. */
#include "courier.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "channel.h"
#include "pvmd/door/confine.h"
#include "wire/socket.h"

#define CONNECT_US 3000000 /* for each address */
#define FIRST_LINE 8192    /* bytes of the text that the master's end reads first */

static const char first_word[] = "courier";

/* ---- keys ---- */

int pvmd_courier_key_new(struct pvmd_courier_key *key)
{
    size_t private_bytes = sizeof key->private_key, public_bytes = sizeof key->public_key;
    EVP_PKEY *pair = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    int rc = pair && EVP_PKEY_get_raw_private_key(pair, key->private_key, &private_bytes) == 1 &&
                     EVP_PKEY_get_raw_public_key(pair, key->public_key, &public_bytes) == 1
                 ? 0
                 : PVMC_ESYSTEM;
    if (rc)
        pvmc_log(PVMC_LOG_ERROR, "cannot make a key: %s", ERR_reason_error_string(ERR_get_error()));
    EVP_PKEY_free(pair);
    return rc;
}

static void print_hex(const uint8_t *bytes, char *text)
{
    for (unsigned i = 0; i < PVMD_COURIER_KEY_BYTES; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
}

void pvmd_courier_key_text(const struct pvmd_courier_key *key, char text[PVMD_COURIER_KEY_TEXT])
{
    print_hex(key->public_key, text);
}

bool pvmd_courier_key_read(const char *text, uint8_t bytes[PVMD_COURIER_KEY_BYTES])
{
    size_t length = 0;
    return strlen(text) == 2 * PVMD_COURIER_KEY_BYTES &&
           OPENSSL_hexstr2buf_ex(bytes, PVMD_COURIER_KEY_BYTES, &length, text, '\0') == 1 &&
           length == PVMD_COURIER_KEY_BYTES;
}

static bool agree(const uint8_t *own_private, const uint8_t *peer_public, uint8_t shared[PVMD_COURIER_KEY_BYTES])
{
    size_t length = PVMD_COURIER_KEY_BYTES;
    EVP_PKEY *own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, own_private, PVMD_COURIER_KEY_BYTES);
    EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, peer_public, PVMD_COURIER_KEY_BYTES);
    EVP_PKEY_CTX *c = own ? EVP_PKEY_CTX_new(own, NULL) : NULL;
    bool agreed = c && peer && EVP_PKEY_derive_init(c) == 1 && EVP_PKEY_derive_set_peer(c, peer) == 1 &&
                  EVP_PKEY_derive(c, shared, &length) == 1;
    EVP_PKEY_CTX_free(c);
    EVP_PKEY_free(peer);
    EVP_PKEY_free(own);
    return agreed;
}

bool pvmd_courier_agree(const struct pvmd_courier_key *own, const uint8_t peer[PVMD_COURIER_KEY_BYTES], bool is_master,
                        struct pvmw_tls_key *key)
{
    static const char label[16] = "dpvm courier";
    uint8_t text[sizeof label + 3 * PVMD_COURIER_KEY_BYTES], *at = text + sizeof label;
    size_t length = sizeof key->secret;
    *key = (struct pvmw_tls_key){.id = "dpvm courier"};
    memcpy(text, label, sizeof label);
    bool made = agree(own->private_key, peer, at);
    memcpy(at + PVMD_COURIER_KEY_BYTES, is_master ? own->public_key : peer, PVMD_COURIER_KEY_BYTES);
    memcpy(at + 2 * PVMD_COURIER_KEY_BYTES, is_master ? peer : own->public_key, PVMD_COURIER_KEY_BYTES);
    made = made && EVP_Q_digest(NULL, "SHA256", NULL, text, sizeof text, key->secret, &length) == 1;
    OPENSSL_cleanse(text, sizeof text);
    return made;
}

/* ---- the master's end ---- */

char *pvmd_courier_text(const struct pvmd_courier_key *own, const char *slave_key, const struct pvmw_addresses *slave,
                        const char *what_follows)
{
    char *text, hex[2][PVMD_COURIER_KEY_TEXT], list[PVMW_ADDRESS_MAX * PVMW_ADDRESS_TEXT];
    print_hex(own->private_key, hex[0]);
    print_hex(own->public_key, hex[1]);
    pvmw_addresses_format(slave, list, sizeof list);
    if (asprintf(&text, "%s %s %s %s %s\n%s", first_word, hex[0], hex[1], slave_key, list, what_follows) < 0)
        text = NULL;
    OPENSSL_cleanse(hex, sizeof hex);
    return text;
}

/* Reads one byte at a time, because everything after the line is for the slave. */
static bool read_first_line(char *line, size_t size)
{
    for (size_t length = 0; length < size; length++) {
        if (read(STDIN_FILENO, line + length, 1) != 1)
            return false;
        if (line[length] == '\n') {
            line[length] = '\0';
            return true;
        }
    }
    return false;
}

static bool parse_first_line(char *line, struct pvmd_courier_key *own, uint8_t *slave, struct pvmw_addresses *where)
{
    char *rest, *word = strtok_r(line, " ", &rest);
    char *private_key = strtok_r(NULL, " ", &rest), *public_key = strtok_r(NULL, " ", &rest);
    char *slave_key = strtok_r(NULL, " ", &rest), *list = strtok_r(NULL, " ", &rest);
    return list && !strcmp(word, first_word) && pvmd_courier_key_read(private_key, own->private_key) &&
           pvmd_courier_key_read(public_key, own->public_key) && pvmd_courier_key_read(slave_key, slave) &&
           !pvmw_addresses_parse(list, where) && where->count;
}

static int call(const union pvmw_address *a)
{
    int fd = pvmw_socket_connect(a, NULL, NULL), error = fd < 0 ? -fd : 0;
    char text[PVMW_ADDRESS_TEXT];
    if (!error && !pvmd_channel_wait(fd, POLLOUT, pvmc_clock_us() + CONNECT_US))
        error = ETIMEDOUT;
    else if (!error)
        error = pvmw_socket_connected(fd);
    if (!error)
        return fd;
    fprintf(stderr, "%s: %s\n", pvmw_address_text(a, text), strerror(error));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Finds the first address where the other side has the key. */
static bool find_slave(const struct pvmw_addresses *where, const struct pvmw_tls_key *key, struct pvmd_channel *c)
{
    char text[PVMW_ADDRESS_TEXT];
    for (unsigned i = 0; i < where->count; i++) {
        int fd = call(&where->list[i]);
        const char *why = fd < 0 ? NULL : pvmd_channel_open(c, fd, key);
        if (fd >= 0 && !why)
            return true;
        if (why)
            fprintf(stderr, "%s: the listener is not the daemon that the hoster has started: %s\n",
                    pvmw_address_text(&where->list[i], text), why);
    }
    return false;
}

int pvmd_courier_run(void)
{
    char line[FIRST_LINE];
    struct pvmd_courier_key own;
    struct pvmw_addresses where = {0};
    struct pvmw_tls_key key;
    struct pvmd_channel channel;
    uint8_t slave[PVMD_COURIER_KEY_BYTES];
    pvmd_confine_start("pvmd3-courier");
    bool started = read_first_line(line, sizeof line) && parse_first_line(line, &own, slave, &where) &&
                   pvmd_courier_agree(&own, slave, true, &key) && !pvmw_tls_start();
    OPENSSL_cleanse(line, sizeof line);
    OPENSSL_cleanse(&own, sizeof own);
    if (!started) {
        fprintf(stderr, "pvmd3 -K is for the daemon's own use\n");
        return 1;
    }
    pvmd_confine_calls(PVMD_CONFINE_CALLER); /* it calls without a filter if the system has none */
    bool found = find_slave(&where, &key, &channel);
    OPENSSL_cleanse(&key, sizeof key);
    if (found)
        pvmd_channel_carry(&channel, STDIN_FILENO, STDOUT_FILENO);
    pvmw_tls_stop();
    return found ? 0 : 1;
}
