/* tls.c - OpenSSL set up for links between daemons. */
#include "tls.h"
#include <malloc.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <string.h>
#include "../core/error.h"
#include "../core/log.h"

#define READ_BYTES (72u << 10) /* asked of the kernel at once: four records */

struct pvmd_sealed pvmd_sealed;

static SSL_CTX *context;
static BIO_METHOD *sealed_method;

const char *pvmd_tls_error(void)
{
    unsigned long code = ERR_get_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    return text ? text : "unknown TLS error";
}

/* ---- the key of both sides ---- */

static SSL_SESSION *session_of_key(SSL *ssl)
{
    static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
    SSL_SESSION *s = SSL_SESSION_new();
    if (s && cipher && SSL_SESSION_set1_master_key(s, SSL_get_app_data(ssl), PVMD_KEY_BYTES) &&
        SSL_SESSION_set_cipher(s, cipher) && SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION))
        return s;
    SSL_SESSION_free(s);
    return NULL;
}

static int use_key(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_length, SSL_SESSION **session)
{
    (void)md;
    *id = pvmd_machine.id;
    *id_length = sizeof pvmd_machine.id;
    *session = session_of_key(ssl);
    return *session != NULL;
}

static int find_key(SSL *ssl, const unsigned char *id, size_t id_length, SSL_SESSION **session)
{
    *session = NULL;
    if (id_length != sizeof pvmd_machine.id || memcmp(id, pvmd_machine.id, id_length))
        return 1; /* no such key: the handshake fails, since there is no certificate either */
    *session = session_of_key(ssl);
    return *session != NULL;
}

/* ---- where encrypted bytes go ---- */

static int sealed_write(BIO *bio, const char *data, int length)
{
    (void)bio;
    if (length < 0 || (size_t)length > PVMD_SEALED_MAX - pvmd_sealed.length)
        return -1;
    memcpy(pvmd_sealed.data + pvmd_sealed.length, data, (size_t)length);
    pvmd_sealed.length += (size_t)length;
    return length;
}

static long sealed_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO *sealed_bio(void)
{
    BIO *bio = BIO_new(sealed_method);
    if (bio)
        BIO_set_init(bio, 1);
    return bio;
}

/* ---- start and end ---- */

static int configure(void)
{
    SSL_CTX_set_mode(context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, READ_BYTES);
    SSL_CTX_set_psk_use_session_callback(context, use_key);
    SSL_CTX_set_psk_find_session_callback(context, find_key);
    return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) &&
                   SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") &&
                   SSL_CTX_set1_groups_list(context, "X25519:P-256") && SSL_CTX_set_num_tickets(context, 0)
               ? 0
               : PVMI_ESYSTEM;
}

static int make_method(void)
{
    sealed_method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "pvmd sealed");
    return sealed_method && BIO_meth_set_write(sealed_method, sealed_write) &&
                   BIO_meth_set_ctrl(sealed_method, sealed_control)
               ? 0
               : PVMI_ESYSTEM;
}

int pvmd_tls_start(void)
{
    /* Read buffers come and go with each burst: without this the heap's end would move each time. */
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    context = SSL_CTX_new(TLS_method());
    if (context && !configure() && !make_method())
        return 0;
    pvmi_log(PVMI_LOG_ERROR, "cannot set up TLS: %s", pvmd_tls_error());
    pvmd_tls_stop();
    return PVMI_ESYSTEM;
}

void pvmd_tls_stop(void)
{
    SSL_CTX_free(context);
    BIO_meth_free(sealed_method);
    context = NULL;
    sealed_method = NULL;
}

SSL *pvmd_tls_new(int fd, bool client, const uint8_t key[PVMD_KEY_BYTES])
{
    SSL *ssl = SSL_new(context);
    BIO *in = BIO_new_socket(fd, BIO_NOCLOSE), *out = sealed_bio();
    if (!ssl || !in || !out) {
        pvmi_log(PVMI_LOG_ERROR, "no memory for a TLS connection");
        SSL_free(ssl);
        BIO_free(in);
        BIO_free(out);
        return NULL;
    }
    SSL_set0_rbio(ssl, in);
    SSL_set0_wbio(ssl, out);
    SSL_set_app_data(ssl, (void *)key);
    if (client)
        SSL_set_connect_state(ssl);
    else
        SSL_set_accept_state(ssl);
    return ssl;
}
