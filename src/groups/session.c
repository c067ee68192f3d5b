#include "session.h"
#include <pthread.h>
#include <utlist.h>
#include "group.h"
#include "gserver.h"
#include "name.h"
#include "libpvm/base/task.h"
#include "pvm3.h"
#include "groups/collectives/barrier.h"
#include "groups/collectives/traffic.h"

enum { DEPTH_MAX = 8, CALLS_MAX = 16 };

/* Depths in use by running calls, nested or in several threads. An exclusive call takes depth 0. */
static bool taken[DEPTH_MAX];

static const void *exclusive_thread;    /* runs the exclusive call; NULL: none runs */
static struct pvmg_guard *queue;        /* exclusive calls that wait */
static _Thread_local int nested, depth; /* calls of this thread; depth of the innermost */

/* The calls of this thread, outermost first. Not on the stack: the program may jump out of them. */
static _Thread_local struct {
    struct pvmg_guard guard;
    unsigned level; /* pvmi_jump_level() */
} calls[CALLS_MAX];

int pvmg_session_depth(void)
{
    return depth;
}

static int free_depth(void)
{
    int i = queue != NULL; /* the queue waits for depth 0 */

    while (i < DEPTH_MAX && taken[i])
        i++;
    return i;
}

static bool has_free_depth(void *arg)
{
    (void)arg;
    return free_depth() < DEPTH_MAX;
}

static int take_depth(struct pvmg_guard *guard)
{
    int i;

    while ((i = free_depth()) == DEPTH_MAX) {
        int code = nested > 1 ? PvmAlready : pvmi_lock_wait(has_free_depth, NULL);
        if (code < 0)
            return code;
    }
    taken[i] = true;
    guard->depth = depth = i;
    return PvmOk;
}

static bool may_run_exclusive(void *arg)
{
    return !exclusive_thread && !taken[0] && queue == arg;
}

/* First come, first served: otherwise a thread that calls in a loop would starve the others. */
static int wait_in_queue(struct pvmg_guard *guard)
{
    int code;

    LL_APPEND(queue, guard);
    code = pvmi_lock_wait(may_run_exclusive, guard);
    LL_DELETE(queue, guard);
    pvmi_lock_tell();
    return code;
}

static int begin_exclusive(struct pvmg_guard *guard)
{
    int code;

    if (nested > 1)
        return PvmAlready;
    code = exclusive_thread || taken[0] || queue ? wait_in_queue(guard) : PvmOk;
    if (code < 0)
        return code;
    exclusive_thread = pvmi_lock_self();
    guard->exclusive = true;
    guard->depth = depth = 0;
    taken[0] = true;
    return PvmOk;
}

/* In a forked child: drops the calls of other threads, which do not exist here. */
static void forget_others(void)
{
    if (exclusive_thread != pvmi_lock_self())
        exclusive_thread = NULL;
    queue = NULL;
    for (int i = 0; i < DEPTH_MAX && !nested; i++)
        taken[i] = false;
}

/* Records the state of the innermost call for undo(). */
static void note(const struct pvmg_guard *guard)
{
    if (nested > CALLS_MAX)
        return;
    calls[nested - 1].guard = *guard;
    calls[nested - 1].level = pvmi_jump_level();
}

static void end_call(const struct pvmg_guard *guard)
{
    nested--;
    if (guard->depth >= 0)
        taken[guard->depth] = false;
    if (guard->exclusive)
        exclusive_thread = NULL;
    depth = guard->outer_depth;
    pvmi_lock_tell();
}

/* Called by libpvm3 when the program has jumped out of calls of this level and above. */
static void undo(unsigned level)
{
    pvmg_barrier_left(level);
    while (nested > CALLS_MAX)
        nested--;
    if (!nested || calls[nested - 1].level < level)
        return;
    pvmg_traffic_left();
    pvmg_gserver_left();
    while (nested && calls[nested - 1].level >= level) {
        struct pvmg_guard *guard = &calls[nested - 1].guard;
        end_call(guard);
        pvmg_guard_undo(guard);
    }
}

__attribute__((constructor)) static void prepare(void)
{
    pvmi_jump_watch(undo);
    pthread_atfork(NULL, NULL, forget_others);
}

static int known; /* our tid in the last call, or 0 */

bool pvmg_session_is_idle(void)
{
    return !nested && !exclusive_thread && !queue && known && pvmi_task_is(known);
}

/* All state belongs to one enrolment: after pvm_exit() the task gets a new tid. */
static int check_identity(void)
{
    int tid = pvm_mytid();

    if (tid < 0 || tid == known)
        return tid;
    if (known) {
        pvmg_traffic_restart();
        pvmg_group_forget_all();
        pvmg_gserver_forget();
    }
    known = tid;
    return tid;
}

int pvmg_session_begin(struct pvmg_guard *guard, const char *group, int exclusive)
{
    int code = pvmg_name_check(group);

    pvmg_guard_enter(guard, PVMG_GROUP_CTX_SERVER);
    nested++;
    guard->outer_depth = depth;
    guard->depth = -1;
    guard->exclusive = false;
    note(guard);
    if (code >= 0)
        code = exclusive ? begin_exclusive(guard) : take_depth(guard);
    note(guard);
    if (code >= 0)
        code = check_identity();
    return code < 0 ? code : pvmg_traffic_start();
}

int pvmg_session_end(struct pvmg_guard *guard, int code)
{
    end_call(guard);
    pvmg_guard_leave(guard);
    return pvmg_guard_result(code);
}
