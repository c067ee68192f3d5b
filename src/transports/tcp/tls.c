/* tls.c - loads the module that encrypts. */
#include "tls.h"
#include <stdio.h>
#include "../module.h"

const struct pvmi_tcp_tls_ops *pvmi_tcp_tls_load(char *why, size_t size)
{
    static const struct pvmi_tcp_tls_ops *loaded;
    if (loaded)
        return loaded;
    void *module = pvmi_module_load(PVMI_TCP_TLS_FILE, "PVM_TCP_TLS=1", why, size);
    const struct pvmi_tcp_tls_ops *ops = module ? pvmi_module_symbol(module, PVMI_TCP_TLS_SYMBOL) : NULL;
    if (ops && ops->version == PVMI_TCP_TLS_VERSION)
        loaded = ops;
    else if (module)
        snprintf(why, size, "%s is of another version of dpvm", PVMI_TCP_TLS_FILE);
    return loaded;
}
