/* daemon.c - whether this user's daemon runs here, answers, and is of this version. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "console/child.h"
#include "core/config.h"
#include "core/error.h"
#include "core/place/address.h"
#include "core/version.h"
#include "probe.h"
#include "result.h"
#include "tasks.h"
#include "pvm3.h"

enum { ANSWER_LIMIT_MS = 2000, LOG_HEAD_BYTES = 65536, EXIT_REFUSED = 1 };

/* ---- its version ---- */

/* The version that the head of a log names in the line "... dpvm VERSION, PVM 3.4.6". */
static bool version_in(const char *path, char version[32])
{
    static char head[LOG_HEAD_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof(head) - 1) : -1;

    if (fd >= 0)
        close(fd);
    head[n > 0 ? n : 0] = '\0';
    const char *at = strstr(head, " dpvm "), *end = at != NULL ? strstr(at, ", PVM ") : NULL;
    return end != NULL && sscanf(at, " dpvm %31[^, \n]", version) == 1;
}

/* The running daemon began its log with its version; a full log was renamed. */
static bool logged_version(char version[32])
{
    char path[PATH_MAX], old[PATH_MAX + 4];

    if (pvmc_config_daemon_file("pvml", path, sizeof(path)) != 0)
        return false;
    snprintf(old, sizeof(old), "%s.old", path);
    return version_in(path, version) || version_in(old, version);
}

/* ---- whether it answers ---- */

/* Enrols as a task and leaves again. */
static void greet(void *arg)
{
    (void)arg;
    unsetenv("PVM_TRACE");
    pvm_setopt(PvmAutoErr, 1);
    pvm_setopt(PvmRoute, PvmDontRoute); /* to stay out of a simulated network */
    int tid = pvm_mytid();
    if (tid < 0)
        _exit(EXIT_REFUSED);
    pvm_exit();
}

/* The first line that libpvm printed, without its prefix. */
static void first_words(const char *text, char *words, size_t size)
{
    const char *start = strstr(text, ": ");

    start = start != NULL && start < strchrnul(text, '\n') ? start + 2 : text;
    snprintf(words, size, "%.*s", (int)strcspn(start, "\n"), start);
}

static void judge_answer(json_t *results, pid_t pid)
{
    struct child child;
    char words[512], version[32] = "", cure[128];

    int error = child_call(&child, greet, NULL);
    child_gather(&child, 1, ANSWER_LIMIT_MS);
    first_words(child_text(&child, CHILD_ERR), words, sizeof(words));
    snprintf(cure, sizeof(cure), "continue or end it: kill -CONT %d; or kill -9 %d, then `pvm` starts another",
             (int)pid, (int)pid);
    if (error != 0)
        result_add(results, "daemon", SEVERITY_WARNING, "end other programs", "cannot ask the daemon: %s",
                   strerror(error));
    else if (child.late)
        result_add(results, "daemon", SEVERITY_ERROR, cure, "the daemon (process %d) does not answer", (int)pid);
    else if (!WIFEXITED(child.status) || WEXITSTATUS(child.status) != 0)
        result_add(results, "daemon", SEVERITY_ERROR,
                   "halt it and start this one's: `pvm halt` with the pvm that started it, then `pvm`",
                   "the daemon (process %d) refuses tasks of dpvm %s: %s", (int)pid, pvmc_version, words);
    else if (logged_version(version) && strcmp(version, pvmc_version) != 0)
        result_add(results, "daemon", SEVERITY_WARNING, "`pvm halt`, then `pvm` starts the new one",
                   "the daemon that runs (process %d) is dpvm %s, and this is dpvm %s", (int)pid, version,
                   pvmc_version);
    else
        result_add(results, "daemon", SEVERITY_OK, "", "runs (process %d) and answers%s%s", (int)pid,
                   *version != '\0' ? "; dpvm " : "", version);
    if (error == 0 && !child.late && WIFEXITED(child.status) && WEXITSTATUS(child.status) == 0)
        tasks_judge(results);
    child_free(&child);
}

/* A daemon of dpvm holds a lock on its address file; PVM 3.4's does not. */
static bool holds_lock(void)
{
    char file[PATH_MAX];
    int fd = pvmc_config_daemon_file("pvmd", file, sizeof(file)) == 0
                 ? open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                 : -1;
    bool locked = fd < 0 || (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK);

    if (fd >= 0)
        close(fd);
    return locked;
}

static void judge_listener(json_t *results, const char *path, char *why, size_t size)
{
    char cure[PATH_MAX + 64], file[PATH_MAX] = "";
    pid_t pid = pvmc_address_listener(path);

    pvmc_config_daemon_file("pvmd", file, sizeof(file));
    if (pid == 0) {
        pvmc_address_explain_stale(path, why, size);
        snprintf(cure, sizeof(cure), "`pvm` starts a daemon, which replaces it; or rm %s", file);
        why[strcspn(why, ";")] = '\0';
        result_add(results, "daemon", SEVERITY_WARNING, cure, "%s is stale: %s", file, why);
    } else if (*pvmc_config_text(PVMC_SETTING_SOCK) == '\0' && !holds_lock())
        result_add(results, "daemon", SEVERITY_ERROR,
                   "halt it with its own console (Debian: echo halt | /usr/bin/pvm), or set PVM_TMP to another folder",
                   "a daemon of PVM 3.4 runs here (process %d, named by %s): programs of dpvm cannot use it", (int)pid,
                   file);
    else
        judge_answer(results, pid);
}

void probe_daemon(json_t *results)
{
    char path[PVMC_ADDRESS_PATH_BYTES], why[2 * PVMC_ADDRESS_PATH_BYTES + 256], file[PATH_MAX], cure[PATH_MAX + 64];
    struct stat st;
    int rc = pvmc_address_find(path, why, sizeof(why));

    if (pvmc_config_daemon_file("pvmd", file, sizeof(file)) != 0)
        snprintf(file, sizeof(file), "the address file");
    bool is_there = lstat(file, &st) == 0 || *pvmc_config_text(PVMC_SETTING_SOCK) != '\0';
    snprintf(cure, sizeof(cure), "`pvm` starts a daemon, which replaces it; or rm %s", file);
    if (rc == 0)
        judge_listener(results, path, why, sizeof(why));
    else if (rc == PVMC_EUNREACHABLE && !is_there)
        result_add(results, "daemon", SEVERITY_OK, "", "none runs here; `pvm` starts one");
    else if (rc == PVMC_EUNREACHABLE) {
        why[strcspn(why, ";")] = '\0';
        result_add(results, "daemon", SEVERITY_WARNING, cure, "%s", why);
    } else
        result_add_why(results, "daemon", SEVERITY_ERROR, why);
}
