/* drain.c - see drain.h. */
#include "drain.h"
#include <ev.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "membership.h"
#include "pvm3.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "pvmd/base/sweeper.h"
#include "pvmd/net/link.h"
#include "pvmd/net/rpc.h"
#include "pvmd/quorum/petition.h"
#include "pvmd/quorum/tables.h"

#define KILL_S  1. /* for processes to end on SIGKILL; the sweeper sees to the rest */
#define FLUSH_S 3. /* for the other hosts to confirm what we sent */
#define GO_S    3. /* for the master to dismiss us */
#define TICK_S  1. /* between words to those who watch */

/* Service managers signal all processes of a service, and pvmd3 --join passes its SIGTERM on. */
#define SAME_SIGNAL_US 1000000

/* A program that has asked us to leave, and is told how it goes: pvmd3 --leave. */
struct watcher {
    pvmc_tid tid;
    struct pvmd_request request; /* answered again and again */
    struct watcher *prev, *next;
};

static enum pvmc_leave_stage stage; /* 0: we do not leave */
static int64_t deadline_us;         /* of the stage */
static int64_t signal_us;           /* of the first SIGTERM; 0: none has come */
static unsigned unconfirmed;        /* hosts */
static ev_timer limit, tick;
static struct watcher *watchers;

/* ---- the tasks that we wait for ---- */

static struct watcher *watcher_of(pvmc_tid tid)
{
    struct watcher *w;
    DL_SEARCH_SCALAR(watchers, w, tid, tid);
    return w;
}

/* Those who serve the others (the group server, a tasker ...) end with the daemon, because they are needed so long. */
static bool is_awaited(const struct pvmd_task *task)
{
    unsigned duties = PVMD_TASK_RM | PVMD_TASK_HOSTER | PVMD_TASK_TASKER | PVMD_TASK_TRACER;
    return !(task->flags & duties) && strcmp(task->name, PVMD_GROUP_SERVER) != 0 &&
           strcmp(task->name, PVMC_LEAVER_NAME) != 0;
}

static unsigned awaited(void)
{
    unsigned n = 0;
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        n += is_awaited(task);
    return n;
}

static void terminate(void)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next) {
        if (!is_awaited(task) || task->pid <= 0 || kill(task->pid, SIGTERM))
            continue;
        pvmd_sweeper_told(task->pid);
        kill(task->pid, SIGCONT);
    }
}

/* A program that its user has started may take its time. Returns how many were killed. */
static unsigned kill_spawned(void)
{
    unsigned n = 0;
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (is_awaited(task) && pvmd_task_is_spawned(task) && task->pid > 0)
            n += !kill(task->pid, SIGKILL);
    return n;
}

/* ---- those who watch ---- */

static void put_state(struct pvmc_buf *b)
{
    int64_t left_us = deadline_us - pvmc_clock_us();
    pvmc_buf_init(b);
    pvmc_buf_put_u8(b, (uint8_t)stage);
    pvmc_buf_put_u32(b, awaited());
    pvmc_buf_put_u32(b, left_us > 0 ? (uint32_t)(left_us / 1000 < UINT32_MAX ? left_us / 1000 : UINT32_MAX) : 0);
    pvmc_buf_put_string(b, pvmd.host_name);
}

static void answer_state(const struct pvmd_request *r)
{
    struct pvmc_buf b;
    put_state(&b);
    pvmd_request_answer(r, PvmOk, &b);
    pvmc_buf_free(&b);
}

static void tell_watchers(void)
{
    struct watcher *w;
    DL_FOREACH (watchers, w) {
        answer_state(&w->request);
        w->request.bytes = 0; /* they are no longer held */
    }
}

static void drop_watcher(struct watcher *w)
{
    DL_DELETE(watchers, w);
    free(w);
}

/* ---- from stage to stage ---- */

static void enter(enum pvmc_leave_stage next, double limit_s)
{
    stage = next;
    deadline_us = pvmc_clock_us() + (int64_t)(limit_s * 1e6);
    ev_timer_stop(pvmd.loop, &limit);
    ev_now_update(pvmd.loop);
    ev_timer_set(&limit, limit_s, 0.);
    ev_timer_start(pvmd.loop, &limit);
    tell_watchers();
}

/* Our daemon normally ends before the answer comes, because the master tells it first (DM_HOST_REMOVE). */
static void dismissed(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)arg, (void)host_index, (void)code, (void)body;
    if (!pvmd.ending)
        pvmd_end(0, "this host has left the machine");
}

static void go(void)
{
    struct pvmc_buf body;
    if (pvmd_is_master()) { /* elected meanwhile; our goodbye makes the others elect another one */
        pvmd_end(0, "this host leaves the machine, whose master it had become");
        return;
    }
    enter(PVMC_LEAVE_GOES, GO_S);
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, 1);
    pvmc_buf_put_string(&body, pvmd.host_name);
    pvmd_ask_master(PVMD_DM_DELHOSTS, &body, dismissed, NULL);
    pvmc_buf_free(&body);
}

static void confirmed(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)arg, (void)host_index, (void)code, (void)body;
    if (!--unconfirmed && stage == PVMC_LEAVE_FLUSHES)
        go();
}

/*
 * When we are out, the others drop what they have not read from us. The answer to a ping comes after all frames that we
 * sent before it.
 */
static void flush(void)
{
    enter(PVMC_LEAVE_FLUSHES, FLUSH_S);
    unconfirmed = 1; /* until all are asked */
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        const struct pvmd_host *h = pvmd_host_by_index(i);
        if (!h || h == pvmd_host_self() || pvmd_link_state(h) == PVMD_LINK_IDLE)
            continue;
        unconfirmed++;
        pvmd_ask(i, PVMD_DM_PING, NULL, confirmed, NULL);
    }
    confirmed(NULL, pvmd.host_index, PvmOk, NULL);
}

static void look(void)
{
    if (stage >= PVMC_LEAVE_WAITS && stage <= PVMC_LEAVE_KILLED && !awaited())
        flush();
}

static void end_grace(void)
{
    pvmc_log(PVMC_LOG_WARNING, "leaving: %u tasks have not ended in time, and are sent SIGTERM", awaited());
    terminate();
    enter(PVMC_LEAVE_TOLD, (double)pvmc_config_us(PVMC_SETTING_END_TIMEOUT) / 1e6);
}

static void end_patience(void)
{
    unsigned n = kill_spawned();
    pvmc_log(PVMC_LOG_WARNING, "leaving: %u tasks have ignored SIGTERM, and are killed", n);
    if (n)
        enter(PVMC_LEAVE_KILLED, KILL_S);
    else
        flush();
}

static void limit_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    if (stage == PVMC_LEAVE_WAITS) {
        end_grace();
    } else if (stage == PVMC_LEAVE_TOLD) {
        end_patience();
    } else if (stage == PVMC_LEAVE_KILLED) {
        flush();
    } else if (stage == PVMC_LEAVE_FLUSHES) {
        pvmc_log(PVMC_LOG_WARNING, "leaving: a host has not confirmed within %g s what our tasks sent to it", FLUSH_S);
        go();
    } else {
        pvmd_end(0, "this host leaves the machine; no master has answered");
    }
}

static void tick_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    tell_watchers();
    look(); /* a task may have taken over a duty */
}

static double grace_s(uint64_t grace_us)
{
    return (double)(grace_us == PVMC_LEAVE_GRACE_SETTING ? (uint64_t)pvmc_config_us(PVMC_SETTING_LEAVE_TIMEOUT)
                                                         : grace_us) /
           1e6;
}

/* A host that is no member yet has nothing to leave. */
static void begin(uint64_t grace_us, const char *why)
{
    struct pvmc_buf empty;
    unsigned n = awaited();
    if (pvmd_tables_are_awaited()) {
        pvmd_end(0, why);
        return;
    }
    pvmc_log(PVMC_LOG_INFO, "leaving the machine: %s; tasks here: %u, waiting for up to %g s", why, n,
             grace_s(grace_us));
    pvmd_host_self()->draining = true;
    ev_timer_init(&limit, limit_event, 0., 0.);
    ev_timer_init(&tick, tick_event, TICK_S, TICK_S);
    ev_timer_start(pvmd.loop, &tick);
    pvmc_buf_view(&empty, NULL, 0);
    if (n)
        pvmd_ask_master(PVMD_DM_DRAIN, &empty, NULL, NULL);
    enter(PVMC_LEAVE_WAITS, grace_s(grace_us));
    look();
}

bool pvmd_drain_signal(void)
{
    if (pvmd_is_master() && !stage)
        return false;
    int64_t now_us = pvmc_clock_us();
    if (!stage)
        begin(PVMC_LEAVE_GRACE_SETTING, strsignal(SIGTERM));
    else if (signal_us && now_us - signal_us >= SAME_SIGNAL_US)
        pvmd_end(0, "another SIGTERM");
    signal_us = signal_us ? signal_us : now_us;
    return true;
}

/* ---- TM_LEAVE ---- */

static int refuse(const struct pvmd_request *r, const char *why)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_string(&b, why);
    pvmd_request_answer(r, PvmBadParam, &b);
    pvmc_buf_free(&b);
    return 0;
}

/* It outlives this daemon to tell of its end, so it gets none of its signals. */
static struct watcher *watch(pvmc_tid tid)
{
    struct watcher *w = watcher_of(tid);
    struct pvmd_task *task = pvmd_task_by_tid(tid);
    if (w || !(w = calloc(1, sizeof *w)))
        return w;
    w->tid = tid;
    DL_APPEND(watchers, w);
    if (task)
        task->pid = 0;
    return w;
}

static int leave_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    uint64_t grace_us = pvmc_buf_get_u64(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    if (pvmd_is_master() && !stage)
        return refuse(r, "it is the master, on which the others depend: \"halt\" in the console ends the machine");
    struct watcher *w = watch(r->tid);
    if (!w)
        return PVMC_ENOMEM;
    w->request = *r;
    if (!stage)
        begin(grace_us, "asked to");
    else if (stage == PVMC_LEAVE_WAITS && grace_us != PVMC_LEAVE_GRACE_SETTING)
        enter(PVMC_LEAVE_WAITS, grace_s(grace_us));
    else
        tell_watchers();
    return 0;
}

/* ---- at the master ---- */

static int drain_petition(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    struct pvmd_host *h = pvmd_host_by_index(p->question.host_index);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    if (h && !h->draining) {
        pvmc_log(PVMC_LOG_INFO, "host %s is about to leave, and gets no more tasks", h->name);
        h->draining = true;
        pvmd_membership_changed();
    }
    pvmd_petition_answer(p, PvmOk, NULL);
    return 0;
}

/* ---- events, start and end ---- */

void pvmd_drain_task_ended(const struct pvmd_task *task)
{
    struct watcher *w = watcher_of(task->tid);
    if (w)
        drop_watcher(w);
    else
        tell_watchers();
    look();
}

void pvmd_drain_master_changed(void)
{
    if (stage && pvmd_is_master())
        pvmc_log(PVMC_LOG_WARNING, "leaving, although this host is the master now: it will be another one");
    if (stage == PVMC_LEAVE_GOES && pvmd_is_master())
        go();
}

/* However it ends, it has left, and `pvmd3 --join` must not come back. */
void pvmd_drain_daemon_ends(void)
{
    if (stage)
        pvmd.exit_code = 0;
    stage = PVMC_LEAVE_LEFT;
    tell_watchers();
}

void pvmd_drain_start(void)
{
    pvmd_tm_handle((int)PVMC_TM_LEAVE, leave_request);
    pvmd_petition_handle(PVMD_DM_DRAIN, drain_petition);
}

void pvmd_drain_stop(void)
{
    struct watcher *w, *next;
    ev_timer_stop(pvmd.loop, &limit);
    ev_timer_stop(pvmd.loop, &tick);
    DL_FOREACH_SAFE (watchers, w, next)
        drop_watcher(w);
    stage = 0;
    signal_us = 0;
}
