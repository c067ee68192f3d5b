/* libraries.c - see libraries.h. */
#include "libraries.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/config.h"
#include "core/message/dsig.h"
#include "core/error.h"
#include "core/log.h"
#include "transports/tcp/tls.h"
#include "pvmd/base/own_path.h"

#define LIBRARY     "libpvm3.so.3"
#define GROUPS      "libgpvm3.so.3"
#define MARK        PVMT_TCP_TLS_FILE /* a file beside every libpvm3 of dpvm and no other */
#define SEPARATORS  ":;"              /* of LD_LIBRARY_PATH */
#define UNSPEAKABLE ":;$"             /* characters with a meaning for the loader */

/* ---- folders ---- */

static bool is_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && !access(path, R_OK);
}

/* Whether the libpvm3 there, possibly a symbolic link, is dpvm's. */
static bool is_dpvm(const char *folder)
{
    char path[PATH_MAX], real[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, LIBRARY) >= (int)sizeof path || !realpath(path, real))
        return false;
    *strrchr(real, '/') = '\0';
    return is_file(real, MARK);
}

/* Whether root, we, or the owner of this daemon's program own it: no other user may choose the libraries of tasks. */
static bool is_trusted(const char *folder)
{
    struct stat st, daemon;
    if (stat(folder, &st) || stat(pvmd_own_path(), &daemon) || st.st_mode & S_IWOTH)
        return false;
    return st.st_uid == 0 || st.st_uid == getuid() || st.st_uid == daemon.st_uid;
}

/* Of this daemon's own installation, whatever PVM_ROOT says. */
static bool find_our_folder(char folder[PATH_MAX])
{
    char root[PATH_MAX], path[PATH_MAX];
    if (pvmc_config_root_of(pvmd_own_path(), root, sizeof root))
        return false;
    int length = snprintf(path, sizeof path, "%s/lib/%s", root, pvmc_arch_own());
    return length < (int)sizeof path && realpath(path, folder) && !strpbrk(folder, UNSPEAKABLE) && is_trusted(folder) &&
           is_dpvm(folder);
}

/* Our folder, or "". */
static const char *our_folder(void)
{
    static char folder[PATH_MAX];
    static bool looked;
    if (looked)
        return folder;
    looked = true;
    if (!find_our_folder(folder)) {
        *folder = '\0';
        pvmc_log(PVMC_LOG_INFO, "found no %s that belongs to %s: tasks load whichever they find", LIBRARY,
                 pvmd_own_path());
    }
    return folder;
}

/* ---- LD_LIBRARY_PATH ---- */

/* The folder of an element of the path. A relative one, or one that the loader expands, may lead anywhere. */
static enum { NO_LIBRARY, DPVM, UNKNOWN } library_in(const char *part)
{
    if (*part != '/' || strchr(part, '$'))
        return UNKNOWN;
    return !is_file(part, LIBRARY) ? NO_LIBRARY : is_dpvm(part) ? DPVM : UNKNOWN;
}

/* Whether the first libpvm3 on the path is dpvm's. */
static bool leads_to_dpvm(const char *list)
{
    char *copy = strdup(list), *rest = copy, *part;
    int found = NO_LIBRARY;
    while (found == NO_LIBRARY && (part = strsep(&rest, SEPARATORS)))
        found = library_in(part);
    free(copy);
    return found == DPVM;
}

/* Makes no empty element, which would mean the task's working directory. */
static int set_joined(struct pvmd_environment *e, const char *name, const char *first, const char *second)
{
    char *variable;
    if (asprintf(&variable, "%s=%s%s%s", name, first, *first && *second ? ":" : "", second) < 0)
        return PVMC_ENOMEM;
    int rc = pvmd_environment_set(e, variable);
    free(variable);
    return rc;
}

static const char *value_of(const struct pvmd_environment *e, const char *name)
{
    const char *value = pvmd_environment_get(e, name);
    return value ? value : "";
}

static int set_path(struct pvmd_environment *e)
{
    const char *list = value_of(e, "LD_LIBRARY_PATH");
    return leads_to_dpvm(list) ? 0 : set_joined(e, "LD_LIBRARY_PATH", our_folder(), list);
}

/* ---- LD_PRELOAD ---- */

/* Ours go last: libraries that a user preloads replace functions of the C library and must come first. */
static int set_preload(struct pvmd_environment *e)
{
    char ours[2 * PATH_MAX + sizeof LIBRARY + sizeof GROUPS];
    const char *list = value_of(e, "LD_PRELOAD");
    if (strchr(our_folder(), ' ')) /* a separator in LD_PRELOAD */
        return 0;
    snprintf(ours, sizeof ours, "%s/%s:%s/%s", our_folder(), LIBRARY, our_folder(), GROUPS);
    return strstr(list, ours) ? 0 : set_joined(e, "LD_PRELOAD", list, ours);
}

/* ---- the setting ---- */

int pvmd_libraries_set(struct pvmd_environment *e)
{
    const char *how = value_of(e, pvmc_setting_table[PVMC_SETTING_LIBRARIES].name);
    bool preload = !strcmp(how, "preload"), none = !strcmp(how, "none");
    if (*how && !preload && !none && strcmp(how, "path"))
        pvmc_log(PVMC_LOG_ERROR, "PVM_LIBRARIES=%s: it must be path, preload or none", how);
    if (none || !*our_folder())
        return 0;
    int rc = set_path(e);
    return rc || !preload ? rc : set_preload(e);
}
