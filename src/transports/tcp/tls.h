/*
 * tls.h - loads the wire's TLS (src/wire/tls.h): libdpvm_tls.so, a module of its own, is loaded when the first link is
 * to be encrypted, so that libpvm3 does not need OpenSSL. The module is tls/module.c.
 */
#ifndef PVMT_TCP_TLS_H
#define PVMT_TCP_TLS_H

#include "core/place/library.h"
#include "wire/tls.h"

#define PVMT_TCP_TLS_FILE   PVMC_LIBRARY_MARK
#define PVMT_TCP_TLS_SYMBOL "dpvm_tls_ops"

extern const struct pvmw_tls_ops *const dpvm_tls_ops; /* in the module */

/* The module's table, loaded once for each process; NULL when it cannot be, with the reason in why[size]. */
const struct pvmw_tls_ops *pvmt_tcp_tls_load(char *why, size_t size);

#endif
