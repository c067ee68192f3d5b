/* event.c - what wakes a sleeping task: completions, device events, the timer. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "rdma.h"

#define SOON_US          100000
#define NOTICES_PER_LOOK 16 /* calls between two checks of the other descriptors */

enum source { SOURCE_COMPLETIONS, SOURCE_DEVICE, SOURCE_TIMER, SOURCES };

/* ---- opening and closing ---- */

static int watch(struct rdma_transport *t, int fd, enum source source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = source};
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &event))
        return PVMC_ESYSTEM;
    return 0;
}

int pvmt_rdma_events_open(struct rdma_transport *t)
{
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (t->epoll < 0 || t->timer < 0)
        return PVMC_ELIMIT;
    int rc = watch(t, t->channel->fd, SOURCE_COMPLETIONS);
    if (!rc)
        rc = watch(t, t->context->async_fd, SOURCE_DEVICE);
    return rc ? rc : watch(t, t->timer, SOURCE_TIMER);
}

void pvmt_rdma_events_close(struct rdma_transport *t)
{
    if (t->epoll >= 0)
        close(t->epoll);
    if (t->timer >= 0)
        close(t->timer);
}

/* ---- completions ---- */

void pvmt_rdma_stash(struct rdma_transport *t)
{
    for (;;) {
        struct ibv_wc wc[RDMA_EVENTS];
        if (t->stashed + RDMA_EVENTS > t->stash_capacity) {
            unsigned capacity = 2 * t->stash_capacity + RDMA_EVENTS;
            struct rdma_event *bigger = realloc(t->stash, capacity * sizeof *bigger);
            if (!bigger)
                return;
            t->stash = bigger;
            t->stash_capacity = capacity;
        }
        int n = t->verbs->poll_cq(t->cq, RDMA_EVENTS, wc);
        for (int i = 0; i < n; i++)
            t->stash[t->stashed++] = (struct rdma_event){wc[i], pvmt_rdma_link_find(t, wc[i].qp_num)};
        if (n <= 0)
            return;
    }
}

static bool take_notice(struct rdma_transport *t)
{
    struct ibv_cq *cq;
    if (t->verbs->get_cq_event(t->channel, &cq))
        return false;
    t->verbs->ack_cq_events(cq, 1);
    t->notified = false;
    return true;
}

/* ---- device events ---- */

static void fail_all(struct rdma_transport *t, int reason, const char *what)
{
    struct rdma_link *l;
    DL_FOREACH (t->links, l)
        pvmt_rdma_link_fail(l, reason, what);
    pvmt_rdma_port_forget();
}

void pvmt_rdma_device_lost(struct rdma_transport *t, const char *what)
{
    if (t->dead)
        return;
    pvmc_log(PVMC_LOG_WARNING, "rdma: %s: %s; messages take other routes", t->port.device, what);
    t->dead = PVMC_EUNREACHABLE;
    fail_all(t, PVMC_EDOWN, what);
}

static void port_event(struct rdma_transport *t, int port, bool up)
{
    if (port != t->port.number || t->port_down == !up)
        return;
    t->port_down = !up;
    pvmc_log(up ? PVMC_LOG_INFO : PVMC_LOG_WARNING, "rdma: %s port %d is %s", t->port.device, port,
             up ? "up again" : "down: other routes carry instead");
    if (!up)
        fail_all(t, PVMC_EDOWN, "its port is down");
}

static void queue_event(struct rdma_transport *t, const struct ibv_qp *qp)
{
    struct rdma_link *l;
    DL_FOREACH (t->links, l)
        if (l->qp == qp)
            pvmt_rdma_link_fail(l, PVMC_EDOWN, "the device has stopped its queue pair");
}

static void handle(struct rdma_transport *t, const struct ibv_async_event *e)
{
    switch (e->event_type) {
    case IBV_EVENT_DEVICE_FATAL:
        pvmt_rdma_device_lost(t, "the device is gone or has failed");
        break;
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_SRQ_ERR:
        pvmt_rdma_device_lost(t, "a queue of the device has failed");
        break;
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_PORT_ACTIVE:
        port_event(t, e->element.port_num, e->event_type == IBV_EVENT_PORT_ACTIVE);
        break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
        queue_event(t, e->element.qp);
        break;
    default:
        pvmc_log(PVMC_LOG_DEBUG, "rdma: %s: event %d", t->port.device, e->event_type);
    }
}

static void take_device_events(struct rdma_transport *t)
{
    struct ibv_async_event event;
    while (!t->verbs->get_async_event(t->context, &event)) {
        struct ibv_async_event copy = event; /* links concerned may end before the event is acknowledged */
        t->verbs->ack_async_event(&event);
        handle(t, &copy);
    }
}

/* ---- time ---- */

static void set_timer(struct rdma_transport *t, int64_t at_us)
{
    struct itimerspec when = {.it_value = {.tv_sec = at_us / 1000000, .tv_nsec = at_us % 1000000 * 1000}};
    t->timer_us = at_us;
    timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Serves all links if that is due. */
static void tick(struct rdma_transport *t, int64_t now_us)
{
    struct rdma_link *l;
    if (t->tick_us && now_us >= t->tick_us)
        DL_FOREACH (t->links, l)
            pvmt_rdma_link_tick(l);
    if (!t->links)
        t->tick_us = 0;
    else if (now_us >= t->tick_us)
        t->tick_us = now_us + RDMA_TICK_US;
}

static void quieten_timer(struct rdma_transport *t)
{
    uint64_t expirations;
    ssize_t n = read(t->timer, &expirations, sizeof expirations);
    (void)n;
    t->timer_us = 0;
}

static void look_at_all(struct rdma_transport *t)
{
    struct epoll_event events[SOURCES];
    int n = epoll_wait(t->epoll, events, SOURCES, 0);
    for (int i = 0; i < n; i++)
        if (events[i].data.u32 == SOURCE_DEVICE)
            take_device_events(t);
        else if (events[i].data.u32 == SOURCE_TIMER)
            quieten_timer(t);
        else
            while (take_notice(t))
                ;
}

/* A completion is the usual reason to wake up, and costs one system call to find out. */
void pvmt_rdma_events_look(struct rdma_transport *t)
{
    if (!t->slept || !t->notified || !take_notice(t) || ++t->looks % NOTICES_PER_LOOK == 0)
        look_at_all(t);
    tick(t, pvmc_clock_us());
}

/* Handles now what is due soon, so that the task is not woken for it right away. */
int pvmt_rdma_events_arm(struct rdma_transport *t)
{
    tick(t, pvmc_clock_us() + SOON_US);
    if (t->timer_us != t->tick_us)
        set_timer(t, t->tick_us);
    if (t->notified)
        take_notice(t);
    if (!t->notified && t->verbs->req_notify_cq(t->cq)) {
        pvmt_rdma_device_lost(t, "it does not tell of completions");
        return 1;
    }
    t->notified = true;
    pvmt_rdma_stash(t);
    return t->stashed || t->attention;
}
