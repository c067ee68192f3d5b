/* program.c - see program.h. */
#include "program.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"

/* Whether folder/name is a program; if so, `path` names it. */
static bool is_in(const char *folder, int folder_bytes, const char *name, char *path, size_t size)
{
    int length = snprintf(path, size, "%.*s/%s", folder_bytes, folder, name);
    return length > 0 && (size_t)length < size && !access(path, X_OK);
}

/* Looks in $PVM_ROOT/lib, then in the bin folder of the installation or build that the root belongs to. */
static bool find_by_root(const char *name, char *path, size_t size)
{
    static const char *const places[] = {"lib", "../../bin", "../../../bin"}; /* last: lib/x86_64-linux-gnu/pvm3 */
    char folder[PATH_MAX];
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        int length = snprintf(folder, sizeof folder, "%s/%s", pvmc_config_root(), places[i]);
        if (length > 0 && (size_t)length < sizeof folder && is_in(folder, length, name, path, size))
            return true;
    }
    return false;
}

static bool find_beside_us(const char *name, char *path, size_t size)
{
    char own[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    if (n <= 0)
        return false;
    own[n] = '\0';
    char *slash = strrchr(own, '/');
    return slash && is_in(own, (int)(slash - own), name, path, size);
}

static bool find_in_path(const char *name, char *path, size_t size)
{
    const char *list = getenv("PATH");
    while (list && *list) {
        int length = (int)strcspn(list, ":");
        if (length && is_in(list, length, name, path, size))
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

int pvmc_program_find(const char *name, char *path, size_t size)
{
    return find_by_root(name, path, size) || find_beside_us(name, path, size) || find_in_path(name, path, size)
               ? 0
               : PVMC_ENOTFOUND;
}
