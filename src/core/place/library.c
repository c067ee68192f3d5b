/* library.c - see library.h. */
#include "library.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEPARATORS ":;" /* of LD_LIBRARY_PATH */

bool pvmc_library_is_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && !access(path, R_OK);
}

bool pvmc_library_is_ours(const char *folder)
{
    char path[PATH_MAX], real[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, PVMC_LIBRARY) >= (int)sizeof path || !realpath(path, real))
        return false;
    *strrchr(real, '/') = '\0';
    return pvmc_library_is_file(real, PVMC_LIBRARY_MARK);
}

static enum pvmc_library_owner owner_in(const char *part)
{
    if (*part != '/' || strchr(part, '$'))
        return PVMC_LIBRARY_UNKNOWN;
    return !pvmc_library_is_file(part, PVMC_LIBRARY) ? PVMC_LIBRARY_NONE
           : pvmc_library_is_ours(part)              ? PVMC_LIBRARY_OURS
                                                     : PVMC_LIBRARY_UNKNOWN;
}

enum pvmc_library_owner pvmc_library_first(const char *list)
{
    char *copy = strdup(list), *rest = copy, *part;
    enum pvmc_library_owner found = PVMC_LIBRARY_NONE;
    while (found == PVMC_LIBRARY_NONE && (part = strsep(&rest, SEPARATORS)))
        found = owner_in(part);
    free(copy);
    return found;
}
