/* watch.c - see watch.h. */
#include "watch.h"
#include <stdbool.h>
#include <stdlib.h>
#include <utlist.h>
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "pvmd/net/rpc.h"
#include "tasks.h"
#include "pvmd/base/turn.h"

struct pvmd_watch {
    struct target *target;
    pvmd_watch_ended *ended;
    void *arg;
    struct pvmd_watch *prev, *next;
};

/* A task that we watch. */
struct target {
    pvmc_tid tid;
    struct pvmd_watch *watches;
    bool ended; /* in the list of targets whose watchers are being told */
    struct target *prev, *next;
    UT_hash_handle hh;
};

/* A task of ours that daemons watch. */
struct watched {
    pvmc_tid tid;
    unsigned *hosts;
    size_t count;
    UT_hash_handle hh;
};

static struct target *targets, *ended_targets;
static struct watched *watched_tasks;

static struct target *target_of(pvmc_tid tid)
{
    struct target *t;
    HASH_FIND_INT(targets, &tid, t);
    return t;
}

/* ---- watches ---- */

static bool is_telling;

static void forget_target(struct target *t)
{
    DL_DELETE(ended_targets, t);
    HASH_DEL(targets, t);
    free(t);
}

static void tell_first(struct target *t)
{
    struct pvmd_watch *w = t->watches;
    DL_DELETE(t->watches, w);
    w->target = NULL;
    w->ended(w->arg, t->tid);
    free(w);
}

/* A listener may begin watches of the same task and cancel others, so the list is read again each time. */
static bool tell_some(void)
{
    is_telling = true;
    while (ended_targets) {
        struct target *t = ended_targets;
        if (t->watches)
            tell_first(t);
        if (!t->watches)
            forget_target(t);
        if (pvmd_turn_is_long())
            break;
    }
    is_telling = false;
    return ended_targets;
}

static struct pvmd_work telling = {.step = tell_some};

static void target_ended(pvmc_tid tid)
{
    struct target *t = target_of(tid);
    if (!t || t->ended)
        return;
    t->ended = true;
    DL_APPEND(ended_targets, t);
    if (!is_telling && !pvmd_work_is_due(&telling) && tell_some())
        pvmd_work_begin(&telling);
}

static void watch_answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)host_index;
    (void)body;
    if (code < 0)
        target_ended((pvmc_tid)(uintptr_t)arg);
}

static struct target *new_target(pvmc_tid tid)
{
    struct target *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->tid = tid;
    if (!PVMC_HASH_ADD(hh, targets, tid, t)) {
        free(t);
        return NULL;
    }
    return t;
}

static void ask_for(pvmc_tid tid)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, tid);
    pvmd_ask(pvmc_tid_host_index(tid), PVMD_DM_WATCH, &b, watch_answered, (void *)(uintptr_t)tid);
    pvmc_buf_free(&b);
}

struct pvmd_watch *pvmd_watch(pvmc_tid tid, pvmd_watch_ended *ended, void *arg)
{
    struct target *t = target_of(tid);
    bool known = t;
    if (!t)
        t = new_target(tid);
    struct pvmd_watch *w = t ? calloc(1, sizeof *w) : NULL;
    if (!w) {
        pvmc_log(PVMC_LOG_ERROR, "no memory to watch t%x", tid);
        return NULL;
    }
    w->target = t;
    w->ended = ended;
    w->arg = arg;
    DL_APPEND(t->watches, w);
    if (!known)
        ask_for(tid);
    return w;
}

/* The target stays until it ends, since its daemon tells us only once. */
void pvmd_watch_cancel(struct pvmd_watch *w)
{
    if (!w || !w->target)
        return;
    DL_DELETE(w->target->watches, w);
    free(w);
}

void pvmd_watch_list(void (*each)(pvmc_tid tid, unsigned count))
{
    for (struct target *t = targets; t; t = t->hh.next) {
        struct pvmd_watch *w;
        unsigned n = 0;
        DL_COUNT(t->watches, w, n);
        each(t->tid, n);
    }
}

/* ---- telling others ---- */

static int add_host(struct watched *w, unsigned host)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->hosts[i] == host)
            return 0;
    unsigned *hosts = realloc(w->hosts, (w->count + 1) * sizeof *hosts);
    if (!hosts)
        return PVMC_ENOMEM;
    w->hosts = hosts;
    w->hosts[w->count++] = host;
    return 0;
}

static int note_watcher(pvmc_tid tid, unsigned host)
{
    struct watched *w;
    HASH_FIND_INT(watched_tasks, &tid, w);
    if (!w) {
        w = calloc(1, sizeof *w);
        if (!w)
            return PVMC_ENOMEM;
        w->tid = tid;
        if (!PVMC_HASH_ADD(hh, watched_tasks, tid, w)) {
            free(w);
            return PVMC_ENOMEM;
        }
    }
    return add_host(w, host);
}

static int answer_watch(const struct pvmd_question *q, struct pvmc_buf *body)
{
    pvmc_tid tid = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    rc = pvmd_task_by_tid(tid) ? note_watcher(tid, q->host_index) : PvmNoTask;
    pvmd_answer(q, pvmc_error_public(rc), NULL);
    return 0;
}

static void forget_watched(struct watched *w)
{
    HASH_DEL(watched_tasks, w);
    free(w->hosts);
    free(w);
}

void pvmd_watch_task_ended(const struct pvmd_task *task)
{
    struct watched *w;
    HASH_FIND_INT(watched_tasks, &task->tid, w);
    if (!w)
        return;
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, task->tid);
    for (size_t i = 0; i < w->count; i++)
        pvmd_ask(w->hosts[i], PVMD_DM_TASK_ENDED, &b, NULL, NULL);
    pvmc_buf_free(&b);
    forget_watched(w);
}

static int task_ended(const struct pvmd_question *q, struct pvmc_buf *body)
{
    (void)q;
    pvmc_tid tid = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (!rc)
        target_ended(tid);
    return rc;
}

/* ---- hosts that leave, start and end ---- */

static void remove_host(struct watched *w, unsigned index)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->hosts[i] == index)
            w->hosts[i--] = w->hosts[--w->count];
}

/* Collects the tids first, since listeners may change the table. */
static pvmc_tid *targets_of_host(unsigned index, size_t *count)
{
    *count = 0;
    pvmc_tid *tids = malloc((HASH_COUNT(targets) + 1) * sizeof *tids);
    for (struct target *t = targets; tids && t; t = t->hh.next)
        if (pvmc_tid_host_index(t->tid) == index)
            tids[(*count)++] = t->tid;
    return tids;
}

void pvmd_watch_host_left(unsigned index)
{
    struct watched *w, *next;
    HASH_ITER (hh, watched_tasks, w, next)
        remove_host(w, index);
    size_t count;
    pvmc_tid *tids = targets_of_host(index, &count);
    for (size_t i = 0; i < count; i++)
        target_ended(tids[i]);
    free(tids);
}

void pvmd_watch_start(void)
{
    pvmd_dm_handle(PVMD_DM_WATCH, answer_watch);
    pvmd_dm_handle(PVMD_DM_TASK_ENDED, task_ended);
}

void pvmd_watch_stop(void)
{
    pvmd_work_stop(&telling);
    ended_targets = NULL;
    struct target *t, *next_target;
    HASH_ITER (hh, targets, t, next_target) {
        struct pvmd_watch *w, *next;
        DL_FOREACH_SAFE (t->watches, w, next)
            free(w);
        HASH_DEL(targets, t);
        free(t);
    }
    struct watched *w, *next;
    HASH_ITER (hh, watched_tasks, w, next)
        forget_watched(w);
}
