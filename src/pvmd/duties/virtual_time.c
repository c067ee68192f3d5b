/* virtual_time.c - see virtual_time.h. */
#include "virtual_time.h"
#include <ev.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/log.h"
#include "transports/transport.h"
#include "pvmd/hosts/add.h"
#include "pvmd/tasks/clients.h"
#include "pvmd/base/self.h"
#include "pvmd/base/virtual.h"
#include "pvmd/base/hosts.h"
#include "pvmd/net/link.h"
#include "pvmd/tasks/tasks.h"

#define LOOK_S     0.2 /* between looks for the network */
#define END_S      0.5 /* for a process to end that got a signal */
#define KILLED_MAX 64  /* limit of those waited for */

static const struct pvmc_clock_watch *clock_watch; /* NULL: the tasks here use no network with a clock */
static bool watched;                               /* the network knows us */
static bool held;                                  /* and knows that we are working */
static uint64_t turns;                             /* how often that was so */
static unsigned holds;
static pid_t *gone; /* to be told of */
static size_t gone_count, gone_room;
static pid_t killed[KILLED_MAX]; /* and have not ended yet */
static unsigned killed_count;
static ev_timer look_timer, end_timer;
static ev_io network;
static ev_prepare before_sleep;

/* ---- the network ---- */

static void lose(void)
{
    pvmc_log(PVMC_LOG_INFO, "the simulated network is gone");
    ev_io_stop(pvmd.loop, &network);
    watched = held = false;
    clock_watch->end();
    ev_timer_again(pvmd.loop, &look_timer);
}

/* Nothing comes from it but its end. */
static void on_network(EV_P_ ev_io *io, int events)
{
    (void)loop;
    (void)io;
    (void)events;
    lose();
}

static void forget_told(void)
{
    struct pvmd_client *c;
    DL_FOREACH (pvmd_clients, c)
        c->told = (struct pvmc_bypass){0};
}

static void look(void)
{
    int fd = clock_watch->begin();
    if (fd < 0)
        return;
    watched = true;
    forget_told();
    ev_timer_stop(pvmd.loop, &look_timer);
    ev_io_init(&network, on_network, fd, EV_READ);
    ev_io_start(pvmd.loop, &network);
    pvmc_log(PVMC_LOG_INFO, "tasks live in the virtual time of a simulated network");
}

static void on_look(EV_P_ ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    look();
}

/* ---- telling ---- */

/* Time stands still from now on until it is released, whatever is reported in between. */
static void take_hold(void)
{
    if (watched && !held)
        held = !clock_watch->tell(getpid(), turns + 1, turns);
}

static bool runs(pid_t pid)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->pid == pid && task->running)
            return true;
    return false;
}

static bool some_are_dying(void)
{
    for (unsigned i = 0; i < killed_count; i++)
        if (!runs(killed[i]))
            killed[i--] = killed[--killed_count];
    return killed_count;
}

/* Whether other daemons, or some that are about to come, have not dealt with all that they were told. */
static bool others_are_at_work(void)
{
    size_t count;
    struct pvmd_host **list = pvmd_host_list(&count);
    for (size_t i = 0; i < count; i++)
        if (pvmd_link_is_busy(list[i]))
            return true;
    return pvmd_add_busy();
}

static void let_go(void)
{
    if (held && !holds && !some_are_dying()) {
        turns++;
        clock_watch->tell(getpid(), turns, turns);
        held = false;
    }
}

static void tell_traffic(struct pvmd_client *c)
{
    struct pvmc_bypass traffic = pvmd_client_traffic(c);
    if (traffic.given == c->told.given && traffic.taken == c->told.taken)
        return;
    take_hold();
    clock_watch->tell(c->pid, traffic.given, traffic.taken);
    c->told = traffic;
}

static void tell_gone(void)
{
    for (size_t i = 0; i < gone_count; i++) {
        take_hold();
        clock_watch->tell(gone[i], 0, UINT64_MAX);
    }
    gone_count = 0;
}

static bool is_watched(void)
{
    return watched;
}

static void tell_all(void)
{
    struct pvmd_client *c;
    if (!watched)
        return;
    bool keep = others_are_at_work();
    if (keep)
        take_hold();
    DL_FOREACH (pvmd_clients, c)
        tell_traffic(c);
    tell_gone();
    if (!keep)
        let_go();
}

static void tell(EV_P_ ev_prepare *prepare, int events)
{
    (void)loop;
    (void)prepare;
    (void)events;
    tell_all();
}

static void expect(pid_t pid)
{
    if (watched)
        clock_watch->expect(pid);
}

/* They live on. */
static void on_end(EV_P_ ev_timer *timer, int events)
{
    (void)events;
    ev_timer_stop(EV_A_ timer);
    killed_count = 0;
}

void pvmd_virtual_time_killed(pid_t pid)
{
    if (!watched || !runs(pid) || killed_count == KILLED_MAX)
        return;
    killed[killed_count++] = pid;
    take_hold();
    end_timer.repeat = END_S;
    ev_timer_again(pvmd.loop, &end_timer);
}

void pvmd_virtual_time_gone(pid_t pid)
{
    if (!watched || pid <= 0)
        return;
    if (runs(pid)) { /* it may connect again, and then counts from 0 */
        clock_watch->tell(pid, 0, 0);
        return;
    }
    if (gone_count == gone_room) {
        size_t room = gone_room ? 2 * gone_room : 16;
        pid_t *more = realloc(gone, room * sizeof *more);
        if (!more)
            return;
        gone = more;
        gone_room = room;
    }
    gone[gone_count++] = pid;
}

static void hold(void)
{
    holds++;
    take_hold();
}

static void release(void)
{
    holds--;
}

void pvmd_virtual_time_task_ended(const struct pvmd_task *task)
{
    pvmd_virtual_time_gone(task->pid);
}

/* ---- start and end ---- */

/* The transport that PVM_TRANSPORT names and whose network may have a clock, or NULL. */
static const struct pvmt_transport_ops *named_with_clock(void)
{
    const char *named = pvmc_config_text(PVMC_SETTING_TRANSPORT);
    for (const struct pvmt_transport_row *row = pvmt_transport_table; row->name; row++)
        if (row->ops && row->ops->clock_watch && strstr(named, row->name))
            return row->ops;
    return NULL;
}

void pvmd_virtual_time_start(void)
{
    static const struct pvmd_virtual functions = {
        .is_watched = is_watched,
        .tell = tell_all,
        .expect = expect,
        .hold = hold,
        .release = release,
    };
    char why[256];
    const struct pvmt_transport_ops *transport = named_with_clock();
    if (!transport)
        return;
    clock_watch = transport->clock_watch(why, sizeof why);
    if (!clock_watch) {
        pvmc_log(PVMC_LOG_INFO, "no virtual time: %s", why);
        return;
    }
    pvmd_virtual_set(&functions);
    ev_init(&look_timer, on_look);
    ev_init(&end_timer, on_end);
    look_timer.repeat = LOOK_S;
    ev_timer_again(pvmd.loop, &look_timer);
    ev_prepare_init(&before_sleep, tell);
    ev_prepare_start(pvmd.loop, &before_sleep);
    look();
}

void pvmd_virtual_time_stop(void)
{
    if (!clock_watch)
        return;
    pvmd_virtual_set(NULL);
    ev_timer_stop(pvmd.loop, &look_timer);
    ev_timer_stop(pvmd.loop, &end_timer);
    ev_prepare_stop(pvmd.loop, &before_sleep);
    if (watched) {
        ev_io_stop(pvmd.loop, &network);
        clock_watch->end();
    }
    watched = held = false;
    free(gone);
    gone = NULL;
    gone_count = gone_room = 0;
}
