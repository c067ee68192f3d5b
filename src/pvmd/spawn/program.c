/* program.c - see program.h. */
#include "program.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/config.h"
#include "core/log.h"
#include "environment.h"
#include "pvmd/base/hosts.h"

#define DEFAULT_PATH     "$HOME/pvm3/bin/$PVM_ARCH:$PVM_ROOT/bin/$PVM_ARCH:/usr/lib/pvm3/bin/$PVM_ARCH"
#define DEFAULT_DEBUGGER "$PVM_ROOT/lib/debugger"

static bool is_program(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static bool is_directory(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode) && !access(path, X_OK);
}

/* The first text that is not empty. */
static const char *first_of(const char *a, const char *b, const char *c)
{
    return *a ? a : *b ? b : c;
}

static char *exec_path(void)
{
    return pvmd_environment_expand(
        first_of(pvmd_host_self()->exec_path, pvmc_config_text(PVMC_SETTING_PATH), DEFAULT_PATH));
}

/* folder/file if that is a program. */
static char *program_in(const char *folder, const char *file)
{
    char *path;
    if (!*folder || asprintf(&path, "%s/%s", folder, file) < 0)
        return NULL;
    if (is_program(path))
        return path;
    free(path);
    return NULL;
}

static char *search(char *folders, const char *file)
{
    char *found = NULL, *rest = folders, *folder;
    while (!found && (folder = strsep(&rest, ":")))
        found = program_in(folder, file);
    return found;
}

/* Finds our group server beside this daemon even if it is not on the exec path. */
static char *beside_us(const char *file)
{
    char self[PATH_MAX];
    ssize_t n = strcmp(file, PVMD_GROUP_SERVER) ? -1 : readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return NULL;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    return program_in(self, file);
}

/* For a name with a path: a copy of it if it leads to a program from `directory`. */
static char *by_path(const char *directory, const char *file)
{
    if (file[0] == '/')
        return is_program(file) ? strdup(file) : NULL;
    char *path = strchr(file, '/') ? program_in(directory, file) : NULL;
    bool found = path;
    free(path);
    return found ? strdup(file) : NULL;
}

static void explain(const char *file, const char *directory, const char *folders, struct pvmd_why *why)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    if (file[0] == '/')
        pvmd_why(why, PVMC_LOG_INFO, "no program %s: %s", file, pvmd_why_no_program(file));
    else if (strchr(file, '/'))
        pvmd_why(why, PVMC_LOG_INFO, "no program %s in the task's folder %s (%s), nor in %s", file, directory,
                 pvmd_why_no_program(path), folders);
    else
        pvmd_why(why, PVMC_LOG_INFO, "no program %s in %s", file, folders);
}

char *pvmd_program_find(const char *file, const char *directory, struct pvmd_why *why)
{
    char *found = by_path(directory, file);
    if (found)
        return found;
    char *folders = exec_path(), *shown = folders ? strdup(folders) : NULL;
    if (folders && *file && file[0] != '/')
        found = search(folders, file);
    if (!found)
        found = beside_us(file);
    if (!found)
        explain(file, directory, shown ? shown : "", why);
    free(folders);
    free(shown);
    return found;
}

bool pvmd_program_is_group_server(const char *file)
{
    const char *slash = strrchr(file, '/');
    return !strcmp(slash ? slash + 1 : file, PVMD_GROUP_SERVER);
}

char *pvmd_program_command(const char *name)
{
    if (strchr(name, '/'))
        return name[0] == '/' && is_program(name) ? strdup(name) : NULL;
    const char *path = getenv("PATH");
    char *folders = strdup(path ? path : "/usr/bin:/bin");
    char *found = folders ? search(folders, name) : NULL;
    free(folders);
    return found;
}

/* The directory that `text` names, relative to $HOME. NULL if it cannot be entered, which is logged. */
static char *enterable(const char *text, struct pvmd_why *why)
{
    char *expanded = pvmd_environment_expand(text), *absolute = NULL;
    if (!expanded || !*expanded) {
        free(expanded);
        return NULL;
    }
    char *home = pvmd_environment_expand("$HOME");
    if (*expanded == '/')
        absolute = strdup(expanded);
    else if (home && asprintf(&absolute, "%s/%s", home, expanded) < 0)
        absolute = NULL;
    free(expanded);
    free(home);
    if (!absolute || is_directory(absolute))
        return absolute;
    pvmd_why(why, PVMC_LOG_WARNING, "cannot enter working directory %s", absolute);
    free(absolute);
    return NULL;
}

char *pvmd_program_directory(const char *asked, bool must, struct pvmd_why *why)
{
    struct pvmd_why passing = {""}; /* as long as there is another choice */
    const char *choices[] = {asked, pvmd_host_self()->working_dir, pvmc_config_text(PVMC_SETTING_WD), "$HOME", "/"};
    if (must && *asked)
        return enterable(asked, why);
    char *found = NULL;
    for (unsigned i = 0; !found && i < sizeof choices / sizeof choices[0]; i++)
        found = enterable(choices[i], &passing);
    return found;
}

char *pvmd_program_debugger(struct pvmd_why *why)
{
    char *path = pvmd_environment_expand(
        first_of(pvmd_host_self()->debugger, pvmc_config_text(PVMC_SETTING_DEBUGGER), DEFAULT_DEBUGGER));
    if (path && is_program(path))
        return path;
    pvmd_why(why, PVMC_LOG_WARNING, "no debugger script %s: set PVM_DEBUGGER, or bx= in the hostfile",
             path ? path : "");
    free(path);
    return NULL;
}
