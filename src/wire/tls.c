/* tls.c - OpenSSL set up for keys that both sides know. */
#include "tls.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "sealed.h"

#define NONCE_BYTES 32
#define PROOF_BYTES 32
#define LABEL_BYTES 16
#define READ_BYTES  (72u << 10)  /* per read from the kernel: four records */
#define REKEY_BYTES (1ull << 36) /* well below what AES-GCM may encrypt with one key ... */
#ifndef PVMW_REKEY_RECORDS
#define PVMW_REKEY_RECORDS (1u << 22) /* ... even if it is all in small records; tests want it more often */
#endif

enum stage { NEW, AWAIT_NONCE, AWAIT_PROOF, IN_TLS, UP };

struct pvmw_tls {
    int fd;
    enum pvmw_tls_role role;
    enum stage stage;
    SSL *ssl;
    struct pvmw_tls_key key; /* wiped when the handshake is done */
    uint8_t nonce[NONCE_BYTES];
    uint8_t received[PROOF_BYTES]; /* nonce or proof of the peer, so far */
    size_t received_bytes;
    struct pvmw_backlog backlog;
    uint64_t rekey_bytes; /* sent since the last rekeying */
    uint32_t rekey_records;
    bool failed;
    char why[160];
};

_Static_assert(NONCE_BYTES == PROOF_BYTES, "received[] holds either");

static SSL_CTX *context;

/* Plain bytes of the next record. Shared: a flush of one connection empties it before a put to another. */
static uint8_t plain[PVMW_TLS_RECORD_BYTES];
static size_t plain_bytes;
static const struct pvmw_tls *writer; /* the connection that owns these bytes */

/* ---- errors ---- */

/* The oldest error in OpenSSL's queue; clears the queue. */
static const char *openssl_error(void)
{
    unsigned long code = ERR_get_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    return text ? text : "unknown TLS error";
}

/* Records the first failure only. */
static int fail(struct pvmw_tls *s, const char *what, const char *detail)
{
    if (!s->failed)
        snprintf(s->why, sizeof s->why, "%s%s%s", what, detail ? ": " : "", detail ? detail : "");
    s->failed = true;
    return -1;
}

const char *pvmw_tls_error(const struct pvmw_tls *s)
{
    return s->failed ? s->why : NULL;
}

/* ---- the key as TLS's pre-shared key ---- */

static SSL_SESSION *session_of_key(SSL *ssl, const struct pvmw_tls *s)
{
    static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
    SSL_SESSION *session = SSL_SESSION_new();
    if (session && cipher && SSL_SESSION_set1_master_key(session, s->key.secret, sizeof s->key.secret) &&
        SSL_SESSION_set_cipher(session, cipher) && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION))
        return session;
    SSL_SESSION_free(session);
    return NULL;
}

static int use_key(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_bytes, SSL_SESSION **session)
{
    (void)md;
    const struct pvmw_tls *s = SSL_get_app_data(ssl);
    *id = s->key.id;
    *id_bytes = sizeof s->key.id;
    *session = session_of_key(ssl, s);
    return *session != NULL;
}

static int find_key(SSL *ssl, const unsigned char *id, size_t id_bytes, SSL_SESSION **session)
{
    const struct pvmw_tls *s = SSL_get_app_data(ssl);
    *session = NULL;
    if (id_bytes != sizeof s->key.id || memcmp(id, s->key.id, id_bytes))
        return 1; /* unknown key: the handshake fails, because there is no certificate either */
    *session = session_of_key(ssl, s);
    return *session != NULL;
}

/* ---- what all connections share ---- */

static bool configure(SSL_CTX *c)
{
    SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(c, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_read_ahead(c, 1);
    SSL_CTX_set_default_read_buffer_len(c, READ_BYTES);
    SSL_CTX_set_psk_use_session_callback(c, use_key);
    SSL_CTX_set_psk_find_session_callback(c, find_key);
    return SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) && SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256") &&
           SSL_CTX_set1_groups_list(c, "X25519:P-256") && SSL_CTX_set_num_tickets(c, 0);
}

const char *pvmw_tls_start(void)
{
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL);
    context = SSL_CTX_new(TLS_method());
    if (context && configure(context) && pvmw_sealed_start())
        return NULL;
    pvmw_tls_stop();
    return openssl_error();
}

void pvmw_tls_stop(void)
{
    SSL_CTX_free(context);
    context = NULL;
    pvmw_sealed_stop();
}

/* ---- beginning and end ---- */

static bool attach(struct pvmw_tls *s)
{
    BIO *in = BIO_new_socket(s->fd, BIO_NOCLOSE), *out = pvmw_sealed_bio();
    s->ssl = in && out ? SSL_new(context) : NULL;
    if (!s->ssl) {
        BIO_free(in);
        BIO_free(out);
        return false;
    }
    SSL_set0_rbio(s->ssl, in);
    SSL_set0_wbio(s->ssl, out);
    SSL_set_app_data(s->ssl, s);
    if (s->role == PVMW_TLS_CALLED) {
        SSL_set_accept_state(s->ssl);
        return true;
    }
    SSL_set_connect_state(s->ssl);
    /* Without this, a client accepts any certificate from a server that ignores the offered key. */
    SSL_set_verify(s->ssl, SSL_VERIFY_PEER, NULL);
    return true;
}

struct pvmw_tls *pvmw_tls_new(int fd, enum pvmw_tls_role role, const struct pvmw_tls_key *key)
{
    struct pvmw_tls *s = calloc(1, sizeof *s);
    if (s)
        *s = (struct pvmw_tls){.fd = fd, .role = role, .key = *key};
    if (s && attach(s))
        return s;
    pvmw_tls_end(s, false);
    ERR_clear_error();
    return NULL;
}

static void forget_key(struct pvmw_tls *s)
{
    OPENSSL_cleanse(&s->key, sizeof s->key);
}

static void drop_unflushed(const struct pvmw_tls *s)
{
    if (writer != s)
        return;
    plain_bytes = 0;
    pvmw_sealed_drop();
    writer = NULL;
}

void pvmw_tls_end(struct pvmw_tls *s, bool politely)
{
    if (!s)
        return;
    if (politely && s->stage == UP && pvmw_tls_flush(s)) {
        SSL_shutdown(s->ssl);
        pvmw_sealed_send(s->fd, &s->backlog, true);
    }
    drop_unflushed(s);
    SSL_free(s->ssl);
    ERR_clear_error();
    pvmw_backlog_free(&s->backlog);
    forget_key(s);
    free(s);
}

/* ---- sending ---- */

/* Sends to the socket what TLS has written; `last` as in sealed.h. */
static bool emit(struct pvmw_tls *s, bool last)
{
    int error = pvmw_sealed_send(s->fd, &s->backlog, last);
    if (error)
        fail(s, strerrordesc_np(error), NULL);
    return !s->failed && !s->backlog.bytes;
}

static void new_key_when_due(struct pvmw_tls *s, size_t length)
{
    s->rekey_bytes += length;
    if (++s->rekey_records < PVMW_REKEY_RECORDS && s->rekey_bytes < REKEY_BYTES)
        return;
    s->rekey_bytes = s->rekey_records = 0;
    SSL_key_update(s->ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
}

/* Encrypts one record, for which the shared buffer has room. */
static void seal(struct pvmw_tls *s, const void *data, size_t length)
{
    size_t done;
    if (s->failed)
        return;
    ERR_clear_error();
    new_key_when_due(s, length);
    if (SSL_write_ex(s->ssl, data, length, &done) != 1 || done != length)
        fail(s, "cannot encrypt", openssl_error());
}

/* Encrypts the plain bytes as one record, for which the shared buffer always has room. */
static void seal_plain(struct pvmw_tls *s)
{
    if (plain_bytes)
        seal(s, plain, plain_bytes);
    plain_bytes = 0;
}

/* At most one record's worth; 0 if the socket is full. */
static size_t put_some(struct pvmw_tls *s, const uint8_t *data, size_t length)
{
    if (pvmw_sealed_is_full() && !emit(s, false))
        return 0;
    writer = s;
    if (length >= PVMW_TLS_RECORD_BYTES) { /* a full record is encrypted without copying */
        seal_plain(s);
        seal(s, data, PVMW_TLS_RECORD_BYTES);
        return PVMW_TLS_RECORD_BYTES;
    }
    if (length > PVMW_TLS_RECORD_BYTES - plain_bytes)
        seal_plain(s);
    memcpy(plain + plain_bytes, data, length);
    plain_bytes += length;
    return length;
}

size_t pvmw_tls_put(struct pvmw_tls *s, const void *data, size_t length)
{
    size_t done = 0, taken = 1;
    while (done < length && taken && !s->failed && !s->backlog.bytes) {
        taken = put_some(s, (const uint8_t *)data + done, length - done);
        done += taken;
    }
    return done;
}

bool pvmw_tls_flush(struct pvmw_tls *s)
{
    int error = pvmw_backlog_send(s->fd, &s->backlog);
    if (error)
        fail(s, strerrordesc_np(error), NULL);
    seal_plain(s);
    return emit(s, true);
}

bool pvmw_tls_is_blocked(const struct pvmw_tls *s)
{
    return s->backlog.bytes;
}

/* ---- receiving ---- */

ssize_t pvmw_tls_read(struct pvmw_tls *s, void *to, size_t size)
{
    size_t n;
    if (s->failed)
        return -2;
    ERR_clear_error();
    int rc = SSL_read_ex(s->ssl, to, size, &n), error = rc == 1 ? SSL_ERROR_NONE : SSL_get_error(s->ssl, rc);
    emit(s, true); /* send what TLS itself may have answered, before another connection uses the buffer */
    if (rc == 1)
        return (ssize_t)n;
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return s->failed ? -2 : 0;
    if (error == SSL_ERROR_ZERO_RETURN)
        return -1;
    fail(s, error == SSL_ERROR_SSL ? openssl_error() : "connection closed", NULL);
    return -2;
}

bool pvmw_tls_has_pending(const struct pvmw_tls *s)
{
    return SSL_has_pending(s->ssl);
}

/* ---- the handshake ---- */

/* The called side's proof, before TLS, that it has the key. */
static bool prove(const struct pvmw_tls *s, uint8_t proof[PROOF_BYTES])
{
    uint8_t text[LABEL_BYTES + NONCE_BYTES] = "dpvm tls proof";
    memcpy(text + LABEL_BYTES, s->nonce, NONCE_BYTES);
    return HMAC(EVP_sha256(), s->key.secret, sizeof s->key.secret, text, sizeof text, proof, NULL);
}

/* Writes a few bytes to a new connection, whose empty socket buffer has room for them. */
static int say(struct pvmw_tls *s, const uint8_t *bytes, size_t length, enum stage next)
{
    if (send(s->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length)
        return fail(s, "connection lost", NULL);
    s->stage = next;
    return 0;
}

static int send_nonce(struct pvmw_tls *s)
{
    if (RAND_bytes(s->nonce, sizeof s->nonce) != 1)
        return fail(s, "no random bytes", openssl_error());
    return say(s, s->nonce, sizeof s->nonce, AWAIT_PROOF);
}

/* 1 when the nonce or proof is complete. */
static int hear(struct pvmw_tls *s)
{
    ssize_t n = recv(s->fd, s->received + s->received_bytes, sizeof s->received - s->received_bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        return fail(s, "connection closed before TLS", NULL);
    s->received_bytes += (size_t)n;
    return s->received_bytes == sizeof s->received;
}

static int answer_nonce(struct pvmw_tls *s)
{
    uint8_t proof[PROOF_BYTES];
    int rc = hear(s);
    if (rc <= 0)
        return rc;
    memcpy(s->nonce, s->received, sizeof s->nonce);
    return prove(s, proof) ? say(s, proof, sizeof proof, IN_TLS) : fail(s, "no HMAC-SHA256", openssl_error());
}

static int check_proof(struct pvmw_tls *s)
{
    uint8_t proof[PROOF_BYTES];
    int rc = hear(s);
    if (rc <= 0)
        return rc;
    if (!prove(s, proof))
        return fail(s, "no HMAC-SHA256", openssl_error());
    if (CRYPTO_memcmp(proof, s->received, sizeof proof))
        return fail(s, "the called side does not have the key", NULL);
    s->stage = IN_TLS;
    return 0;
}

/* A certificate, or TLS without our key, would mean another peer. */
static int check_key_was_used(struct pvmw_tls *s)
{
    if (!SSL_session_reused(s->ssl) || SSL_version(s->ssl) != TLS1_3_VERSION)
        return fail(s, "TLS did not use the key", NULL);
    s->stage = UP;
    forget_key(s);
    return 1;
}

static int go_on_with_tls(struct pvmw_tls *s)
{
    ERR_clear_error();
    int rc = SSL_do_handshake(s->ssl), error = rc == 1 ? SSL_ERROR_NONE : SSL_get_error(s->ssl, rc);
    emit(s, true);
    if (s->failed)
        return -1;
    if (error == SSL_ERROR_NONE)
        return check_key_was_used(s);
    if (error == SSL_ERROR_WANT_READ)
        return 0;
    const char *what = s->role == PVMW_TLS_CALLER ? "the called side does not prove the key in TLS"
                                                  : "the calling side does not prove the key in TLS";
    return fail(s, what, error == SSL_ERROR_SSL ? openssl_error() : "connection closed");
}

int pvmw_tls_handshake(struct pvmw_tls *s)
{
    int rc = s->failed ? -1 : 0;
    if (!rc && s->stage == NEW)
        rc = s->role == PVMW_TLS_CALLER ? send_nonce(s) : (s->stage = AWAIT_NONCE, 0);
    if (!rc && s->stage == AWAIT_NONCE)
        rc = answer_nonce(s);
    if (!rc && s->stage == AWAIT_PROOF)
        rc = check_proof(s);
    if (!rc && s->stage == IN_TLS)
        rc = go_on_with_tls(s);
    return s->stage == UP ? 1 : rc;
}
