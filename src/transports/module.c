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

/* It lies beside libpvm3: the root is the folder pvm3 in the same place. */
static bool find_file(const char *file, char path[PATH_MAX])
{
    const char *root = pvmc_config_root();
    if (snprintf(path, PATH_MAX, "%s/../%s", root, file) < PATH_MAX && !access(path, R_OK))
        return true;
    return snprintf(path, PATH_MAX, "%s/lib/%s", root, file) < PATH_MAX && !access(path, R_OK);
}

void *pvmt_module_load(const char *file, const char *setting, char *why, size_t size)
{
    char path[PATH_MAX];
    if (!dlopen || !dlsym || !dlerror) {
        snprintf(why, size, "%s needs a dynamically linked program: link without -static, or unset it", setting);
        return NULL;
    }
    if (!find_file(file, path)) {
        snprintf(why, size, "%s needs %s in the folder above %s: install it, set PVM_ROOT, or unset it", setting, file,
                 pvmc_config_root());
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
