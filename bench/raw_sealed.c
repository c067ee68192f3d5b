/* raw_sealed.c - encrypted records: see raw_way.h. */
#include "raw_way.h"
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* BATCH: records per system call, so that the peer decrypts meanwhile. */
enum { RECORD_BYTES = 16384, HEADER_BYTES = 5, TAG_BYTES = 16, SEALED_BYTES = HEADER_BYTES + RECORD_BYTES + TAG_BYTES };
enum { BATCH = 3, ROOM_BYTES = 4 * SEALED_BYTES, IV_BYTES = 12 };

struct sealed {
    int fd, flags;
    EVP_CIPHER_CTX *out, *in;
    unsigned char out_iv[IV_BYTES], in_iv[IV_BYTES];
    unsigned char sealed[BATCH * SEALED_BYTES];
    unsigned char arrived[ROOM_BYTES];
    size_t first, count; /* bytes of arrived[] that are not decrypted */
};

static EVP_CIPHER_CTX *context_new(bool encrypts)
{
    static const unsigned char key[16];
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    if (!c || EVP_CipherInit_ex(c, EVP_aes_128_gcm(), NULL, key, NULL, encrypts) != 1)
        errx(1, "no AES-128-GCM");
    return c;
}

static void *sealed_open(int fd, bool spin)
{
    struct sealed *s = calloc(1, sizeof *s);
    if (!s)
        errx(1, "memory");
    if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4) < 0)
        err(1, "Reno");
    s->fd = fd;
    s->flags = spin ? MSG_DONTWAIT : 0;
    s->out = context_new(true);
    s->in = context_new(false);
    return s;
}

static void sealed_close(void *state)
{
    struct sealed *s = state;
    EVP_CIPHER_CTX_free(s->out);
    EVP_CIPHER_CTX_free(s->in);
    free(s);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Each record has another initialisation vector: a counter. */
static void begin(EVP_CIPHER_CTX *c, unsigned char iv[IV_BYTES], const unsigned char header[HEADER_BYTES])
{
    int n;
    for (int i = IV_BYTES - 1; i >= 0 && ++iv[i] == 0; i--)
        ;
    if (EVP_CipherInit_ex(c, NULL, NULL, NULL, iv, -1) != 1 || EVP_CipherUpdate(c, NULL, &n, header, HEADER_BYTES) != 1)
        errx(1, "AES-128-GCM");
}

static size_t seal(struct sealed *s, unsigned char *to, const char *data, size_t bytes)
{
    unsigned char header[HEADER_BYTES] = {23, 3, 3, (unsigned char)(bytes >> 8), (unsigned char)bytes};
    unsigned char *body = to + HEADER_BYTES;
    int n;
    memcpy(to, header, HEADER_BYTES);
    begin(s->out, s->out_iv, header);
    if (EVP_EncryptUpdate(s->out, body, &n, (const unsigned char *)data, (int)bytes) != 1 ||
        EVP_EncryptFinal_ex(s->out, body + n, &n) != 1 ||
        EVP_CIPHER_CTX_ctrl(s->out, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, body + bytes) != 1)
        errx(1, "cannot encrypt");
    return HEADER_BYTES + bytes + TAG_BYTES;
}

static void unseal(struct sealed *s, char *data, size_t bytes)
{
    unsigned char *record = s->arrived + s->first, *body = record + HEADER_BYTES;
    int n;
    begin(s->in, s->in_iv, record);
    if (EVP_DecryptUpdate(s->in, (unsigned char *)data, &n, body, (int)bytes) != 1 ||
        EVP_CIPHER_CTX_ctrl(s->in, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, body + bytes) != 1 ||
        EVP_DecryptFinal_ex(s->in, (unsigned char *)data + n, &n) != 1)
        errx(1, "cannot decrypt");
    s->first += HEADER_BYTES + bytes + TAG_BYTES;
    s->count -= HEADER_BYTES + bytes + TAG_BYTES;
}

static bool write_all(struct sealed *s, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = send(s->fd, s->sealed + done, bytes - done, MSG_NOSIGNAL | s->flags);
        if (n < 0 && errno != EAGAIN)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool sealed_send(void *state, const char *data, size_t bytes)
{
    struct sealed *s = state;
    for (size_t done = 0; done < bytes;) {
        size_t length = 0;
        for (int i = 0; i < BATCH && done < bytes; i++) {
            size_t some = least(bytes - done, RECORD_BYTES);
            length += seal(s, s->sealed + length, data + done, some);
            done += some;
        }
        if (!write_all(s, length))
            return false;
    }
    return true;
}

/* Reads until `wanted` bytes are there, and what has come behind them. */
static bool read_some(struct sealed *s, size_t wanted)
{
    if (s->count < wanted && s->first) {
        memmove(s->arrived, s->arrived + s->first, s->count);
        s->first = 0;
    }
    while (s->count < wanted) {
        ssize_t n = recv(s->fd, s->arrived + s->count, ROOM_BYTES - s->count, s->flags);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            return false;
        s->count += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool sealed_receive(void *state, char *data, size_t bytes)
{
    struct sealed *s = state;
    for (size_t done = 0; done < bytes;) {
        size_t some = least(bytes - done, RECORD_BYTES);
        if (!read_some(s, HEADER_BYTES + some + TAG_BYTES))
            return false;
        unseal(s, data + done, some);
        done += some;
    }
    return true;
}

const struct raw_way raw_sealed = {
    .name = "sealed", .open = sealed_open, .close = sealed_close, .send = sealed_send, .receive = sealed_receive};
