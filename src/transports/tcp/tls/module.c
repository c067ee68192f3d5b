/* module.c - libdpvm_tls.so: the wire's TLS for direct links. */
#include "../tls.h"

__attribute__((destructor)) static void stop(void)
{
    pvmw_tls_stop();
}

__attribute__((visibility("default"))) const struct pvmi_tcp_tls_ops dpvm_tls_module = {
    .version = PVMI_TCP_TLS_VERSION,
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
