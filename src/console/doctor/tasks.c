/* tasks.c - see tasks.h. A task counts as waiting only after a while: messages may be on their way. */
#include "tasks.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "console/child.h"
#include "core/hash.h"
#include "result.h"
#include "dpvm.h"
#include "pvm3.h"

#define NAME "tasks"

enum { ANSWER_LIMIT_MS = 2000, WAIT_S = 5, CIRCLE_TEXT = 512, TOLD_MAX = 20 };

struct waiter {
    int tid;
    const struct pvmtaskusage *task;
    unsigned seen; /* number of the walk that has come here; 0: none */
    UT_hash_handle hh;
};

static struct waiter *all;
static bool complete; /* all hosts have answered */
static int told;      /* warnings */

static struct waiter *find(int tid)
{
    struct waiter *w;

    HASH_FIND_INT(all, &tid, w);
    return w;
}

static bool waits(const struct pvmtaskusage *t)
{
    return t->tu_does >= PvmDoesReceive && t->tu_waits_us >= WAIT_S * 1000000LL;
}

static int seconds(const struct pvmtaskusage *t)
{
    return (int)(t->tu_waits_us / 1000000);
}

/* The task that it waits for, and that could end the wait; NULL: none in particular, or it is not there. */
static struct waiter *next(const struct waiter *w)
{
    bool for_one = waits(w->task) && (w->task->tu_does == PvmDoesReceive || w->task->tu_does == PvmDoesSend);

    return for_one && w->task->tu_peer > 0 ? find(w->task->tu_peer) : NULL;
}

/* ---- what is wrong ---- */

/* A message from a task that has ended will not come. */
static void judge_sender(json_t *results, const struct pvmtaskusage *t)
{
    char cure[256];

    if (t->tu_does != PvmDoesReceive || t->tu_peer <= 0 || !complete || find(t->tu_peer) != NULL)
        return;
    snprintf(cure, sizeof(cure),
             "end it: pvm kill t%x. A program that must survive the end of others asks for notices, see pvm_notify(3)",
             (unsigned)t->tu_tid);
    result_add(results, NAME, SEVERITY_WARNING, cure, "t%x has waited for %d s for a message from t%x, which has ended",
               (unsigned)t->tu_tid, seconds(t), (unsigned)t->tu_peer);
    told++;
}

static void judge_receiver(json_t *results, const struct pvmtaskusage *t)
{
    const struct waiter *receiver = t->tu_peer > 0 ? find(t->tu_peer) : NULL;

    if (t->tu_does != PvmDoesSend || receiver == NULL)
        return;
    long long bytes = receiver->task->tu_queue_bytes + receiver->task->tu_waiting_bytes;
    result_add(results, NAME, SEVERITY_WARNING,
               "see what the receiver does with `pvm top`; a sender goes on when that receives, or when it ends",
               "t%x has waited for %d s to send to t%x, which does not receive (%lld bytes wait for it)",
               (unsigned)t->tu_tid, seconds(t), (unsigned)t->tu_peer, bytes);
    told++;
}

/* Walks from task to task that is waited for. Each circle is told once, by the first walk that comes to it. */
static void judge_circle(json_t *results, struct waiter *from, unsigned walk)
{
    char text[CIRCLE_TEXT] = "";
    struct waiter *w = from;
    int n = 0, count = 0;

    while (w != NULL && w->seen == 0) {
        w->seen = walk;
        w = next(w);
    }
    if (w == NULL || w->seen != walk)
        return;
    const struct waiter *start = w;
    do {
        if (n < CIRCLE_TEXT)
            n += snprintf(text + n, (size_t)(CIRCLE_TEXT - n), "%st%x", count > 0 ? ", " : "", (unsigned)w->tid);
        count++;
        w = next(w);
    } while (w != start);
    result_add(results, NAME, SEVERITY_WARNING,
               "compare the order of their sends and receives; `pvm top` shows what each waits for",
               count > 1 ? "%s wait for each other" : "%s waits for itself", text);
    told++;
}

/* ---- the examination ---- */

static int collect(struct pvmhostusage *hosts, int count)
{
    int tasks = 0;

    for (int i = 0; i < count; i++)
        for (int j = 0; j < hosts[i].hu_ntask; j++) {
            struct waiter *w = calloc(1, sizeof(*w));
            if (w == NULL)
                return tasks;
            w->task = &hosts[i].hu_tasks[j];
            w->tid = w->task->tu_tid;
            if (!PVMC_HASH_ADD(hh, all, tid, w))
                return tasks;
            tasks++;
        }
    return tasks;
}

static void judge_all(json_t *results, int hosts, int tasks)
{
    unsigned walk = 0;

    for (struct waiter *w = all; w != NULL && told < TOLD_MAX; w = w->hh.next) {
        judge_circle(results, w, ++walk);
        if (!waits(w->task))
            continue;
        judge_sender(results, w->task);
        judge_receiver(results, w->task);
    }
    if (told == 0) /* this process is one of them */
        result_add(results, NAME, SEVERITY_OK, "", "%d on %d host%s; none waits for what cannot come", tasks - 1, hosts,
                   hosts == 1 ? "" : "s");
}

static void examine(void *arg)
{
    struct pvmhostusage *hosts;
    json_t *results = json_array();
    int count, members;

    (void)arg;
    unsetenv("PVM_TRACE");
    pvm_setopt(PvmAutoErr, 0);
    pvm_setopt(PvmRoute, PvmDontRoute); /* to stay out of a simulated network */
    if (pvm_usage(0, &count, &hosts) != PvmOk || pvm_config(&members, NULL, NULL) != PvmOk)
        _exit(EXIT_FAILURE);
    complete = count == members;
    judge_all(results, count, collect(hosts, count));
    json_dumpf(results, stdout, JSON_COMPACT);
    fflush(stdout);
    pvm_exit();
}

void tasks_judge(json_t *results)
{
    struct child child;
    int error = child_call(&child, examine, NULL);

    child_gather(&child, 1, ANSWER_LIMIT_MS);
    json_t *found = json_loads(child_text(&child, CHILD_OUT), 0, NULL);
    if (found != NULL)
        result_add_foreign(results, found);
    else if (error == 0)
        result_add(results, NAME, SEVERITY_WARNING, "look for the host with `pvm top`, or `pvm doctor HOST`",
                   "not all hosts of the machine answer");
    json_decref(found);
    child_free(&child);
}
