/* courier.c - see courier.h. */
#include "courier.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../core/clock.h"
#include "../core/config.h"
#include "../core/dsig.h"
#include "../core/error.h"
#include "../core/log.h"
#include "startup.h"
#include "tls.h"

#define HANDSHAKE_US 5000000 /* for a caller to prove that it has the key */
#define CONNECT_US   3000000 /* for each address */
#define FIRST_LINE   8192    /* bytes of what the master's end reads first, at most */

static const char first_word[] = "courier";

/* ---- keys ---- */

int pvmd_courier_key_new(struct pvmd_courier_key *key)
{
    size_t private_bytes = sizeof key->private_key, public_bytes = sizeof key->public_key;
    EVP_PKEY *pair = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    int rc = pair && EVP_PKEY_get_raw_private_key(pair, key->private_key, &private_bytes) == 1 &&
                     EVP_PKEY_get_raw_public_key(pair, key->public_key, &public_bytes) == 1
                 ? 0
                 : PVMI_ESYSTEM;
    if (rc)
        pvmi_log(PVMI_LOG_ERROR, "cannot make a key: %s", pvmd_tls_error());
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

static bool read_hex(const char *text, uint8_t bytes[PVMD_COURIER_KEY_BYTES])
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

/* The key of the channel: SHA-256 of a label, the agreed secret, the master's public key and the slave's. */
static bool make_key(const struct pvmd_courier_key *own, const uint8_t *peer, bool is_master,
                     uint8_t key[PVMD_KEY_BYTES])
{
    static const char label[16] = "dpvm courier";
    uint8_t text[sizeof label + 3 * PVMD_COURIER_KEY_BYTES], *at = text + sizeof label;
    size_t length = PVMD_KEY_BYTES;
    memcpy(text, label, sizeof label);
    bool made = agree(own->private_key, peer, at);
    memcpy(at + PVMD_COURIER_KEY_BYTES, is_master ? own->public_key : peer, PVMD_COURIER_KEY_BYTES);
    memcpy(at + 2 * PVMD_COURIER_KEY_BYTES, is_master ? peer : own->public_key, PVMD_COURIER_KEY_BYTES);
    made = made && EVP_Q_digest(NULL, "SHA256", NULL, text, sizeof text, key, &length) == 1;
    OPENSSL_cleanse(text, sizeof text);
    return made;
}

/* ---- the channel ---- */

static bool wait_for(int fd, short events, int64_t deadline_us)
{
    int64_t left_us = deadline_us - pvmi_clock_us();
    struct pollfd p = {.fd = fd, .events = events};
    return left_us > 0 && poll(&p, 1, (int)(left_us / 1000) + 1) > 0;
}

/* Everything; fd may block or not. */
static bool write_all(int fd, const uint8_t *data, size_t length)
{
    while (length) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        else if (n < 0 && errno != EINTR)
            return false;
        data += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool flush(int fd)
{
    bool written = write_all(fd, pvmd_sealed.data, pvmd_sealed.length);
    pvmd_sealed.length = 0;
    return written;
}

static SSL *handshake(int fd, bool is_master, const uint8_t key[PVMD_KEY_BYTES])
{
    int64_t deadline_us = pvmi_clock_us() + HANDSHAKE_US;
    SSL *ssl = pvmd_tls_new(fd, is_master, key);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (ssl) {
        int rc = SSL_do_handshake(ssl);
        if (flush(fd) && rc == 1)
            return ssl;
        if (SSL_get_error(ssl, rc) == SSL_ERROR_WANT_READ && wait_for(fd, POLLIN, deadline_us))
            continue;
        SSL_free(ssl);
        ssl = NULL;
    }
    return NULL;
}

/* From the local end to the other side. False at the end of either. */
static bool pass_out(SSL *ssl, int fd, int in)
{
    uint8_t data[PVMD_RECORD_BYTES];
    ssize_t n = read(in, data, sizeof data);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    bool passed = n > 0 && SSL_write(ssl, data, (int)n) == n;
    OPENSSL_cleanse(data, sizeof data);
    return passed && flush(fd);
}

/* All that has come. */
static bool pass_in(SSL *ssl, int fd, int out)
{
    uint8_t data[PVMD_RECORD_BYTES];
    int n;
    while ((n = SSL_read(ssl, data, sizeof data)) > 0)
        if (!write_all(out, data, (size_t)n))
            return false;
    return SSL_get_error(ssl, n) == SSL_ERROR_WANT_READ && flush(fd);
}

/* Both ways until one side ends, which is the end of both. */
static void carry(SSL *ssl, int fd, int in, int out)
{
    struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = in, .events = POLLIN}};
    bool on = true;
    while (on) {
        int n = poll(p, 2, -1);
        if (n < 0 && errno == EINTR)
            continue;
        on = n > 0;
        if (on && p[0].revents)
            on = pass_in(ssl, fd, out);
        if (on && p[1].revents)
            on = pass_out(ssl, fd, in);
    }
    SSL_shutdown(ssl);
    flush(fd);
    SSL_free(ssl);
    close(fd);
}

/* ---- the master's end ---- */

char *pvmd_courier_text(const struct pvmd_courier_key *own, const char *slave_key, const struct pvmd_addresses *slave,
                        const char *what_follows)
{
    char *text, hex[2][PVMD_COURIER_KEY_TEXT], list[PVMD_ADDRESS_MAX * PVMD_ADDRESS_TEXT];
    print_hex(own->private_key, hex[0]);
    print_hex(own->public_key, hex[1]);
    pvmd_addresses_format(slave, list, sizeof list);
    if (asprintf(&text, "%s %s %s %s %s\n%s", first_word, hex[0], hex[1], slave_key, list, what_follows) < 0)
        text = NULL;
    OPENSSL_cleanse(hex, sizeof hex);
    return text;
}

/* One byte at a time: what follows is not for us. */
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

static bool parse_first_line(char *line, struct pvmd_courier_key *own, uint8_t *slave, struct pvmd_addresses *where)
{
    char *rest, *word = strtok_r(line, " ", &rest);
    char *private_key = strtok_r(NULL, " ", &rest), *public_key = strtok_r(NULL, " ", &rest);
    char *slave_key = strtok_r(NULL, " ", &rest), *list = strtok_r(NULL, " ", &rest);
    return list && !strcmp(word, first_word) && read_hex(private_key, own->private_key) &&
           read_hex(public_key, own->public_key) && read_hex(slave_key, slave) && !pvmd_addresses_parse(list, where) &&
           where->count;
}

static int call(const struct pvmd_address *a)
{
    int error = 0, fd = socket(a->u.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t length = sizeof error;
    if (fd < 0)
        return -1;
    if (connect(fd, &a->u.any, pvmd_address_bytes(a)) && errno != EINPROGRESS)
        error = errno;
    else if (!wait_for(fd, POLLOUT, pvmi_clock_us() + CONNECT_US))
        error = ETIMEDOUT;
    else
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (!error)
        return fd;
    fprintf(stderr, "%s: %s\n", pvmd_address_text(a), strerror(error));
    close(fd);
    return -1;
}

/* The first address where somebody has the key. */
static SSL *find_slave(const struct pvmd_addresses *where, const uint8_t key[PVMD_KEY_BYTES], int *fd)
{
    for (unsigned i = 0; i < where->count; i++) {
        *fd = call(&where->list[i]);
        SSL *ssl = *fd < 0 ? NULL : handshake(*fd, true, key);
        if (ssl)
            return ssl;
        if (*fd < 0)
            continue;
        fprintf(stderr, "%s: who listens there is not the daemon that the hoster has started\n",
                pvmd_address_text(&where->list[i]));
        close(*fd);
    }
    return NULL;
}

int pvmd_courier_run(void)
{
    char line[FIRST_LINE];
    struct pvmd_courier_key own;
    struct pvmd_addresses where = {0};
    uint8_t slave[PVMD_COURIER_KEY_BYTES], key[PVMD_KEY_BYTES];
    bool started = read_first_line(line, sizeof line) && parse_first_line(line, &own, slave, &where) &&
                   make_key(&own, slave, true, key) && !pvmd_tls_start();
    OPENSSL_cleanse(line, sizeof line);
    OPENSSL_cleanse(&own, sizeof own);
    if (!started) {
        fprintf(stderr, "pvmd3 -K is for the daemon's own use\n");
        return 1;
    }
    int fd;
    SSL *ssl = find_slave(&where, key, &fd);
    OPENSSL_cleanse(key, sizeof key);
    if (ssl)
        carry(ssl, fd, STDIN_FILENO, STDOUT_FILENO);
    pvmd_tls_stop();
    return ssl ? 0 : 1;
}

/* ---- the slave's end ---- */

/* Any port, of all addresses. */
static int listen_anywhere(uint16_t *port)
{
    static const int off = 0;
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) || bind(fd, (struct sockaddr *)&v6, sizeof v6))) {
        close(fd);
        fd = -1;
    }
    if (fd < 0 &&
        ((fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0 || bind(fd, (struct sockaddr *)&v4, sizeof v4)))
        return -1;
    struct pvmd_address a;
    if (listen(fd, 8) || getsockname(fd, (struct sockaddr *)&bound, &length) ||
        pvmd_address_from((struct sockaddr *)&bound, &a))
        return -1;
    *port = pvmd_address_port(&a);
    return fd;
}

static void print_line(const struct pvmd_courier_key *own, uint16_t port)
{
    char text[PVMD_START_LINE_MAX];
    struct pvmd_start_line line = {.dsig = pvmi_dsig_own(), .port = port};
    snprintf(line.arch, sizeof line.arch, "%s", pvmi_arch_own());
    pvmd_courier_key_text(own, line.key);
    pvmd_start_line_add_ssh(&line);
    pvmd_addresses_add_own(&line.addresses, port);
    pvmd_start_line_format(&line, text, sizeof text);
    printf("%s\n", text);
    fflush(stdout);
}

static void let_go_of_terminal(int in, int out)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(in >= 0 ? in : null, STDIN_FILENO);
    dup2(out >= 0 ? out : null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
}

/* Strangers are sent away until the master comes. */
static void serve(int listener, const uint8_t key[PVMD_KEY_BYTES], int channel)
{
    int64_t deadline_us = pvmi_clock_us() + pvmi_config_us(PVMI_SETTING_START_TIMEOUT);
    if (pvmd_tls_start())
        return;
    while (wait_for(listener, POLLIN, deadline_us)) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        SSL *ssl = fd < 0 ? NULL : handshake(fd, false, key);
        if (ssl) {
            close(listener);
            carry(ssl, fd, channel, channel);
            break;
        }
        if (fd >= 0)
            close(fd);
    }
    pvmd_tls_stop();
}

/* The first process ends, and with it the hoster's command; the second serves; the third becomes the daemon. */
static const char *split(int listener, const uint8_t key[PVMD_KEY_BYTES])
{
    int pair[2];
    pid_t child = fork();
    if (child > 0)
        _exit(0);
    if (child < 0 || setsid() < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return strerror(errno);
    child = fork();
    if (child < 0)
        return strerror(errno);
    if (child > 0) {
        close(pair[1]);
        let_go_of_terminal(-1, -1);
        serve(listener, key, pair[0]);
        _exit(0);
    }
    close(pair[0]);
    close(listener);
    let_go_of_terminal(pair[1], pair[1]);
    close(pair[1]);
    return NULL;
}

const char *pvmd_courier_wait(const char *master_key)
{
    struct pvmd_courier_key own;
    uint8_t master[PVMD_COURIER_KEY_BYTES], key[PVMD_KEY_BYTES];
    uint16_t port;
    if (!read_hex(master_key, master))
        return "-k takes the key that the master has put into the command";
    if (pvmd_courier_key_new(&own) || !make_key(&own, master, false, key))
        return "cannot make a key";
    int listener = listen_anywhere(&port);
    if (listener < 0)
        return strerror(errno);
    print_line(&own, port);
    OPENSSL_cleanse(&own, sizeof own);
    const char *why = split(listener, key);
    OPENSSL_cleanse(key, sizeof key);
    return why;
}
