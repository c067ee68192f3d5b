/* names.c - see names.h. */
#include "names.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/config.h"
#include "core/message/dsig.h"

/* Blanks, quotes and backslashes end or change a word, ';' and '#' a command; control characters cannot be typed. */
static bool needs_quotes(const char *name)
{
    for (; *name != '\0'; name++)
        if ((unsigned char)*name <= ' ' || *name == 0x7f || strchr("'\"\\;#", *name) != NULL)
            return true;
    return false;
}

static bool is_folder(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

static bool is_program(int folder, const char *name)
{
    return !is_folder(folder, name) && faccessat(folder, name, X_OK, 0) == 0;
}

/* `~/` at the start is not expanded: neither console nor daemon does it. */
void names_files(const char *prefix, names_take *take, void *arg)
{
    const char *slash = strrchr(prefix, '/'), *start = slash != NULL ? slash + 1 : prefix;
    char folder[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
    const struct dirent *entry;

    if (snprintf(folder, sizeof(folder), "%.*s", (int)(start - prefix), prefix) >= (int)sizeof(folder))
        return;
    DIR *list = opendir(*folder != '\0' ? folder : ".");
    while (list != NULL && (entry = readdir(list)) != NULL) {
        const char *name = entry->d_name;
        if ((*name == '.' && *start != '.') || strncmp(name, start, strlen(start)) != 0 || needs_quotes(name))
            continue;
        snprintf(path, sizeof(path), "%s%s%s", folder, name, is_folder(dirfd(list), name) ? "/" : "");
        take(arg, path);
    }
    if (list != NULL)
        closedir(list);
}

static void programs_in(const char *folder, const char *prefix, names_take *take, void *arg)
{
    const struct dirent *entry;
    DIR *list = opendir(folder);

    while (list != NULL && (entry = readdir(list)) != NULL) {
        const char *name = entry->d_name;
        if (*name != '.' && strncmp(name, prefix, strlen(prefix)) == 0 && !needs_quotes(name) &&
            is_program(dirfd(list), name))
            take(arg, name);
    }
    if (list != NULL)
        closedir(list);
}

/* The search path, to be freed, or NULL. */
static char *search_path(void)
{
    const char *set = pvmc_config_text(PVMC_SETTING_PATH), *home = getenv("HOME");
    const char *arch = pvmc_config_text(PVMC_SETTING_ARCH);
    char *path = NULL;

    if (*set != '\0')
        return strdup(set);
    if (*arch == '\0')
        arch = pvmc_arch_own();
    if (asprintf(&path, "%s/pvm3/bin/%s:%s/bin/%s", home != NULL ? home : "", arch, pvmc_config_root(), arch) < 0)
        return NULL;
    return path;
}

void names_programs(const char *prefix, names_take *take, void *arg)
{
    char *path = search_path(), *rest = path, *folder;

    while (path != NULL && (folder = strsep(&rest, ":")) != NULL)
        if (*folder != '\0')
            programs_in(folder, prefix, take, arg);
    free(path);
}
