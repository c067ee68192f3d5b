/* datagram.c - opening, progress, waiting and closing. See datagram.h. */
#include "datagram.h"
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"

/* ---- opening and closing ---- */

int pvmt_datagram_watch(const struct pvmt_datagram *t, int fd, epoll_data_t data)
{
    struct epoll_event event = {.events = EPOLLIN, .data = data};
    return epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? PVMC_ESYSTEM : 0;
}

static int set_up(struct pvmt_datagram *t)
{
    t->dead_after_us = pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT);
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    t->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (t->epoll_fd < 0 || t->timer_fd < 0)
        return PVMC_ELIMIT;
    return pvmt_datagram_watch(t, t->timer_fd, (epoll_data_t){.ptr = NULL});
}

static void release(struct pvmt_datagram *t)
{
    if (t->timer_fd >= 0)
        close(t->timer_fd);
    if (t->epoll_fd >= 0)
        close(t->epoll_fd);
    free(t);
}

int pvmt_datagram_open(const struct pvmt_datagram_carrier *carrier, const char *address,
                       const struct pvmt_callbacks *callbacks, void *arg, struct pvmt_transport **out)
{
    struct pvmt_datagram *t = address ? NULL : calloc(1, carrier->transport_bytes);
    if (!t)
        return address ? PVMC_EUNSUPPORTED : PVMC_ENOMEM; /* these transports connect by offer only */
    t->transport = (struct pvmt_transport){.ops = carrier->ops, .callbacks = callbacks, .arg = arg};
    t->carrier = carrier;
    t->pid = getpid();
    int rc = set_up(t);
    if (rc) {
        release(t);
        return rc;
    }
    rc = carrier->open(t);
    if (rc)
        pvmt_datagram_close(&t->transport);
    else
        *out = &t->transport;
    return rc;
}

void pvmt_datagram_close(struct pvmt_transport *base)
{
    struct pvmt_datagram *t = (struct pvmt_datagram *)base;
    t->now_us = pvmc_clock_us();
    pvmt_datagram_drop(t);
    pvmw_timers_clear(&t->timers);
    t->carrier->close(t);
    release(t);
}

/* ---- progress ---- */

#define LINK_OF(entry) ((struct pvmt_datagram_link *)((char *)(entry)-offsetof(struct pvmt_datagram_link, timer)))

static int settle_touched(struct pvmt_datagram *t)
{
    int n = 0;
    struct pvmt_datagram_link *l = t->touched, *next;
    for (t->touched = NULL; l; l = next) { /* a link touched meanwhile gets its turn next time */
        next = l->next_touched;
        l->touched = false;
        n += pvmt_datagram_settle(l);
    }
    return n;
}

static int settle_due(struct pvmt_datagram *t)
{
    int n = 0;
    struct pvmw_timer *e = pvmw_timers_first(&t->timers);
    for (; e && e->due_us <= t->now_us; e = pvmw_timers_first(&t->timers)) {
        struct pvmt_datagram_link *l = LINK_OF(e);
        pvmw_timers_set(&t->timers, e, INT64_MAX); /* settling sets the timer again */
        n += pvmt_datagram_settle(l);
    }
    return n;
}

int pvmt_datagram_progress(struct pvmt_transport *base)
{
    struct pvmt_datagram *t = (struct pvmt_datagram *)base;
    t->in_progress = true;
    int n = t->carrier->hear(t);
    if (!n && (t->touched || pvmw_timers_first(&t->timers)))
        t->now_us = pvmc_clock_us();
    if (t->touched)
        n += settle_touched(t);
    n += settle_due(t);
    pvmt_datagram_flush(t);
    t->in_progress = false;
    if (t->graveyard)
        pvmt_datagram_bury(t);
    return n;
}

/* ---- waiting ---- */

int pvmt_datagram_fd(struct pvmt_transport *base)
{
    return ((struct pvmt_datagram *)base)->epoll_fd;
}

/* Keeps a timer that would expire too early, which saves a system call. */
void pvmt_datagram_wake_at(struct pvmt_datagram *t, int64_t due_us)
{
    bool set = t->timer_us > t->now_us;
    if (due_us == INT64_MAX ? !t->timer_us : set && t->timer_us <= due_us)
        return;
    t->timer_us = due_us == INT64_MAX ? 0 : due_us;
    struct itimerspec when = {.it_value = {.tv_sec = t->timer_us / 1000000, .tv_nsec = t->timer_us % 1000000 * 1000}};
    timerfd_settime(t->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void acknowledge(struct pvmt_datagram *t)
{
    struct pvmt_datagram_link *l, *next;
    for (l = t->owing, t->owing = NULL; l; l = next) {
        next = l->next_owing;
        l->owing = false;
        if (l->dead)
            continue;
        pvmw_reliable_acknowledge(l->frames.reliable, t->now_us);
        pvmt_datagram_set_timer(l);
    }
    pvmt_datagram_flush(t);
}

int pvmt_datagram_arm(struct pvmt_transport *base)
{
    struct pvmt_datagram *t = (struct pvmt_datagram *)base;
    if (t->touched || (t->carrier->has_packets && t->carrier->has_packets(t)))
        return 1;
    if (t->owing || pvmw_timers_first(&t->timers) || t->timer_us)
        t->now_us = pvmc_clock_us();
    if (t->owing && !t->keeps_debts)
        acknowledge(t);
    if (t->touched) /* sending the acknowledgement lost a peer */
        return 1;
    const struct pvmw_timer *e = pvmw_timers_first(&t->timers);
    if (e && e->due_us <= t->now_us)
        return 1;
    return t->carrier->sleep_until(t, e ? e->due_us : INT64_MAX);
}
