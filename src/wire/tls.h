/*
 * tls.h - TLS 1.3 over a connected socket between two processes that know the same key: no certificates, no tickets,
 * one cipher suite. Links between daemons, the courier's channel and direct links of tasks all use it.
 *
 * The calling side does not trust the called side at first. Before TLS, it sends 32 random bytes and expects
 * HMAC-SHA256(key, label and these bytes) back. In TLS, the key is the pre-shared key of the handshake, certificates
 * are refused, and both sides accept the handshake only if that key was used. Layout: doc/protocol.md.
 *
 * All connections of a process share buffers. Calls must not overlap in time, and bytes put into one connection must be
 * flushed before any call for another. Nothing here waits: the socket is non-blocking, or is read when it is readable.
 */
#ifndef PVMW_TLS_H
#define PVMW_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PVMW_TLS_KEY_BYTES    32
#define PVMW_TLS_ID_BYTES     16
#define PVMW_TLS_RECORD_BYTES 16384 /* plain bytes in one record */

/* What both sides know. The id names the key, and can be seen on the network. */
struct pvmw_tls_key {
    uint8_t id[PVMW_TLS_ID_BYTES];
    uint8_t secret[PVMW_TLS_KEY_BYTES];
};

enum pvmw_tls_role { PVMW_TLS_CALLER, PVMW_TLS_CALLED };

struct pvmw_tls; /* one side of a connection */

/* Once before the first connection: NULL, or what is wrong. pvmw_tls_stop() frees what it made. */
const char *pvmw_tls_start(void);
void pvmw_tls_stop(void);

/* One side of a connection over `fd`, which stays the caller's. The key is copied. NULL: no memory. */
struct pvmw_tls *pvmw_tls_new(int fd, enum pvmw_tls_role role, const struct pvmw_tls_key *key);

/*
 * Continues the handshake. Call it first on a new connection, and then whenever the socket is readable: 1 it is done
 * and both sides have proven the key, 0 more must come from the peer, -1 it has failed: see pvmw_tls_error().
 */
int pvmw_tls_handshake(struct pvmw_tls *s);

/*
 * Reads up to `size` bytes: their number, 0 if there are none now, -1 if the peer has ended the connection, -2 if it
 * broke.
 */
ssize_t pvmw_tls_read(struct pvmw_tls *s, void *to, size_t size);

/* Whether bytes are buffered here that no poll of the socket shows. */
bool pvmw_tls_has_pending(const struct pvmw_tls *s);

/*
 * Accepts bytes to be sent and returns their number, which is below `length` if the socket is full or the connection
 * broken. Bytes may wait for pvmw_tls_flush(), so that small pieces share a record and records share a system call.
 */
size_t pvmw_tls_put(struct pvmw_tls *s, const void *data, size_t length);

/* Sends all buffered bytes: true when everything is written. */
bool pvmw_tls_flush(struct pvmw_tls *s);

/*
 * Whether encrypted bytes wait for room in the socket: pvmw_tls_put() accepts nothing until pvmw_tls_flush() is true.
 */
bool pvmw_tls_is_blocked(const struct pvmw_tls *s);

/* Why the connection failed; NULL if it has not. The text lives as long as the connection. */
const char *pvmw_tls_error(const struct pvmw_tls *s);

/* Frees the connection; `politely` tells the peer first that this is the end. NULL is allowed. */
void pvmw_tls_end(struct pvmw_tls *s, bool politely);

/*
 * The functions above as a table, for programs that use this TLS without linking to OpenSSL. The loader compares the
 * version and calls start() once.
 */
#define PVMW_TLS_VERSION 3

struct pvmw_tls_ops {
    unsigned version;
    const char *(*start)(void);
    struct pvmw_tls *(*open)(int fd, enum pvmw_tls_role role, const struct pvmw_tls_key *key);
    int (*handshake)(struct pvmw_tls *s);
    ssize_t (*read)(struct pvmw_tls *s, void *to, size_t size);
    size_t (*put)(struct pvmw_tls *s, const void *data, size_t length);
    bool (*flush)(struct pvmw_tls *s);
    bool (*is_blocked)(const struct pvmw_tls *s);
    const char *(*error)(const struct pvmw_tls *s);
    void (*end)(struct pvmw_tls *s, bool politely);
};

extern const struct pvmw_tls_ops pvmw_tls_table;

#endif
