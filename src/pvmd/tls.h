/*
 * tls.h - TLS 1.3 for links: a key known to both sides instead of certificates, one cipher, no tickets.
 */
#ifndef PVMD_TLS_H
#define PVMD_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include "machine.h"

/* Once per daemon: 0 or PVMI_ESYSTEM, logged. Ends with pvmd_tls_stop(). */
int pvmd_tls_start(void);
void pvmd_tls_stop(void);

/*
 * One side of a connection that reads from descriptor fd; what it writes goes to `sealed`, see below. `key` stays the
 * caller's and must outlive the handshake. NULL when out of memory, logged. Free it with SSL_free(); fd stays open.
 */
SSL *pvmd_tls_new(int fd, bool client, const uint8_t key[PVMD_KEY_BYTES]);

/*
 * Where all connections put the bytes they encrypt, so that many records leave with one system call. Whoever makes a
 * connection write (SSL_write, handshake) empties it before another one writes.
 */
#define PVMD_SEALED_MAX   (160u << 10)
#define PVMD_RECORD_BYTES 16384u                     /* plain bytes in one record */
#define PVMD_RECORD_ROOM  (PVMD_RECORD_BYTES + 512u) /* sealed bytes that one more record may take */

struct pvmd_sealed {
    size_t length;
    uint8_t data[PVMD_SEALED_MAX];
};

extern struct pvmd_sealed pvmd_sealed;

/* The oldest error that OpenSSL has noted, as text; forgets them all. */
const char *pvmd_tls_error(void);

#endif
