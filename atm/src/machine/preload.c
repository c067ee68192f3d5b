/* preload.c - see preload.h. */
#include "preload.h"
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/config.h"

#define CLOCK_LIBRARY "libatmclock.so"

/* Prepends `item` to an environment variable that holds a list. */
static void put_first(const char *variable, const char *item)
{
    const char *old = getenv(variable);
    char *list;
    if (asprintf(&list, "%s%s%s", item, old && *old ? ":" : "", old ? old : "") < 0 || setenv(variable, list, 1))
        err(EXIT_FAILURE, "%s", variable);
    free(list);
}

/* Finds the library beside libpvm3: in the folder above the root, or in a lib folder below it. */
static void find_library(char path[PATH_MAX])
{
    const char *root = pvmc_config_root();
    snprintf(path, PATH_MAX, "%s/../" CLOCK_LIBRARY, root);
    if (access(path, R_OK))
        snprintf(path, PATH_MAX, "%s/lib/" CLOCK_LIBRARY, root);
    if (access(path, R_OK))
        errx(EXIT_FAILURE, "%s is not in the folder above %s: install it, or set PVM_ROOT", CLOCK_LIBRARY, root);
}

void pvma_preload_exec(char **argv)
{
    char path[PATH_MAX];
    find_library(path);
    put_first("LD_PRELOAD", path);
    put_first("PVM_EXPORT", "LD_PRELOAD");
    setenv("PVM_TRANSPORT", "atm", 0);
    execvp(argv[0], argv);
    err(errno == ENOENT ? 127 : 126, "%s", argv[0]);
}
