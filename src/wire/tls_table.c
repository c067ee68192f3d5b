/* tls_table.c - the functions of tls.h as a table. */
#include "tls.h"

const struct pvmw_tls_ops pvmw_tls_table = {
    .version = PVMW_TLS_VERSION,
    .start = pvmw_tls_start,
    .open = pvmw_tls_new,
    .handshake = pvmw_tls_handshake,
    .read = pvmw_tls_read,
    .put = pvmw_tls_put,
    .flush = pvmw_tls_flush,
    .is_blocked = pvmw_tls_is_blocked,
    .error = pvmw_tls_error,
    .end = pvmw_tls_end,
};
