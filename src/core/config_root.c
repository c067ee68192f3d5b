/*
 * config_root.c - finds PVM_ROOT when the user has not set it, from the location of this code itself. So dpvm can be
 * moved, or run from its build tree, without any setting.
 */
#include "config.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "error.h"

static bool is_folder(const char *path)
{
    struct stat about;
    return !stat(path, &about) && S_ISDIR(about.st_mode);
}

/* Removes the last component; false when none is left. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return false;
    *slash = '\0';
    return true;
}

static int try_folder(const char *folder, const char *below, char *root, size_t size)
{
    int length = snprintf(root, size, "%s/%s", folder, below);
    return length >= 0 && (size_t)length < size && is_folder(root) ? 0 : PVMC_ENOTFOUND;
}

/* For a file inside the root itself, such as pvm3/bin/LINUX64/pvmgs: an enclosing pvm3 that has a conf folder. */
static int try_enclosing(char *folder, char *root, size_t size)
{
    char conf[PATH_MAX];
    for (int level = 0; level < 2 && go_up(folder); level++) {
        const char *name = strrchr(folder, '/');
        if (name && !strcmp(name, "/pvm3") && !try_folder(folder, "conf", conf, sizeof conf))
            return (size_t)snprintf(root, size, "%s", folder) < size ? 0 : PVMC_ENOTFOUND;
    }
    return PVMC_ENOTFOUND;
}

int pvmc_config_root_of(const char *file, char *root, size_t size)
{
    char folder[PATH_MAX], prefix[PATH_MAX];
    if (strlen(file) >= sizeof folder)
        return PVMC_ENOTFOUND;
    strcpy(folder, file);
    if (!go_up(folder))
        return PVMC_ENOTFOUND;
    strcpy(prefix, folder);
    if (strstr(file + strlen(folder), ".so") && !try_folder(folder, "pvm3", root, size))
        return 0;
    if (go_up(prefix) &&
        (!try_folder(prefix, DPVM_ROOT_DIR, root, size) || !try_folder(prefix, "lib/pvm3", root, size)))
        return 0;
    return try_enclosing(folder, root, size);
}

/* The file that contains this code: libpvm3.so, or the program that it is linked into. */
static int own_file(char path[PATH_MAX])
{
    Dl_info where;
    if (dladdr((const void *)&pvmc_setting_table, &where) && where.dli_fname) {
        const char *slash = strrchr(where.dli_fname, '/');
        if (slash && strstr(slash, ".so") && realpath(where.dli_fname, path))
            return 0;
    }
    return realpath("/proc/self/exe", path) ? 0 : PVMC_ENOTFOUND;
}

const char *pvmc_config_root(void)
{
    static char found[PATH_MAX];
    const char *set = pvmc_config_text(PVMC_SETTING_ROOT);
    if (*set)
        return set;
    char file[PATH_MAX];
    if (!*found && (own_file(file) || pvmc_config_root_of(file, found, sizeof found)))
        snprintf(found, sizeof found, "%s/%s", DPVM_PREFIX, DPVM_ROOT_DIR);
    return found;
}
