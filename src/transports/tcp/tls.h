/*
 * tls.h - encryption of links, which lives in a module of its own: libdpvm_tls.so is loaded when PVM_TCP_TLS is on, so
 * that libpvm3 does not need OpenSSL. The module is tls/module.c; this is all that the two know of each other.
 */
#ifndef PVMI_TCP_TLS_H
#define PVMI_TCP_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define PVMI_TCP_TLS_VERSION 1
#define PVMI_TCP_TLS_FILE    "libdpvm_tls.so"
#define PVMI_TCP_TLS_SYMBOL  "dpvm_tls_module"

struct pvmi_tcp_tls; /* one side of an encrypted connection; the module's */

struct pvmi_tcp_tls_key {
    const uint8_t *id, *secret; /* of the ticket; copied */
    size_t id_bytes, secret_bytes;
};

struct pvmi_tcp_tls_ops {
    unsigned version;

    /* A connection over fd, which stays the caller's. NULL: no memory. */
    struct pvmi_tcp_tls *(*start)(int fd, bool server, const struct pvmi_tcp_tls_key *key);

    /* Goes on with the handshake: 1 done, 0 more must come from the peer, -1 failed. */
    int (*handshake)(struct pvmi_tcp_tls *s);

    /* Bytes, 0 when there is nothing now, -1 when the peer ended the connection, -2 when it broke. */
    ssize_t (*read)(struct pvmi_tcp_tls *s, void *to, size_t size);

    /* Bytes taken, fewer than there are (0) when the socket is full, -1 when the connection is broken. */
    ssize_t (*write)(struct pvmi_tcp_tls *s, const struct iovec *from, unsigned count);

    /* What write() took and the socket did not: true as long as there is some. Tries again to get rid of it. */
    bool (*holds)(struct pvmi_tcp_tls *s);

    /* Whether the kernel encrypts, for the log. */
    bool (*in_kernel)(const struct pvmi_tcp_tls *s);

    /* Tells the peer that this is the end (`politely`; not in a forked child), and frees s. NULL is allowed. */
    void (*end)(struct pvmi_tcp_tls *s, bool politely);

    /* Why the last call failed; static storage. */
    const char *(*error)(void);
};

/* The module, loaded once for each process; NULL when it cannot be, with the reason in why[size]. */
const struct pvmi_tcp_tls_ops *pvmi_tcp_tls_load(char *why, size_t size);

#endif
