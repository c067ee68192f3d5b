/* trial.c - runs a command on another host in the way the daemon does. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include "core/visible.h"
#include "console/child.h"
#include "console/console.h"
#include "console/progress.h"
#include "cure.h"
#include "trial.h"

enum { LIMIT_MS = 10000, CONNECT_LIMIT_S = 5 };

/* Runs argv and reads its output. 0: it ended; PvmSysErr: it could not be started (errno); PvmHostFail: timed out. */
static int run_trial(char *const argv[], char *text, size_t size)
{
    struct child child;
    int error = child_exec(&child, argv);

    child_gather(&child, 1, LIMIT_MS);
    snprintf(text, size, "%s%s", child_text(&child, CHILD_OUT), child_text(&child, CHILD_ERR));
    bool late = child.late;
    child_free(&child);
    errno = error;
    return error != 0 ? PvmSysErr : late ? PvmHostFail : 0;
}

/* The first line of text that is not empty, terminated in place. */
static const char *first_line(char *text)
{
    text += strspn(text, "\r\n ");
    text[strcspn(text, "\r\n")] = '\0';
    return *text != '\0' ? text : "(no message)";
}

/* The remedy for the result of a trial. */
static const char *find_cure(int code, const char *text, const char *launcher)
{
    static char line[PATH_MAX + 64];
    const char *known = cure_find(text);

    if (code == PvmSysErr)
        return "install ssh (Debian: openssh-client), or set PVM_RSH to another command";
    if (strstr(text, "dpvm-found") != NULL)
        return "see the log pvml.UID in PVM_TMP on %s; a firewall must let pvmd's ports through (PVMNETSOCKPORT sets "
               "them)";
    if (strstr(text, "dpvm-reached") != NULL)
        return "install dpvm on %s, or give the path of its pvmd3: add '%s dx=PATH', or set PVM_DPATH";
    if (code != PvmHostFail && known != NULL)
        return known;
    snprintf(line, sizeof(line), "`%s %%s true` must work without a prompt", launcher);
    return line;
}

void trial_host(const char *launcher, const struct target *t)
{
    char path[PATH_MAX], command[PATH_MAX + 128], text[4096];
    struct target_command line;

    target_daemon_path(t, path, sizeof(path));
    snprintf(command, sizeof(command), "echo dpvm-reached; command -v \"%s\" && echo dpvm-found", path);
    target_command(&line, t, launcher, CONNECT_LIMIT_S, command);
    advise("%s: trying \"%s\" ...", t->host, launcher);
    progress_begin("waiting for %s", t->host);
    int code = run_trial(line.argv, text, sizeof(text));
    progress_end();
    if (code == PvmSysErr)
        advise("%s: %s cannot be run: %s", t->host, line.argv[0], strerror(errno));
    else if (code != PvmHostFail && strstr(text, "dpvm-reached") == NULL)
        advise("%s: answer: %s", t->host, PVMC_VISIBLE(first_line(text)));
    cure_print(find_cure(code, text, launcher), t->host);
}
