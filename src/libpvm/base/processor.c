/*
 * processor.c - see processor.h. The kernel offers no call for it: the thread forbids itself its own processor, which
 * moves it at once, and allows it again.
 */
#include "processor.h"
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#include "core/clock.h"

#define FEW_YIELDS  64   /* in a row, all taken, before the first look for an idle processor */
#define MANY_YIELDS 4096 /* the same after looks that found none */

/* How many threads of the host run or want to; INT_MAX: not known. */
static int runnable(void)
{
    char text[128];
    int n, fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return INT_MAX;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    return sscanf(text, "%*s %*s %*s %d/", &n) == 1 ? n : INT_MAX;
}

/* Whether no more threads want to run than there are processors. */
static bool suffice(const cpu_set_t *allowed)
{
    return runnable() <= CPU_COUNT(allowed);
}

/* At least two threads run here. If the processors suffice for all, another one is idle. */
static bool another_is_idle(const cpu_set_t *allowed)
{
    return CPU_COUNT(allowed) > 1 && suffice(allowed);
}

/* If all processors are allowed, those that are added later are allowed, too. */
static bool leave(const cpu_set_t *allowed)
{
    cpu_set_t others = *allowed, all;
    int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE)
        return false;
    CPU_CLR(here, &others);
    memset(&all, 0xff, sizeof all);
    if (CPU_COUNT(allowed) == get_nprocs())
        allowed = &all;
    return !sched_setaffinity(0, sizeof others, &others) && !sched_setaffinity(0, sizeof *allowed, allowed);
}

/* Without signals: the program may jump out of its handlers, and would keep half of the change. */
static bool look_and_leave(void)
{
    sigset_t all, before;
    cpu_set_t allowed;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool moved = !sched_getaffinity(0, sizeof allowed, &allowed) && another_is_idle(&allowed) && leave(&allowed);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return moved;
}

bool pvmi_processor_is_spare(void)
{
    sigset_t all, before;
    cpu_set_t allowed;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool spare = !sched_getaffinity(0, sizeof allowed, &allowed) && suffice(&allowed);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return spare;
}

void pvmi_processor_yielded(bool taken)
{
    static _Thread_local unsigned in_a_row, pause = FEW_YIELDS, due = FEW_YIELDS;
    in_a_row = taken ? in_a_row + 1 : 0;
    if (in_a_row < due)
        return;
    in_a_row = 0;
    bool moved = look_and_leave();
    pause = moved ? FEW_YIELDS : pause < MANY_YIELDS ? 2 * pause : MANY_YIELDS;
    due = pause + (unsigned)pvmc_clock_ns() % pause; /* or the other task would leave at the same time */
}
