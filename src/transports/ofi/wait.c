/*
 * wait.c - what wakes a sleeping task: completions, the timer. Some providers (shm, udp;ofi_rxd, efa) have no
 * descriptor for completions; then the timer wakes the task to look for them, soon at first and then at longer
 * intervals.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/error.h"
#include "ofi_transport.h"

#define SOON_US  50000
#define AGAIN_US 1000 /* until the provider may have room again */

static int watch(struct ofi_transport *t, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &event) ? PVMC_ESYSTEM : 0;
}

int pvmt_ofi_wait_open(struct ofi_transport *t)
{
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (t->epoll < 0 || t->timer < 0)
        return PVMC_ELIMIT;
    t->look_us = OFI_LOOK_MIN_US;
    t->has_descriptor =
        t->has_descriptor && !fi_control(&t->cq->fid, FI_GETWAIT, &t->descriptor) && !watch(t, t->descriptor);
    return watch(t, t->timer);
}

void pvmt_ofi_wait_close(struct ofi_transport *t)
{
    if (t->epoll >= 0)
        close(t->epoll);
    if (t->timer >= 0)
        close(t->timer);
}

void pvmt_ofi_wait_no_more(struct ofi_transport *t)
{
    if (t->has_descriptor)
        epoll_ctl(t->epoll, EPOLL_CTL_DEL, t->descriptor, NULL);
    t->has_descriptor = false;
}

/* ---- time ---- */

static void set_timer(struct ofi_transport *t, int64_t at_us)
{
    struct itimerspec when = {.it_value = {.tv_sec = at_us / 1000000, .tv_nsec = at_us % 1000000 * 1000}};
    if (t->timer_us == at_us)
        return;
    t->timer_us = at_us;
    timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Looks at all links if that is due. */
static void tick(struct ofi_transport *t, int64_t now_us)
{
    struct ofi_link *l;
    if (t->tick_us && now_us >= t->tick_us) {
        t->tick_us = 0;
        t->watching = false;
        DL_FOREACH (t->links, l)
            t->watching |= pvmt_ofi_link_tick(l);
    }
    if (t->watching && !t->tick_us)
        t->tick_us = now_us + OFI_TICK_US;
}

void pvmt_ofi_wait_look(struct ofi_transport *t)
{
    uint64_t expirations;
    if (t->timer_us && read(t->timer, &expirations, sizeof expirations) > 0)
        t->timer_us = 0;
    tick(t, pvmc_clock_us());
}

/* Whether something may arrive. Reads that outlived their links may never end, and nobody waits for them. */
static bool is_connected(const struct ofi_transport *t)
{
    const struct ofi_link *l;
    if (t->dead)
        return false;
    DL_FOREACH (t->links, l)
        if (l->state != OFI_OFFERED && l->state != OFI_DOWN)
            return true;
    return false;
}

static int64_t earlier(int64_t a_us, int64_t b_us)
{
    return !a_us || b_us < a_us ? b_us : a_us;
}

/* Handles now what is due soon, so that the task is not woken for it right away. */
int pvmt_ofi_arm(struct pvmt_transport *base)
{
    struct ofi_transport *t = (struct ofi_transport *)base;
    struct fid *cq = &t->cq->fid;
    int64_t now_us = pvmc_clock_us();
    tick(t, now_us + SOON_US);
    if (t->attention || (t->has_descriptor && fi_trywait(t->fabric, &cq, 1)))
        return 1;
    int64_t due_us = t->tick_us;
    if (t->stuffed)
        due_us = earlier(due_us, now_us + AGAIN_US);
    if (!t->has_descriptor && is_connected(t)) {
        due_us = earlier(due_us, now_us + t->look_us);
        t->look_us = t->look_us * 2 < OFI_LOOK_MAX_US ? t->look_us * 2 : OFI_LOOK_MAX_US;
    }
    set_timer(t, due_us);
    t->slept = true;
    return 0;
}
