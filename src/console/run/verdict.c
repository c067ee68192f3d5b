/* verdict.c - see verdict.h. */
#include "verdict.h"
#include <string.h>
#include <sys/wait.h>
#include "console/commands/host.h"
#include "console/console.h"

static int worst;
static bool closed;

static const char *host_of(int tid)
{
    int n, formats;
    const struct pvmhostinfo *hosts = host_list(&n, &formats);

    return host_name(hosts, n, pvm_tidtohost(tid));
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? RUN_SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

void run_verdict_take(int tid, int status)
{
    int code = code_of(status);

    if (code == 0 || closed)
        return;
    if (WIFSIGNALED(status))
        advise("pvm run: t%x on %s: killed by signal %d (%s%s)", (unsigned)tid, host_of(tid), WTERMSIG(status),
               strsignal(WTERMSIG(status)), WCOREDUMP(status) ? ", core dumped" : "");
    else
        advise("pvm run: t%x on %s: exit code %d", (unsigned)tid, host_of(tid), code);
    if (code > worst)
        worst = code;
}

void run_verdict_close(void)
{
    closed = true;
}

bool run_verdict_failed(void)
{
    return worst > 0;
}

int run_verdict_code(void)
{
    return worst;
}
