/* tls.c - loads the TLS module. */
#include "tls.h"
#include <stdio.h>
#include "transports/module.h"

/* The module's table, ready for use; NULL: see why[size]. */
static const struct pvmw_tls_ops *load(char *why, size_t size)
{
    void *module = pvmt_module_load(PVMT_TCP_TLS_FILE, "PVM_TCP_TLS", why, size);
    if (!module)
        return NULL;
    const struct pvmw_tls_ops *const *exported = pvmt_module_symbol(module, PVMT_TCP_TLS_SYMBOL);
    const struct pvmw_tls_ops *ops = exported ? *exported : NULL;
    bool fits = ops && ops->version == PVMW_TLS_VERSION;
    const char *wrong = fits ? ops->start() : "of another version of dpvm";
    if (wrong)
        snprintf(why, size, "%s: %s", PVMT_TCP_TLS_FILE, wrong);
    return wrong ? NULL : ops;
}

const struct pvmw_tls_ops *pvmt_tcp_tls_load(char *why, size_t size)
{
    static const struct pvmw_tls_ops *loaded;
    if (!loaded)
        loaded = load(why, size);
    return loaded;
}
