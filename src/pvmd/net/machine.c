/* machine.c - the machine's id and secret. */
#include "machine.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include "core/error.h"
#include "core/log.h"

struct pvmd_secrets *pvmd_secrets;

/* Makes room for the secrets. Old kernels lack some of the protections; the secret is then as safe as other memory. */
static int make_room(void)
{
    if (pvmd_secrets)
        return 0;
    void *room = mmap(NULL, sizeof *pvmd_secrets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for the machine's secret");
        return PVMC_ENOMEM;
    }
    madvise(room, sizeof *pvmd_secrets, MADV_DONTDUMP);
    madvise(room, sizeof *pvmd_secrets, MADV_WIPEONFORK);
    if (mlock(room, sizeof *pvmd_secrets))
        pvmc_log(PVMC_LOG_WARNING, "the machine's secret may be swapped: %s (raise 'ulimit -l')", strerror(errno));
    pvmd_secrets = room;
    return 0;
}

static int make_key(struct pvmd_key *key, const struct pvmd_machine *m)
{
    static const uint8_t label[] = "dpvm door";
    key->machine = *m;
    memcpy(key->door.machine_id, m->id, sizeof key->door.machine_id);
    if (HMAC(EVP_sha256(), m->secret, sizeof m->secret, label, sizeof label - 1, key->door.key, NULL))
        return 0;
    pvmc_log(PVMC_LOG_ERROR, "cannot compute HMAC-SHA256: OpenSSL is unusable");
    return PVMC_ESYSTEM;
}

int pvmd_machine_draw(struct pvmd_machine *m)
{
    if (RAND_bytes(m->id, sizeof m->id) == 1 && RAND_priv_bytes(m->secret, sizeof m->secret) == 1)
        return 0;
    pvmc_log(PVMC_LOG_ERROR, "no random numbers for a secret");
    return PVMC_ESYSTEM;
}

int pvmd_machine_new(void)
{
    if (make_room())
        return PVMC_ENOMEM;
    int rc = pvmd_machine_draw(&pvmd_secrets->own.machine);
    return rc ? rc : make_key(&pvmd_secrets->own, &pvmd_secrets->own.machine);
}

int pvmd_machine_join(const struct pvmd_machine *m)
{
    return make_room() ? PVMC_ENOMEM : make_key(&pvmd_secrets->own, m);
}

_Static_assert(PVMC_TOKEN_SECRET_BYTES == PVMD_SECRET_BYTES, "a token's secret is a machine's secret");

static const uint8_t token_prefix[PVMD_MACHINE_ID_BYTES - PVMC_TOKEN_ID_BYTES] = "dpvmtokn";

bool pvmd_machine_is_token(const uint8_t id[PVMD_MACHINE_ID_BYTES])
{
    return !memcmp(id, token_prefix, sizeof token_prefix);
}

struct pvmd_machine pvmd_machine_of_token(const struct pvmc_token *token)
{
    struct pvmd_machine m;
    memcpy(m.id, token_prefix, sizeof token_prefix);
    memcpy(m.id + sizeof token_prefix, token->id, sizeof token->id);
    memcpy(m.secret, token->secret, sizeof m.secret);
    return m;
}

int pvmd_machine_set_other(unsigned place, const struct pvmd_machine *m)
{
    struct pvmd_key *key = &pvmd_secrets->others[place];
    OPENSSL_cleanse(key, sizeof *key);
    return m ? make_key(key, m) : 0;
}

void pvmd_machine_swap(void)
{
    struct pvmd_key *second = &pvmd_secrets->others[PVMD_PLACE_SECOND], own = pvmd_secrets->own;
    pvmd_secrets->own = *second;
    *second = own;
    OPENSSL_cleanse(&own, sizeof own);
}

/* Wraps or unwraps with a key derived from our secret: the number of bytes, or -1. */
static int transform(bool wraps, const uint8_t *from, int bytes, uint8_t *to)
{
    static const uint8_t label[] = "dpvm rotation";
    uint8_t key[PVMD_KEY_BYTES];
    int done = -1;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    if (c)
        EVP_CIPHER_CTX_set_flags(c, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    if (c &&
        HMAC(EVP_sha256(), pvmd_secrets->own.machine.secret, PVMD_SECRET_BYTES, label, sizeof label - 1, key, NULL) &&
        EVP_CipherInit_ex(c, EVP_aes_256_wrap(), NULL, key, NULL, wraps) == 1 &&
        EVP_CipherUpdate(c, to, &done, from, bytes) != 1)
        done = -1;
    OPENSSL_cleanse(key, sizeof key);
    EVP_CIPHER_CTX_free(c);
    return done;
}

int pvmd_machine_wrap(const struct pvmd_machine *m, uint8_t wrapped[PVMD_WRAPPED_BYTES])
{
    if (transform(true, m->secret, PVMD_SECRET_BYTES, wrapped) == PVMD_WRAPPED_BYTES)
        return 0;
    pvmc_log(PVMC_LOG_ERROR, "cannot encrypt a secret: OpenSSL is unusable");
    return PVMC_ESYSTEM;
}

int pvmd_machine_unwrap(const uint8_t wrapped[PVMD_WRAPPED_BYTES], struct pvmd_machine *m)
{
    uint8_t room[PVMD_WRAPPED_BYTES]; /* OpenSSL may use all of it */
    bool good = transform(false, wrapped, PVMD_WRAPPED_BYTES, room) == PVMD_SECRET_BYTES;
    if (good)
        memcpy(m->secret, room, PVMD_SECRET_BYTES);
    OPENSSL_cleanse(room, sizeof room);
    return good ? 0 : PVMC_EDENIED;
}

const struct pvmd_key *pvmd_machine_key(const uint8_t id[PVMD_MACHINE_ID_BYTES], int *place)
{
    static const uint8_t none[PVMD_MACHINE_ID_BYTES];
    *place = -1;
    if (!memcmp(id, pvmd_secrets->own.machine.id, PVMD_MACHINE_ID_BYTES))
        return &pvmd_secrets->own;
    for (int i = 0; i < PVMD_PLACES && memcmp(id, none, sizeof none); i++)
        if (!memcmp(id, pvmd_secrets->others[i].machine.id, PVMD_MACHINE_ID_BYTES)) {
            *place = i;
            return &pvmd_secrets->others[i];
        }
    return NULL;
}
