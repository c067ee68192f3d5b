#include "session.h"
#include <pthread.h>
#include <utlist.h>
#include "group.h"
#include "gserver.h"
#include "name.h"
#include "pvm3.h"
#include "traffic.h"

enum { DEPTH_MAX = 8, CALLS_MAX = 16 };

/* Depths of the calls that run, one inside the other or in several threads; 0 for that which runs alone. */
static bool taken[DEPTH_MAX];

static const void *alone_runs;          /* the thread; NULL: no such call runs */
static struct pvmi_guard *queue;        /* calls that wait for that */
static _Thread_local int nested, depth; /* calls of this thread; depth of the innermost */

/* The calls of this thread, outermost first. Not on the stack: the program may jump out of them. */
static _Thread_local struct {
    struct pvmi_guard guard;
    unsigned level; /* pvmi_jump_level() */
} calls[CALLS_MAX];

int pvmi_session_depth(void)
{
    return depth;
}

static int free_depth(void)
{
    int i = queue != NULL; /* which waits for depth 0 */

    while (i < DEPTH_MAX && taken[i])
        i++;
    return i;
}

static bool has_free_depth(void *arg)
{
    (void)arg;
    return free_depth() < DEPTH_MAX;
}

static int take_depth(struct pvmi_guard *guard)
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

static bool may_run_alone(void *arg)
{
    return !alone_runs && !taken[0] && queue == arg;
}

/* In the order in which they came, else a thread that calls again and again would keep the others out. */
static int wait_in_queue(struct pvmi_guard *guard)
{
    int code;

    LL_APPEND(queue, guard);
    code = pvmi_lock_wait(may_run_alone, guard);
    LL_DELETE(queue, guard);
    pvmi_lock_tell();
    return code;
}

static int begin_alone(struct pvmi_guard *guard)
{
    int code;

    if (nested > 1)
        return PvmAlready;
    code = alone_runs || taken[0] || queue ? wait_in_queue(guard) : PvmOk;
    if (code < 0)
        return code;
    alone_runs = pvmi_lock_self();
    guard->alone = true;
    guard->depth = depth = 0;
    taken[0] = true;
    return PvmOk;
}

/* In a forked child: calls of other threads have no end. */
static void forget_others(void)
{
    if (alone_runs != pvmi_lock_self())
        alone_runs = NULL;
    queue = NULL;
    for (int i = 0; i < DEPTH_MAX && !nested; i++)
        taken[i] = false;
}

/* The innermost call has got so far. */
static void note(const struct pvmi_guard *guard)
{
    if (nested > CALLS_MAX)
        return;
    calls[nested - 1].guard = *guard;
    calls[nested - 1].level = pvmi_jump_level();
}

static void end_call(const struct pvmi_guard *guard)
{
    nested--;
    if (guard->depth >= 0)
        taken[guard->depth] = false;
    if (guard->alone)
        alone_runs = NULL;
    depth = guard->outer_depth;
    pvmi_lock_tell();
}

/* The program has jumped out of calls of that level and above. Called by libpvm3. */
static void undo(unsigned level)
{
    while (nested > CALLS_MAX)
        nested--;
    if (!nested || calls[nested - 1].level < level)
        return;
    pvmi_traffic_left();
    pvmi_gserver_left();
    while (nested && calls[nested - 1].level >= level) {
        struct pvmi_guard *guard = &calls[nested - 1].guard;
        end_call(guard);
        pvmi_guard_undo(guard);
    }
}

__attribute__((constructor)) static void prepare(void)
{
    pvmi_jump_watch(undo);
    pthread_atfork(NULL, NULL, forget_others);
}

/* All we know is of one enrolment: after pvm_exit() the task is another one. */
static int check_identity(void)
{
    static int known;
    int tid = pvm_mytid();

    if (tid < 0 || tid == known)
        return tid;
    if (known) {
        pvmi_traffic_restart();
        pvmi_group_forget_all();
        pvmi_gserver_forget();
    }
    known = tid;
    return tid;
}

int pvmi_session_begin(struct pvmi_guard *guard, const char *group, int alone)
{
    int code = pvmi_name_check(group);

    pvmi_guard_enter(guard, PVMI_GROUP_CTX_SERVER);
    nested++;
    guard->outer_depth = depth;
    guard->depth = -1;
    guard->alone = false;
    note(guard);
    if (code >= 0)
        code = alone ? begin_alone(guard) : take_depth(guard);
    note(guard);
    if (code >= 0)
        code = check_identity();
    return code < 0 ? code : pvmi_traffic_start();
}

int pvmi_session_end(struct pvmi_guard *guard, int code)
{
    end_call(guard);
    pvmi_guard_leave(guard);
    return pvmi_guard_result(code);
}
