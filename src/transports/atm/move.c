/* move.c - what descriptors bring, what is due, and waiting. */
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utlist.h>
#include "../../core/clock.h"
#include "../../core/error.h"
#include "atm_transport.h"

#define EVENTS_MAX 64
#define ROUNDS_MAX 16 /* in one progress() */

/* ---- descriptors ---- */

int pvmi_atm_watch(struct atm_transport *t, int fd, struct atm_watch *watch)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};
    return epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? PVMI_ESYSTEM : 0;
}

void pvmi_atm_close(struct atm_transport *t, int *fd)
{
    if (*fd >= 0 && t->pid == getpid())
        t->library->close(*fd);
    else if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- progress ---- */

#define LINK_OF(entry) ((struct atm_link *)((char *)(entry)-offsetof(struct atm_link, agenda)))

/* One thing from each descriptor that has something. */
static int hear(struct atm_transport *t)
{
    struct epoll_event events[EVENTS_MAX];
    int n = 0, count = epoll_wait(t->epoll_fd, events, EVENTS_MAX, 0);
    if (count > 0)
        t->now_us = pvmi_clock_us();
    for (int i = 0; i < count; i++) {
        uint64_t times;
        struct atm_watch *watch = events[i].data.ptr;
        if (watch)
            n += watch->ready(watch);
        else if (read(t->timer_fd, &times, sizeof times) < 0)
            continue; /* it was set anew */
    }
    return n;
}

static int settle_touched(struct atm_transport *t)
{
    int n = 0;
    struct atm_link *l = t->touched, *next;
    for (t->touched = NULL; l; l = next) { /* those that are touched from now on have their turn next time */
        next = l->next_touched;
        l->touched = false;
        n += pvmi_atm_link_settle(l);
    }
    return n;
}

static int settle_due(struct atm_transport *t)
{
    int n = 0;
    struct pvmi_agenda_entry *e = pvmi_agenda_first(&t->agenda);
    for (; e && e->due_us <= t->now_us; e = pvmi_agenda_first(&t->agenda)) {
        struct atm_link *l = LINK_OF(e);
        pvmi_agenda_set(&t->agenda, e, INT64_MAX); /* settling enters it again */
        n += pvmi_atm_link_settle(l);
    }
    return n;
}

int pvmi_atm_progress(struct pvmi_transport *base)
{
    struct atm_transport *t = (struct atm_transport *)base;
    int n = 0, heard;
    t->in_progress = true;
    for (int round = 0; round < ROUNDS_MAX && (heard = hear(t)) > 0; round++)
        n += heard;
    if (!n && (t->touched || pvmi_agenda_first(&t->agenda)))
        t->now_us = pvmi_clock_us();
    n += settle_touched(t);
    n += settle_due(t);
    n += pvmi_atm_trees_step(t);
    t->in_progress = false;
    if (t->graveyard)
        pvmi_atm_links_bury(t);
    return n;
}

/* ---- waiting ---- */

static void acknowledge(struct atm_transport *t)
{
    struct atm_link *l;
    DL_FOREACH (t->links, l)
        if (l->state == ATM_UP && !l->over && pvmi_reliable_owes(l->frames.reliable)) {
            pvmi_reliable_acknowledge(l->frames.reliable, t->now_us);
            pvmi_agenda_set(&t->agenda, &l->agenda, pvmi_reliable_due_us(l->frames.reliable));
        }
}

static void set_timer(struct atm_transport *t, int64_t due_us)
{
    struct itimerspec when = {{0}, {0}};
    if (due_us != INT64_MAX)
        when.it_value = (struct timespec){.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000};
    timerfd_settime(t->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Whether a descriptor has something already. */
static bool has_news(struct atm_transport *t)
{
    struct epoll_event event;
    return epoll_wait(t->epoll_fd, &event, 1, 0) > 0;
}

int pvmi_atm_arm(struct pvmi_transport *base)
{
    struct atm_transport *t = (struct atm_transport *)base;
    if (t->touched)
        return 1;
    t->now_us = pvmi_clock_us();
    acknowledge(t);
    const struct pvmi_agenda_entry *e = pvmi_agenda_first(&t->agenda);
    int64_t due_us = e ? e->due_us : INT64_MAX;
    if (due_us <= t->now_us)
        return 1;
    if (t->is_virtual) {
        t->wake_us = due_us; /* pvmi_world does the rest */
        return has_news(t);
    }
    set_timer(t, due_us);
    return 0;
}
