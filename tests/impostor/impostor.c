/* impostor.c - see impostor.h. */
#include "impostor.h"
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S   5
#define NONCE_BYTES  32
#define RECORD_BYTES 16384

const char *const impostor_names[IMPOSTOR_KINDS] = {
    "self-signed", "other key", "right id, wrong key", "no key", "TLS 1.2", "replay",
};

/* ---- plain bytes ---- */

static bool read_all(int fd, uint8_t *to, size_t length)
{
    return recv(fd, to, length, MSG_WAITALL) == (ssize_t)length;
}

static bool write_all(int fd, const uint8_t *from, size_t length)
{
    return send(fd, from, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* A stalled side must not stall the test. */
static void limit(int fd)
{
    struct timeval patience = {.tv_sec = PATIENCE_S};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

/* ---- an honest connection, recorded for replay ---- */

struct record {
    uint8_t bytes[8 * RECORD_BYTES];
    size_t length;
};

/* Relays and records what one side has sent to the other. */
static void forward(int from, int to, struct record *r)
{
    ssize_t n;
    while ((n = recv(from, r->bytes + r->length, sizeof r->bytes - r->length, MSG_DONTWAIT)) > 0) {
        write_all(to, r->bytes + r->length, (size_t)n);
        r->length += (size_t)n;
    }
}

/* A handshake of two sides that have the key: the bytes of each side. */
static void record_honest(const struct pvmw_tls_key *key, struct record *caller, struct record *called)
{
    int a[2], b[2], done = 0;
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, a);
    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, b);
    struct pvmw_tls *calling = pvmw_tls_new(a[0], PVMW_TLS_CALLER, key);
    struct pvmw_tls *answering = pvmw_tls_new(b[0], PVMW_TLS_CALLED, key);
    for (int i = 0; i < 50 && done < 2; i++) {
        done = (pvmw_tls_handshake(calling) == 1) + (pvmw_tls_handshake(answering) == 1);
        forward(a[1], b[1], caller);
        forward(b[1], a[1], called);
    }
    pvmw_tls_put(calling, "payload", 7);
    pvmw_tls_flush(calling);
    pvmw_tls_put(answering, "payload", 7);
    pvmw_tls_flush(answering);
    forward(a[1], b[1], caller);
    forward(b[1], a[1], called);
    pvmw_tls_end(calling, false);
    pvmw_tls_end(answering, false);
    for (int i = 0; i < 2; i++)
        close(a[i]), close(b[i]);
}

/* Replays it and waits for the end. It cannot decrypt the other side's bytes, so it sees no payload. */
static void replay(int fd, const struct record *r)
{
    uint8_t answer[RECORD_BYTES];
    write_all(fd, r->bytes, r->length);
    while (recv(fd, answer, sizeof answer, 0) > 0)
        ;
}

/* ---- TLS that accepts any peer ---- */

static bool add_certificate(SSL_CTX *c)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 3600);
    X509_set_pubkey(x, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, (const uint8_t *)"impostor", -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    bool made =
        X509_sign(x, key, EVP_sha256()) && SSL_CTX_use_certificate(c, x) == 1 && SSL_CTX_use_PrivateKey(c, key) == 1;
    X509_free(x);
    EVP_PKEY_free(key);
    return made;
}

static SSL_SESSION *wrong_session(SSL *ssl)
{
    static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01}, wrong[32] = "not the key";
    SSL_SESSION *s = SSL_SESSION_new();
    SSL_SESSION_set1_master_key(s, wrong, sizeof wrong);
    SSL_SESSION_set_cipher(s, SSL_CIPHER_find(ssl, aes_128_gcm_sha256));
    SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION);
    return s;
}

static int use_wrong_key(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_bytes, SSL_SESSION **session)
{
    static uint8_t other[PVMW_TLS_ID_BYTES] = "another machine";
    const struct impostor *i = SSL_get_app_data(ssl);
    (void)md;
    *id = i->kind == OTHER_KEY ? other : i->key.id;
    *id_bytes = PVMW_TLS_ID_BYTES;
    *session = wrong_session(ssl);
    return 1;
}

static int find_wrong_key(SSL *ssl, const unsigned char *id, size_t id_bytes, SSL_SESSION **session)
{
    const struct impostor *i = SSL_get_app_data(ssl);
    (void)id, (void)id_bytes;
    *session = i->kind == RIGHT_ID_WRONG_KEY ? wrong_session(ssl) : NULL; /* NULL: try the certificate */
    return 1;
}

static SSL_CTX *context_of(const struct impostor *i)
{
    SSL_CTX *c = SSL_CTX_new(TLS_method());
    SSL_CTX_set_verify(c, SSL_VERIFY_NONE, NULL);
    if (i->kind != NO_KEY)
        add_certificate(c);
    if (i->kind == OLD_TLS)
        SSL_CTX_set_max_proto_version(c, TLS1_2_VERSION);
    if (i->kind == OTHER_KEY || i->kind == RIGHT_ID_WRONG_KEY) {
        SSL_CTX_set_psk_use_session_callback(c, use_wrong_key);
        SSL_CTX_set_psk_find_session_callback(c, find_wrong_key);
    }
    return c;
}

size_t impostor_talks_tls(const struct impostor *i, int fd, bool calls)
{
    SSL_CTX *c = context_of(i);
    SSL *ssl = SSL_new(c);
    uint8_t bytes[RECORD_BYTES];
    size_t payload = 0, n;
    SSL_set_fd(ssl, fd);
    SSL_set_app_data(ssl, (void *)i);
    if ((calls ? SSL_connect(ssl) : SSL_accept(ssl)) == 1) {
        SSL_write_ex(ssl, i->greeting, i->greeting_bytes, &n);
        while (SSL_read_ex(ssl, bytes, sizeof bytes, &n) == 1)
            payload += n;
    }
    SSL_free(ssl);
    SSL_CTX_free(c);
    return payload;
}

/* ---- the two sides ---- */

static void right_proof(const struct pvmw_tls_key *key, const uint8_t *nonce, uint8_t proof[NONCE_BYTES])
{
    uint8_t text[16 + NONCE_BYTES] = "dpvm tls proof";
    memcpy(text + 16, nonce, NONCE_BYTES);
    HMAC(EVP_sha256(), key->secret, sizeof key->secret, text, sizeof text, proof, NULL);
}

static bool answer_nonce(const struct impostor *i, int fd)
{
    uint8_t nonce[NONCE_BYTES], proof[NONCE_BYTES], earlier[NONCE_BYTES];
    if (!read_all(fd, nonce, sizeof nonce))
        return false;
    RAND_bytes(proof, sizeof proof);
    RAND_bytes(earlier, sizeof earlier);
    if (i->proof == REFLECTED)
        memcpy(proof, nonce, sizeof proof);
    else if (i->proof != NO_PROOF)
        right_proof(&i->key, i->proof == RELAYED_PROOF ? nonce : earlier, proof);
    return write_all(fd, proof, sizeof proof);
}

size_t impostor_is_called(const struct impostor *i, int fd)
{
    static struct record caller, called;
    limit(fd);
    if (!answer_nonce(i, fd))
        return 0;
    if (i->kind != REPLAY)
        return impostor_talks_tls(i, fd, false);
    record_honest(&i->key, &caller, &called);
    memmove(called.bytes, called.bytes + NONCE_BYTES, called.length -= NONCE_BYTES); /* the proof has been sent */
    replay(fd, &called);
    return 0;
}

size_t impostor_calls(const struct impostor *i, int fd)
{
    static struct record caller, called;
    uint8_t bytes[NONCE_BYTES];
    limit(fd);
    if (i->kind == REPLAY) {
        record_honest(&i->key, &caller, &called);
        replay(fd, &caller);
        return 0;
    }
    RAND_bytes(bytes, sizeof bytes);
    if (!write_all(fd, bytes, sizeof bytes) || !read_all(fd, bytes, sizeof bytes))
        return 0;
    return impostor_talks_tls(i, fd, true);
}

static void close_others(int fd, int other)
{
    int low = fd < other ? fd : other, high = fd < other ? other : fd;
    close_range(3, (unsigned)low - 1, 0);
    close_range((unsigned)low + 1, (unsigned)high - 1, 0);
    close_range((unsigned)high + 1, ~0u, 0);
}

struct impostor_process impostor_start(const struct impostor *i, int fd, bool calls)
{
    int ends[2];
    struct impostor_process p = {.pid = -1};
    if (pipe(ends))
        return p;
    p.result = ends[0];
    p.pid = fork();
    if (!p.pid) {
        signal(SIGPIPE, SIG_IGN);
        close_others(fd, ends[1]); /* or the connection would outlive the honest side */
        size_t payload = calls ? impostor_calls(i, fd) : impostor_is_called(i, fd);
        _exit(write(ends[1], &payload, sizeof payload) != sizeof payload);
    }
    close(ends[1]);
    close(fd);
    return p;
}

size_t impostor_payload(const struct impostor_process *p)
{
    size_t payload = SIZE_MAX;
    if (read(p->result, &payload, sizeof payload) != sizeof payload)
        payload = SIZE_MAX;
    close(p->result);
    waitpid(p->pid, NULL, 0);
    return payload;
}
