/* tls.c - loads the module that encrypts. */
#include "tls.h"
#include <stdio.h>
#include "../module.h"

/* The module's table, ready for use; NULL: see why[size]. */
static const struct pvmi_tcp_tls_ops *load(char *why, size_t size)
{
    void *module = pvmi_module_load(PVMI_TCP_TLS_FILE, "PVM_TCP_TLS", why, size);
    const struct pvmi_tcp_tls_ops *ops = module ? pvmi_module_symbol(module, PVMI_TCP_TLS_SYMBOL) : NULL;
    if (!module)
        return NULL;
    bool fits = ops && ops->version == PVMI_TCP_TLS_VERSION;
    const char *wrong = fits ? ops->start() : "of another version of dpvm";
    if (wrong)
        snprintf(why, size, "%s: %s", PVMI_TCP_TLS_FILE, wrong);
    return wrong ? NULL : ops;
}

const struct pvmi_tcp_tls_ops *pvmi_tcp_tls_load(char *why, size_t size)
{
    static const struct pvmi_tcp_tls_ops *loaded;
    if (!loaded)
        loaded = load(why, size);
    return loaded;
}
