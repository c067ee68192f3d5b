/* tls.c - finds and loads the module that encrypts. */
#include "tls.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../core/config.h"

/* Programs that are linked wholly static have no dlopen(), and must link without warnings all the same. */
extern __typeof__(dlopen) dlopen __attribute__((weak));
extern __typeof__(dlsym) dlsym __attribute__((weak));
extern __typeof__(dlerror) dlerror __attribute__((weak));

static const struct pvmi_tcp_tls_ops *load_file(const char *path, char *why, size_t size)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        snprintf(why, size, "%s", dlerror());
        return NULL;
    }
    const struct pvmi_tcp_tls_ops *ops = dlsym(module, PVMI_TCP_TLS_SYMBOL);
    if (ops && ops->version == PVMI_TCP_TLS_VERSION)
        return ops; /* stays loaded until the process ends */
    snprintf(why, size, "%s is of another version of dpvm", path);
    dlclose(module);
    return NULL;
}

/* The module lies beside libpvm3: the root is the folder pvm3 in the same place. */
static bool find_file(char path[PATH_MAX])
{
    const char *root = pvmi_config_root();
    if (snprintf(path, PATH_MAX, "%s/../" PVMI_TCP_TLS_FILE, root) < PATH_MAX && !access(path, R_OK))
        return true;
    return snprintf(path, PATH_MAX, "%s/lib/" PVMI_TCP_TLS_FILE, root) < PATH_MAX && !access(path, R_OK);
}

const struct pvmi_tcp_tls_ops *pvmi_tcp_tls_load(char *why, size_t size)
{
    static const struct pvmi_tcp_tls_ops *loaded;
    char path[PATH_MAX];
    if (loaded)
        return loaded;
    if (!dlopen || !dlsym || !dlerror)
        snprintf(why, size, "PVM_TCP_TLS=1 needs a dynamically linked program: link without -static, or unset it");
    else if (!find_file(path))
        snprintf(why, size, "PVM_TCP_TLS=1 needs %s in the folder above %s: install it, set PVM_ROOT, or unset it",
                 PVMI_TCP_TLS_FILE, pvmi_config_root());
    else
        loaded = load_file(path, why, size);
    return loaded;
}
