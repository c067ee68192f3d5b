/* move.c - events of descriptors, and waiting. */
#include <sys/epoll.h>
#include <unistd.h>
#include "core/clock.h"
#include "atm_transport.h"

#define EVENTS_MAX 64
#define ROUNDS_MAX 16 /* per progress() */

/* ---- descriptors ---- */

int pvmt_atm_watch(struct atm_transport *t, int fd, struct atm_watch *watch)
{
    return pvmt_datagram_watch(&t->base, fd, (epoll_data_t){.ptr = watch});
}

void pvmt_atm_close(struct atm_transport *t, int *fd)
{
    if (*fd >= 0 && t->base.pid == getpid())
        t->library->close(*fd);
    else if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- progress ---- */

/* Handles one event of each readable descriptor. */
static int hear_each(struct pvmt_datagram *t)
{
    struct epoll_event events[EVENTS_MAX];
    int n = 0, count = epoll_wait(t->epoll_fd, events, EVENTS_MAX, 0);
    if (count > 0)
        t->now_us = pvmc_clock_us();
    for (int i = 0; i < count; i++) {
        struct atm_watch *watch = events[i].data.ptr;
        if (watch) /* not the timer */
            n += watch->ready(watch);
    }
    return n;
}

int pvmt_atm_hear(struct pvmt_datagram *base)
{
    int n = 0, heard;
    for (int round = 0; round < ROUNDS_MAX && (heard = hear_each(base)) > 0; round++)
        n += heard;
    return n;
}

int pvmt_atm_progress(struct pvmt_transport *base)
{
    int n = pvmt_datagram_progress(base);
    return n + pvmt_atm_trees_step((struct atm_transport *)base);
}

/* ---- waiting ---- */

/* Whether a descriptor is readable already. */
static bool has_news(const struct pvmt_datagram *t)
{
    struct epoll_event event;
    return epoll_wait(t->epoll_fd, &event, 1, 0) > 0;
}

int pvmt_atm_sleep_until(struct pvmt_datagram *base, int64_t due_us)
{
    struct atm_transport *t = (struct atm_transport *)base;
    if (t->is_virtual) {
        t->wake_us = due_us; /* clock.c ends the sleep then */
        return has_news(base);
    }
    pvmt_datagram_wake_at(base, due_us);
    return 0;
}
