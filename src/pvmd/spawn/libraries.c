/* libraries.c - see libraries.h. */
#include "libraries.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../core/config.h"
#include "../core/dsig.h"
#include "../core/error.h"
#include "../core/log.h"
#include "../transports/tcp/tls.h"
#include "launch.h"

#define LIBRARY     "libpvm3.so.3"
#define GROUPS      "libgpvm3.so.3"
#define MARK        PVMI_TCP_TLS_FILE /* lies beside each libpvm3 of dpvm, and beside no other */
#define SEPARATORS  ":;"              /* of LD_LIBRARY_PATH */
#define UNSPEAKABLE ":;$"             /* what the loader takes for something else in a folder of it */

/* ---- folders ---- */

static bool is_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && !access(path, R_OK);
}

/* Whether the libpvm3 there, which may be a link, is a dpvm's. */
static bool is_dpvm(const char *folder)
{
    char path[PATH_MAX], real[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, LIBRARY) >= (int)sizeof path || !realpath(path, real))
        return false;
    *strrchr(real, '/') = '\0';
    return is_file(real, MARK);
}

/* Whether it is of root, ours, or of the owner of this daemon's program: others must not choose libraries of tasks. */
static bool is_trusted(const char *folder)
{
    struct stat st, daemon;
    if (stat(folder, &st) || stat(pvmd_launch_own_path(), &daemon) || st.st_mode & S_IWOTH)
        return false;
    return st.st_uid == 0 || st.st_uid == getuid() || st.st_uid == daemon.st_uid;
}

/* It belongs to the program that this daemon is, whatever PVM_ROOT says. */
static bool find_our_folder(char folder[PATH_MAX])
{
    char root[PATH_MAX], path[PATH_MAX];
    if (pvmi_config_root_of(pvmd_launch_own_path(), root, sizeof root))
        return false;
    int length = snprintf(path, sizeof path, "%s/lib/%s", root, pvmi_arch_own());
    return length < (int)sizeof path && realpath(path, folder) && !strpbrk(folder, UNSPEAKABLE) && is_trusted(folder) &&
           is_dpvm(folder);
}

/* Our folder, "" if there is none. */
static const char *our_folder(void)
{
    static char folder[PATH_MAX];
    static bool looked;
    if (looked)
        return folder;
    looked = true;
    if (!find_our_folder(folder)) {
        *folder = '\0';
        pvmi_log(PVMI_LOG_INFO, "no %s belongs to %s: tasks load the one that they find", LIBRARY,
                 pvmd_launch_own_path());
    }
    return folder;
}

/* ---- LD_LIBRARY_PATH ---- */

/* What a part of it leads to; what is relative, or expanded by the loader, may lead anywhere. */
static enum { NO_LIBRARY, DPVM, UNKNOWN } library_in(const char *part)
{
    if (*part != '/' || strchr(part, '$'))
        return UNKNOWN;
    return !is_file(part, LIBRARY) ? NO_LIBRARY : is_dpvm(part) ? DPVM : UNKNOWN;
}

/* Whether the first libpvm3 that is found by it is a dpvm's. */
static bool leads_to_dpvm(const char *list)
{
    char *copy = strdup(list), *rest = copy, *part;
    int found = NO_LIBRARY;
    while (found == NO_LIBRARY && (part = strsep(&rest, SEPARATORS)))
        found = library_in(part);
    free(copy);
    return found == DPVM;
}

/* An empty part would be the task's working directory, so none is made. */
static int set_joined(struct pvmd_environment *e, const char *name, const char *first, const char *second)
{
    char *variable;
    if (asprintf(&variable, "%s=%s%s%s", name, first, *first && *second ? ":" : "", second) < 0)
        return PVMI_ENOMEM;
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

/* Ours go behind: what a user preloads replaces functions of the C library, and must come first. */
static int set_preload(struct pvmd_environment *e)
{
    char ours[2 * PATH_MAX + sizeof LIBRARY + sizeof GROUPS];
    const char *list = value_of(e, "LD_PRELOAD");
    if (strchr(our_folder(), ' ')) /* which would end a name there */
        return 0;
    snprintf(ours, sizeof ours, "%s/%s:%s/%s", our_folder(), LIBRARY, our_folder(), GROUPS);
    return strstr(list, ours) ? 0 : set_joined(e, "LD_PRELOAD", list, ours);
}

/* ---- the setting ---- */

int pvmd_libraries_set(struct pvmd_environment *e)
{
    const char *how = value_of(e, pvmi_setting_table[PVMI_SETTING_LIBRARIES].name);
    bool preload = !strcmp(how, "preload"), none = !strcmp(how, "none");
    if (*how && !preload && !none && strcmp(how, "path"))
        pvmi_log(PVMI_LOG_ERROR, "PVM_LIBRARIES=%s: it must be path, preload or none", how);
    if (none || !*our_folder())
        return 0;
    int rc = set_path(e);
    return rc || !preload ? rc : set_preload(e);
}
