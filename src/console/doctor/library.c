/*
 * library.c - which libpvm3.so.3 programs load. The dynamic loader itself tells, by its --list: that maps a program and
 * its libraries, but runs nothing of them.
 */
#include "library.h"
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "console/child.h"
#include "core/place/library.h"
#include "core/place/program.h"
#include "core/config.h"
#include "probe.h"
#include "result.h"

#define EXAMPLE "libgpvm3.so.3"

enum { LIST_LIMIT_MS = 1500 };

const char *library_program;

/* ---- asking the loader ---- */

/* The loader of this program: that of another program could be anything. */
static int find_loader(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *(const char **)found = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return 1; /* the first object is the program */
}

struct listing {
    bool works;
    char library[PATH_MAX]; /* its libpvm3.so.3; "": it needs none, or finds none */
    bool missing;           /* it finds none */
    char why[256];          /* if it does not work */
};

/* Takes the path out of a line "libpvm3.so.3 => PATH (0x...)", or "PATH (0x...)" if it is preloaded. */
static void read_line(const char *line, size_t length, struct listing *out)
{
    char text[2 * PATH_MAX];

    snprintf(text, sizeof(text), "%.*s", (int)length, line);
    char *name = text + strspn(text, "\t "), *path = strstr(name, " => "), *end = strstr(name, " (0x");
    size_t short_name = strcspn(name, " ");
    const char *base = memrchr(name, '/', short_name);
    base = base != NULL ? base + 1 : name;
    if (strncmp(base, PVMC_LIBRARY " ", sizeof(PVMC_LIBRARY)) != 0 || *out->library != '\0')
        return;
    out->missing = strstr(name, "not found") != NULL;
    if (end == NULL)
        return;
    *end = '\0';
    snprintf(out->library, sizeof(out->library), "%s", path != NULL ? path + 4 : name);
}

static void read_list(const struct child *child, struct listing *out)
{
    const char *at = child_text(child, CHILD_OUT), *said = child_text(child, CHILD_ERR);

    out->works = !child->late && WIFEXITED(child->status) && WEXITSTATUS(child->status) == 0;
    for (size_t length; *at != '\0'; at += length + (at[length] == '\n')) {
        length = strcspn(at, "\n");
        read_line(at, length, out);
    }
    snprintf(out->why, sizeof(out->why), "%.*s", (int)strcspn(said, "\n"), said);
    if (out->why[0] == '\0')
        snprintf(out->why, sizeof(out->why), "it is linked statically, or damaged");
}

/* Lists a program; with_rpath: as it would start, else as one without DT_RPATH and DT_RUNPATH. */
static struct listing list(const char *program, bool with_rpath)
{
    const char *loader = NULL;
    struct listing out = {.works = false};
    struct child child;

    dl_iterate_phdr(find_loader, &loader);
    if (loader == NULL) {
        snprintf(out.why, sizeof(out.why), "this program has no dynamic loader to ask");
        return out;
    }
    char *plain[] = {(char *)loader, (char *)"--list", (char *)program, NULL};
    char *bare[] = {(char *)loader, (char *)"--inhibit-rpath", (char *)"", (char *)"--list", (char *)program, NULL};
    int error = child_exec(&child, with_rpath ? plain : bare);
    child_gather(&child, 1, LIST_LIMIT_MS);
    read_list(&child, &out);
    if (error != 0)
        snprintf(out.why, sizeof(out.why), "%s: %s", loader, strerror(error));
    out.works &= error == 0;
    child_free(&child);
    return out;
}

/* ---- judging ---- */

static bool is_ours(const char *library)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s", library);
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return pvmc_library_is_ours(*folder != '\0' ? folder : "/");
}

/* The folder of this dpvm's libraries, or "". */
static const char *own_folder(void)
{
    static char folder[PATH_MAX];
    char file[PATH_MAX];
    static const char *const places[] = {"../../lib", "..", "../../../lib"}; /* below the root */

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (snprintf(file, sizeof(file), "%s/%s", pvmc_config_root(), places[i]) < (int)sizeof(file) &&
            realpath(file, folder) != NULL && pvmc_library_is_ours(folder))
            return folder;
    return "";
}

/* Whether LD_LIBRARY_PATH leads there, so that it comes before what programs bring along. */
static bool is_by_variable(void)
{
    const char *path = getenv("LD_LIBRARY_PATH");

    return path != NULL && pvmc_library_first(path) == PVMC_LIBRARY_UNKNOWN;
}

static void judge_default(json_t *results, const struct listing *l)
{
    char cure[2 * PATH_MAX + 200];

    if (l->missing || *l->library == '\0')
        result_add(results, "library", SEVERITY_OK, "",
                   "the loader's own path has no " PVMC_LIBRARY "; programs from pvmcc bring theirs along");
    else if (is_ours(l->library))
        result_add(results, "library", SEVERITY_OK, "", "programs load %s, which is dpvm's", l->library);
    else if (is_by_variable())
        result_add(results, "library", SEVERITY_ERROR, "unset LD_LIBRARY_PATH, or take that folder out of it",
                   "LD_LIBRARY_PATH makes programs load %s, which is not dpvm's: they cannot contact the daemon",
                   l->library);
    else {
        snprintf(cure, sizeof(cure),
                 "build programs with pvmcc, start old ones with `pvm run`, or export "
                 "LD_LIBRARY_PATH=%s; `pvm doctor --program FILE` tells of one",
                 own_folder());
        result_add(results, "library", SEVERITY_WARNING, cure,
                   "programs without a path of their own load %s, which is not dpvm's, if started by hand", l->library);
    }
}

static void judge_program(json_t *results, const char *program)
{
    char cure[2 * PATH_MAX + 100], path[PATH_MAX]; /* with a slash, or the loader would search for it */

    if (realpath(program, path) == NULL || access(path, R_OK) != 0) {
        result_add(results, "program", SEVERITY_ERROR, "give the path of the program", "%s: %s", program,
                   strerror(errno));
        return;
    }
    struct listing l = list(path, true), bare = list(path, false);
    if (!l.works)
        result_add(results, "program", SEVERITY_ERROR, "give a program for this computer that is linked dynamically",
                   "%s: the loader cannot list it: %s", program, l.why);
    else if (l.missing) {
        snprintf(cure, sizeof(cure), "export LD_LIBRARY_PATH=%s, or start it with `pvm run`", own_folder());
        result_add(results, "program", SEVERITY_ERROR, cure, "%s finds no " PVMC_LIBRARY, program);
    } else if (*l.library == '\0')
        result_add(results, "program", SEVERITY_WARNING, "link it with pvmcc, if it is a program for PVM",
                   "%s loads no " PVMC_LIBRARY, program);
    else if (is_ours(l.library))
        result_add(results, "program", SEVERITY_OK, "", "%s loads %s, which is dpvm's", program, l.library);
    else if (bare.works && strcmp(bare.library, l.library) != 0) {
        snprintf(cure, sizeof(cure), "build it again with pvmcc, or set PVM_LIBRARIES=preload and use `pvm run`");
        result_add(results, "program", SEVERITY_ERROR, cure,
                   "%s names %s itself (DT_RPATH or DT_RUNPATH), and that is not dpvm's", program, l.library);
    } else {
        snprintf(cure, sizeof(cure), "build it with pvmcc, start it with `pvm run`, or export LD_LIBRARY_PATH=%s",
                 own_folder());
        result_add(results, "program", SEVERITY_ERROR, cure, "%s loads %s, which is not dpvm's", program, l.library);
    }
}

/*
 * Something that needs libpvm3 as programs do: our libgpvm3, or else this program. Other libraries that this needs may
 * have names of their own, as in a Python wheel, and are not found without its path.
 */
static void find_example(char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", own_folder(), EXAMPLE) < PATH_MAX && access(path, R_OK) == 0)
        return;
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
}

void probe_library(json_t *results)
{
    char example[PATH_MAX];

    find_example(example);
    struct listing l = list(example, false);
    if (l.works || l.missing)
        judge_default(results, &l);
    else
        result_add(results, "library", SEVERITY_WARNING, "try `ldd` on your program",
                   "cannot find out which " PVMC_LIBRARY " programs load: %s", l.why);
    if (library_program != NULL)
        judge_program(results, library_program);
}
