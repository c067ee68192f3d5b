/*
 * module.c - libdpvm_tls.so: TLS 1.3 for direct links, by OpenSSL. The key of both sides is the ticket of the offer:
 * there are no certificates. The kernel encrypts where it can (SSL_OP_ENABLE_KTLS).
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../tls.h"

#define RECORD_BYTES 16384      /* plain bytes in one record */
#define READ_BYTES   (72 << 10) /* asked of the kernel at once: four records */
#define ID_BYTES_MAX 32
#define SECRET_BYTES 32 /* of the hash of the one cipher suite */

/* Of a BIO, private to OpenSSL: what is written is no data but an alert or the like. */
#define KTLS_CONTROL_FLAG 0x1000

struct pvmi_tcp_tls {
    SSL *ssl;
    uint8_t id[ID_BYTES_MAX];
    size_t id_bytes;
    uint8_t secret[SECRET_BYTES];
    size_t held; /* bytes of `record` that OpenSSL has not got rid of; SSL_write is to be called again with them */
    uint8_t record[RECORD_BYTES];
};

static SSL_CTX *context;
static BIO_METHOD *quiet_socket;

static const char *last_error(void)
{
    unsigned long code = ERR_get_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    return text ? text : "the connection ended";
}

/* ---- the key of both sides ---- */

static SSL_SESSION *session_of_key(SSL *ssl, const struct pvmi_tcp_tls *s)
{
    static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
    SSL_SESSION *session = SSL_SESSION_new();
    if (session && cipher && SSL_SESSION_set1_master_key(session, s->secret, sizeof s->secret) &&
        SSL_SESSION_set_cipher(session, cipher) && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION))
        return session;
    SSL_SESSION_free(session);
    return NULL;
}

static int use_key(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_bytes, SSL_SESSION **session)
{
    (void)md;
    const struct pvmi_tcp_tls *s = SSL_get_app_data(ssl);
    *id = s->id;
    *id_bytes = s->id_bytes;
    *session = session_of_key(ssl, s);
    return *session != NULL;
}

static int find_key(SSL *ssl, const unsigned char *id, size_t id_bytes, SSL_SESSION **session)
{
    const struct pvmi_tcp_tls *s = SSL_get_app_data(ssl);
    *session = NULL;
    if (id_bytes != s->id_bytes || memcmp(id, s->id, id_bytes))
        return 1; /* no such key: the handshake fails, since there is no certificate either */
    *session = session_of_key(ssl, s);
    return *session != NULL;
}

/* ---- the socket ---- */

/* As OpenSSL's own, but without a signal for a peer that has gone. */
static int quiet_write(BIO *bio, const char *data, int length)
{
    if (BIO_test_flags(bio, KTLS_CONTROL_FLAG))
        return BIO_meth_get_write(BIO_s_socket())(bio, data, length);
    int fd = -1;
    BIO_get_fd(bio, &fd);
    ssize_t n = send(fd, data, (size_t)length, MSG_NOSIGNAL);
    BIO_clear_retry_flags(bio);
    if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS))
        BIO_set_retry_write(bio);
    return (int)n;
}

static BIO_METHOD *make_quiet_socket(void)
{
    BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOCKET, "dpvm socket");
    const BIO_METHOD *base = BIO_s_socket();
    if (m && BIO_meth_set_write(m, quiet_write) && BIO_meth_set_read(m, BIO_meth_get_read(base)) &&
        BIO_meth_set_puts(m, BIO_meth_get_puts(base)) && BIO_meth_set_ctrl(m, BIO_meth_get_ctrl(base)) &&
        BIO_meth_set_create(m, BIO_meth_get_create(base)) && BIO_meth_set_destroy(m, BIO_meth_get_destroy(base)))
        return m;
    BIO_meth_free(m);
    return NULL;
}

static bool kernel_has_tls(void)
{
    char names[256] = "";
    int fd = open("/proc/sys/net/ipv4/tcp_available_ulp", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, names, sizeof names - 1) < 0)
        names[0] = '\0';
    if (fd >= 0)
        close(fd);
    return strstr(names, "tls");
}

/* ---- what all connections share ---- */

static SSL_CTX *make_context(void)
{
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL);
    SSL_CTX *c = SSL_CTX_new(TLS_method());
    if (!c)
        return NULL;
    if (kernel_has_tls()) {
        SSL_CTX_set_options(c, SSL_OP_ENABLE_KTLS);
    } else { /* the kernel must find its records unread; without it fewer, larger reads are better */
        SSL_CTX_set_read_ahead(c, 1);
        SSL_CTX_set_default_read_buffer_len(c, READ_BYTES);
    }
    SSL_CTX_set_mode(c, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(c, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_psk_use_session_callback(c, use_key);
    SSL_CTX_set_psk_find_session_callback(c, find_key);
    if (SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) && SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256") &&
        SSL_CTX_set1_groups_list(c, "X25519:P-256") && SSL_CTX_set_num_tickets(c, 0))
        return c;
    SSL_CTX_free(c);
    return NULL;
}

static bool prepare(void)
{
    if (!quiet_socket)
        quiet_socket = make_quiet_socket();
    if (!context)
        context = make_context();
    return quiet_socket && context;
}

__attribute__((destructor)) static void free_shared(void)
{
    SSL_CTX_free(context);
    BIO_meth_free(quiet_socket);
}

/* ---- a connection ---- */

static void end(struct pvmi_tcp_tls *s, bool politely)
{
    if (!s)
        return;
    if (politely && !s->held && SSL_is_init_finished(s->ssl))
        SSL_shutdown(s->ssl);
    SSL_free(s->ssl);
    ERR_clear_error();
    OPENSSL_cleanse(s->secret, sizeof s->secret);
    free(s);
}

static bool attach(struct pvmi_tcp_tls *s, int fd)
{
    s->ssl = SSL_new(context);
    BIO *bio = s->ssl ? BIO_new(quiet_socket) : NULL;
    if (!bio)
        return false;
    BIO_set_fd(bio, fd, BIO_NOCLOSE);
    SSL_set_bio(s->ssl, bio, bio);
    return true;
}

static struct pvmi_tcp_tls *start(int fd, bool server, const struct pvmi_tcp_tls_key *key)
{
    if (!prepare() || key->id_bytes > ID_BYTES_MAX || key->secret_bytes != SECRET_BYTES)
        return NULL;
    struct pvmi_tcp_tls *s = calloc(1, sizeof *s);
    if (!s || !attach(s, fd)) {
        SSL_free(s ? s->ssl : NULL);
        free(s);
        return NULL;
    }
    s->id_bytes = key->id_bytes;
    memcpy(s->id, key->id, key->id_bytes);
    memcpy(s->secret, key->secret, SECRET_BYTES);
    SSL_set_app_data(s->ssl, s);
    if (server)
        SSL_set_accept_state(s->ssl);
    else
        SSL_set_connect_state(s->ssl);
    return s;
}

static int handshake(struct pvmi_tcp_tls *s)
{
    ERR_clear_error();
    int rc = SSL_do_handshake(s->ssl);
    if (rc == 1) {
        OPENSSL_cleanse(s->secret, sizeof s->secret);
        return 1;
    }
    return SSL_get_error(s->ssl, rc) == SSL_ERROR_WANT_READ ? 0 : -1;
}

static ssize_t read_some(struct pvmi_tcp_tls *s, void *to, size_t size)
{
    size_t n;
    ERR_clear_error();
    int rc = SSL_read_ex(s->ssl, to, size, &n);
    if (rc == 1)
        return (ssize_t)n;
    switch (SSL_get_error(s->ssl, rc)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return 0;
    case SSL_ERROR_ZERO_RETURN:
        return -1;
    default:
        return -2;
    }
}

/* Writes `record`: 1 it is out, 0 the socket is full, -1 broken. */
static int write_record(struct pvmi_tcp_tls *s)
{
    size_t n;
    ERR_clear_error();
    int rc = SSL_write_ex(s->ssl, s->record, s->held, &n);
    if (rc == 1) {
        s->held = 0;
        return 1;
    }
    int why = SSL_get_error(s->ssl, rc);
    return why == SSL_ERROR_WANT_WRITE || why == SSL_ERROR_WANT_READ ? 0 : -1;
}

static bool holds(struct pvmi_tcp_tls *s)
{
    return s->held && write_record(s) != 1;
}

static ssize_t write_some(struct pvmi_tcp_tls *s, const struct iovec *from, unsigned count)
{
    if (s->held) {
        int rc = write_record(s);
        if (rc != 1)
            return rc;
    }
    ssize_t taken = 0;
    size_t at = 0; /* in from[i] */
    for (unsigned i = 0; i < count;) {
        while (i < count && s->held < RECORD_BYTES) {
            size_t left = from[i].iov_len - at, room = RECORD_BYTES - s->held, n = left < room ? left : room;
            memcpy(s->record + s->held, (const uint8_t *)from[i].iov_base + at, n);
            s->held += n;
            at += n;
            if (at == from[i].iov_len) {
                i++;
                at = 0;
            }
        }
        taken += (ssize_t)s->held;
        int rc = s->held ? write_record(s) : 1;
        if (rc != 1)
            return rc ? -1 : taken;
    }
    return taken;
}

static bool in_kernel(const struct pvmi_tcp_tls *s)
{
    return BIO_get_ktls_send(SSL_get_wbio(s->ssl));
}

__attribute__((visibility("default"))) const struct pvmi_tcp_tls_ops dpvm_tls_module = {
    .version = PVMI_TCP_TLS_VERSION,
    .start = start,
    .handshake = handshake,
    .read = read_some,
    .write = write_some,
    .holds = holds,
    .in_kernel = in_kernel,
    .end = end,
    .error = last_error,
};
