/* fabric.c - loads the module that calls libfabric. */
#include "fabric.h"
#include <stdio.h>
#include "transports/module.h"

/* The module's table, if its version is ours. */
static const struct pvmt_fabric *load(char *why, size_t size)
{
    void *module = pvmt_module_load(PVMT_FABRIC_FILE, "transport ofi", why, size);
    const struct pvmt_fabric *table = module ? pvmt_module_symbol(module, PVMT_FABRIC_SYMBOL) : NULL;
    if (table && table->version == PVMT_FABRIC_VERSION)
        return table;
    if (module)
        snprintf(why, size, "%s is of another version of dpvm", PVMT_FABRIC_FILE);
    return NULL;
}

const struct pvmt_fabric *pvmt_fabric_load(char *why, size_t size)
{
    static const struct pvmt_fabric *loaded;
    if (!loaded)
        loaded = load(why, size);
    return loaded;
}
