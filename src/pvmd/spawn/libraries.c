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
#include "core/place/library.h"
#include "core/place/rpath.h"
#include "pvmd/base/own_path.h"

#define GROUPS      "libgpvm3.so.3"
#define UNSPEAKABLE ":;$" /* characters with a meaning for the loader */

/* ---- folders ---- */

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
           pvmc_library_is_ours(folder);
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
        pvmc_log(PVMC_LOG_INFO, "found no %s that belongs to %s: tasks load whichever they find", PVMC_LIBRARY,
                 pvmd_own_path());
    }
    return folder;
}

/* ---- LD_LIBRARY_PATH ---- */

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
    return pvmc_library_first(list) == PVMC_LIBRARY_OURS ? 0 : set_joined(e, "LD_LIBRARY_PATH", our_folder(), list);
}

/* ---- LD_PRELOAD ---- */

/* Ours go last: libraries that a user preloads replace functions of the C library and must come first. */
static int set_preload(struct pvmd_environment *e)
{
    char ours[2 * PATH_MAX + sizeof PVMC_LIBRARY + sizeof GROUPS];
    const char *list = value_of(e, "LD_PRELOAD");
    if (strchr(our_folder(), ' ')) /* a separator in LD_PRELOAD */
        return 0;
    snprintf(ours, sizeof ours, "%s/%s:%s/%s", our_folder(), PVMC_LIBRARY, our_folder(), GROUPS);
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

/* Many copies of a program may start: it is told of once. */
void pvmd_libraries_warn(const struct pvmd_environment *e, const char *program, const char *directory)
{
    static char told[PATH_MAX];
    char path[PATH_MAX], library[PATH_MAX];
    int length =
        snprintf(path, sizeof path, "%s%s%s", *program == '/' ? "" : directory, *program == '/' ? "" : "/", program);
    if (length >= (int)sizeof path || !strcmp(path, told) ||
        !strcmp(value_of(e, pvmc_setting_table[PVMC_SETTING_LIBRARIES].name), "preload") ||
        !pvmc_rpath_is_foreign(path, library))
        return;
    strcpy(told, path);
    pvmc_log(
        PVMC_LOG_WARNING,
        "%s loads %s (DT_RPATH), which is not dpvm's: it cannot contact this daemon; set PVM_LIBRARIES=preload, or "
        "build it with pvmcc",
        path, library);
}
