/* live.c - see live.h. A process of its own enrols as a task, since the daemon may hang; nothing else is looked at. */
#include "live.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "console/child.h"
#include "console/console.h"
#include "core/error.h"
#include "core/log.h"
#include "core/place/address.h"
#include "pvm3.h"

enum { ANSWER_LIMIT_MS = 1500, EXIT_REFUSED = 1, EXIT_NO_MEMBER = 2 };

enum live live_of_word(const char *word)
{
    if (word == NULL || strcmp(word, "member") == 0)
        return LIVE_MEMBER;
    return strcmp(word, "joining") == 0 ? LIVE_JOINING : LIVE_NOT;
}

/* ---- in a process of its own ---- */

static void drop_line(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

/* Prints the number of hosts if the daemon's own host is one of them. */
static void ask(void *arg)
{
    struct pvmhostinfo *hosts;
    int host_count = 0;

    (void)arg;
    unsetenv("PVM_TRACE");
    pvmc_log_to(drop_line, NULL, PVMC_LOG_ERROR);
    pvm_setopt(PvmAutoErr, 0);
    pvm_setopt(PvmRoute, PvmDontRoute); /* to stay out of a simulated network */
    int host = pvm_tidtohost(pvm_mytid());
    if (host < 0 || pvm_config(&host_count, NULL, &hosts) < 0)
        _exit(EXIT_REFUSED);
    bool is_member = false;
    for (int i = 0; i < host_count; i++)
        is_member = is_member || hosts[i].hi_tid == host;
    printf("%d host%s", host_count, host_count == 1 ? "" : "s");
    fflush(stdout);
    pvm_exit();
    _exit(is_member ? 0 : EXIT_NO_MEMBER);
}

/* ---- outside ---- */

static int judge(const struct child *child, const char *text)
{
    bool has_ended = !child->late && WIFEXITED(child->status);
    int code = has_ended ? WEXITSTATUS(child->status) : EXIT_REFUSED;

    if (code == 0) {
        printf("the daemon answers: %s\n", text);
        return CONSOLE_OK;
    }
    advise("pvm doctor: %s", child->late              ? "the daemon does not answer"
                             : code == EXIT_NO_MEMBER ? "the daemon's host is not a member yet"
                                                      : "the daemon refuses tasks");
    return CONSOLE_FAILED;
}

static int judge_listener(void)
{
    struct child child;
    int error = child_call(&child, ask, NULL), code = CONSOLE_FAILED;

    if (error != 0)
        advise("pvm doctor: cannot ask the daemon: %s", strerror(error));
    else {
        child_gather(&child, 1, ANSWER_LIMIT_MS);
        code = judge(&child, child_text(&child, CHILD_OUT));
    }
    child_free(&child);
    return code;
}

int live_check(enum live wanted)
{
    char path[PVMC_ADDRESS_PATH_BYTES], why[2 * PVMC_ADDRESS_PATH_BYTES + 256];
    int rc = pvmc_address_find(path, why, sizeof(why));
    bool listens = rc == 0 && pvmc_address_listener(path) != 0;

    if (listens)
        return judge_listener();
    if ((rc == 0 || rc == PVMC_EUNREACHABLE) && wanted == LIVE_JOINING) {
        puts("no daemon listens yet");
        return CONSOLE_OK;
    }
    advise("pvm doctor: %s", rc == 0 ? "no daemon listens at its socket: it was killed" : why);
    return CONSOLE_FAILED;
}
