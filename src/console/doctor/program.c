/* program.c - the programs of dpvm, whether they are of this version, and where programs of tasks are searched. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "console/child.h"
#include "core/config.h"
#include "core/place/program.h"
#include "core/version.h"
#include "probe.h"
#include "result.h"

enum { VERSION_LIMIT_MS = 1000 };

/* Whether the program says that it is dpvm's of this version; `said` gets the first line of its answer. */
static bool is_this_version(const char *path, char said[128])
{
    char *argv[] = {(char *)path, (char *)"--version", NULL};
    struct child child;

    child_exec(&child, argv);
    child_gather(&child, 1, VERSION_LIMIT_MS);
    const char *text = child_text(&child, CHILD_OUT);
    snprintf(said, 128, "%.*s", (int)strcspn(text, "\n"), text);
    child_free(&child);
    const char *at = strstr(said, pvmc_version);
    return at != NULL;
}

void probe_programs(json_t *results)
{
    char path[PATH_MAX], real[PATH_MAX], said[128] = "";
    const char *root = pvmc_config_text(PVMC_SETTING_ROOT);
    const char *cure = *root != '\0' ? "unset PVM_ROOT, or set it to the lib/pvm3 of this dpvm"
                                     : "install all of dpvm again (cmake --install), and run this one's `pvm`";

    if (pvmc_program_find("pvmd3", path, sizeof(path)) != 0)
        result_add(results, "programs", SEVERITY_ERROR, cure,
                   "there is no pvmd3 in %s/lib, beside this program or in PATH", pvmc_config_root());
    else if (realpath(path, real) == NULL || !is_this_version(real, said))
        result_add(results, "programs", SEVERITY_ERROR, cure, "%s is not of dpvm %s: it says \"%s\"", path,
                   pvmc_version, said);
    else
        result_add(results, "programs", SEVERITY_OK, "", "dpvm %s; its daemon is %s", pvmc_version, real);
}

/* ---- the remote shell ---- */

/* PVM_RSH is a path, or words for a shell of which the first is a program. */
void probe_remote_shell(json_t *results)
{
    const char *rsh = pvmc_config_text(PVMC_SETTING_RSH);
    char word[PATH_MAX], path[PATH_MAX];

    snprintf(word, sizeof(word), "%.*s", (int)strcspn(rsh, " \t"), rsh);
    const char *name = *word != '\0' ? word : "ssh";
    bool is_there =
        access(rsh, X_OK) == 0 ||
        (strchr(name, '/') != NULL ? access(name, X_OK) == 0 : pvmc_program_find(name, path, sizeof(path)) == 0);
    if (!is_there && *rsh != '\0')
        result_add(results, "remote shell", SEVERITY_ERROR, "unset PVM_RSH, or set it to a command that is there",
                   "PVM_RSH=%s names no program: no other host can be added", rsh);
    else if (!is_there)
        result_add(results, "remote shell", SEVERITY_WARNING,
                   "install ssh (Debian: openssh-client), or set PVM_RSH to another command",
                   "there is no ssh in PATH: no other host can be added");
    else
        result_add(results, "remote shell", SEVERITY_OK, "", "%s", *rsh != '\0' ? rsh : "ssh");
}

/* ---- programs of tasks ---- */

static bool is_folder(const char *path, int length)
{
    char folder[PATH_MAX];
    struct stat st;

    return snprintf(folder, sizeof(folder), "%.*s", length, path) < (int)sizeof(folder) && stat(folder, &st) == 0 &&
           S_ISDIR(st.st_mode);
}

/* Folders of a path that are not there; one that the daemon expands ($PVM_ARCH) is not looked at. */
static void check_path(json_t *results, const char *list)
{
    int there = 0, missing = 0;

    for (int length; *list != '\0'; list += length + (list[length] == ':')) {
        length = (int)strcspn(list, ":");
        if (length == 0)
            continue;
        if (memchr(list, '$', (size_t)length) != NULL || list[0] == '~' || is_folder(list, length))
            there++;
        else
            missing++;
    }
    if (there == 0 && missing > 0)
        result_add(results, "search", SEVERITY_WARNING, "set PVM_PATH to folders that hold the programs of your tasks",
                   "PVM_PATH=%s: none of its folders is there, so no program is found by its name alone",
                   pvmc_config_text(PVMC_SETTING_PATH));
}

void probe_search(json_t *results)
{
    const char *home = getenv("HOME"), *wd = pvmc_config_text(PVMC_SETTING_WD);

    check_path(results, pvmc_config_text(PVMC_SETTING_PATH));
    if (*wd != '\0' && strchr(wd, '$') == NULL && *wd != '~' && !is_folder(wd, PATH_MAX))
        result_add(results, "search", SEVERITY_WARNING, "set PVM_WD to a folder that is there",
                   "PVM_WD=%s is no folder: tasks start elsewhere", wd);
    if (home == NULL || !is_folder(home, PATH_MAX))
        result_add(results, "search", SEVERITY_WARNING, "set HOME to your home directory",
                   "HOME is not set or no folder: tasks start there, and their programs are in $HOME/pvm3/bin");
    if (json_array_size(results) == 0)
        result_add(results, "search", SEVERITY_OK, "", "programs of tasks are searched in %s",
                   *pvmc_config_text(PVMC_SETTING_PATH) != '\0' ? pvmc_config_text(PVMC_SETTING_PATH)
                                                                : "$HOME/pvm3/bin/$PVM_ARCH and the like");
}
