/* library.c - see library.h. */
#include "library.h"
#include <stdbool.h>
#include <stdio.h>
#include "transports/module.h"

const struct pvmt_atm_library *pvmt_atm_library(char *why, size_t size)
{
    static struct pvmt_atm_library library;
    static bool loaded;
    if (loaded)
        return &library;
    void *module = pvmt_module_load(PVMT_ATM_LIBRARY_FILE, "PVM_TRANSPORT=atm", why, size);
    if (!module)
        return NULL;
    loaded = true;
#define X(name) loaded = (library.name = pvmt_module_symbol(module, "atm_" #name)) && loaded;
    PVMT_ATM_CALLS(X)
#undef X
    if (!loaded)
        snprintf(why, size, "%s is of another version of dpvm", PVMT_ATM_LIBRARY_FILE);
    return loaded ? &library : NULL;
}
