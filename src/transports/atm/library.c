/* library.c - see library.h. */
#include "library.h"
#include <stdbool.h>
#include <stdio.h>
#include "../module.h"

const struct pvmi_atm_library *pvmi_atm_library(char *why, size_t size)
{
    static struct pvmi_atm_library library;
    static bool loaded;
    if (loaded)
        return &library;
    void *module = pvmi_module_load(PVMI_ATM_LIBRARY_FILE, "PVM_TRANSPORT=atm", why, size);
    if (!module)
        return NULL;
    loaded = true;
#define X(name) loaded = (library.name = pvmi_module_symbol(module, "atm_" #name)) && loaded;
    PVMI_ATM_CALLS(X)
#undef X
    if (!loaded)
        snprintf(why, size, "%s is of another version of dpvm", PVMI_ATM_LIBRARY_FILE);
    return loaded ? &library : NULL;
}
