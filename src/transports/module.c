/* module.c - see module.h. */
#include "module.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
#include "core/config.h"

/* Fully static programs have no dlopen(), and must still link without warnings. */
extern __typeof__(dlopen) dlopen __attribute__((weak));
extern __typeof__(dlsym) dlsym __attribute__((weak));
extern __typeof__(dlerror) dlerror __attribute__((weak));

/* It lies beside libpvm3: where that is installed, as seen from the root; next to the root; in a tree that was moved.
 */
static bool find_file(const char *file, char path[PATH_MAX])
{
    static const char *const places[] = {DPVM_ROOT_TO_LIBRARIES, "..", "lib"};
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++)
        if (snprintf(path, PATH_MAX, "%s/%s/%s", pvmc_config_root(), places[i], file) < PATH_MAX && !access(path, R_OK))
            return true;
    return false;
}

void *pvmt_module_load(const char *file, const char *setting, char *why, size_t size)
{
    char path[PATH_MAX];
    if (!dlopen || !dlsym || !dlerror) {
        snprintf(why, size, "%s needs a dynamically linked program: link without -static, or unset it", setting);
        return NULL;
    }
    if (!find_file(file, path)) {
        snprintf(why, size, "%s needs %s in %s/" DPVM_ROOT_TO_LIBRARIES ": install it, set PVM_ROOT, or unset it",
                 setting, file, pvmc_config_root());
        return NULL;
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        snprintf(why, size, "%s", dlerror());
    return module;
}

void *pvmt_module_symbol(void *module, const char *name)
{
    return dlsym ? dlsym(module, name) : NULL;
}
