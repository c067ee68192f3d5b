/*
 * tls.h - encryption of links (src/wire/tls.h), from a module of its own: libdpvm_tls.so is loaded when a link is to be
 * encrypted, so that libpvm3 does not need OpenSSL. The module is tls/module.c; this table is all that the two know of
 * each other.
 */
#ifndef PVMI_TCP_TLS_H
#define PVMI_TCP_TLS_H

#include "../../wire/tls.h"

#define PVMI_TCP_TLS_VERSION 2
#define PVMI_TCP_TLS_FILE    "libdpvm_tls.so"
#define PVMI_TCP_TLS_SYMBOL  "dpvm_tls_module"

struct pvmi_tcp_tls_ops {
    unsigned version;
    const char *(*start)(void); /* once, by the loader */
    struct pvmw_tls *(*open)(int fd, enum pvmw_tls_role role, const struct pvmw_tls_key *key);
    int (*handshake)(struct pvmw_tls *s);
    ssize_t (*read)(struct pvmw_tls *s, void *to, size_t size);
    size_t (*put)(struct pvmw_tls *s, const void *data, size_t length);
    bool (*flush)(struct pvmw_tls *s);
    bool (*is_blocked)(const struct pvmw_tls *s);
    const char *(*error)(const struct pvmw_tls *s);
    void (*end)(struct pvmw_tls *s, bool politely);
};

/* The module, loaded once for each process; NULL when it cannot be, with the reason in why[size]. */
const struct pvmi_tcp_tls_ops *pvmi_tcp_tls_load(char *why, size_t size);

#endif
