/* module.c - libdpvm_tls.so: the wire's TLS for direct links. */
#include "transports/tcp/tls.h"

__attribute__((destructor)) static void stop(void)
{
    pvmw_tls_stop();
}

__attribute__((visibility("default"))) const struct pvmw_tls_ops *const dpvm_tls_ops = &pvmw_tls_table;
