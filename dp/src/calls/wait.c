/* wait.c - sleeping on the epoll set behind the descriptor. */
#include "wait.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include "core/clock.h"
#include "core/error.h"
#include "net/local.h"

#define OUTBOX_US 100 /* delay after which a program in poll(2) is woken to flush the outbox */

bool dpi_wait_is_forbidden(const struct dpi_endpoint *e)
{
    return fcntl(e->fd, F_GETFL) & O_NONBLOCK;
}

static struct timespec time_of(int64_t us)
{
    return (struct timespec){us / 1000000, us % 1000000 * 1000};
}

static int64_t earlier(int64_t a_us, int64_t b_us)
{
    return a_us < b_us ? a_us : b_us;
}

static int sleep_for(struct dpi_endpoint *e, int64_t us)
{
    struct epoll_event event;
    struct timespec limit = time_of(us);
    int n = epoll_pwait2(e->fd, &event, 1, us == INT64_MAX ? NULL : &limit, NULL);
    if (n < 0 && errno == ENOSYS) /* valgrind does not know the call */
        n = epoll_wait(e->fd, &event, 1, us == INT64_MAX ? -1 : us < INT_MAX ? (int)((us + 999) / 1000) : INT_MAX);
    return n < 0 ? -1 : 0;
}

int dpi_wait_sleep(struct dpi_endpoint *e, int64_t until_us)
{
    dpi_outbox_flush(e);
    if (e->spins)
        return 0;
    e->looked = true;
    if (e->has_inbox)
        until_us = earlier(until_us, e->sessions.due_us);
    if (e->outbox.count && until_us) /* the interface had no room for it */
        until_us = earlier(until_us, pvmc_clock_us() + OUTBOX_US);
    if (until_us == INT64_MAX)
        return sleep_for(e, INT64_MAX);
    int64_t left_us = until_us ? until_us - pvmc_clock_us() : 0;
    return sleep_for(e, left_us > 0 ? left_us : 0);
}

static bool waits(struct dpi_endpoint *e)
{
    return dpi_inbox_waiting(&e->inbox) || dpi_port_has_next(&e->port);
}

/* Restores the cleared edge if something unread has arrived in the meantime. */
static void look_again(struct dpi_endpoint *e)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    e->looked = false;
    if (waits(e))
        epoll_ctl(e->fd, EPOLL_CTL_MOD, e->port.fd, &event);
}

static void set_bell(struct dpi_endpoint *e, bool on)
{
    eventfd_t value;
    if (e->rings == on || e->bell < 0)
        return;
    e->rings = on;
    if (on)
        eventfd_write(e->bell, 1);
    else
        eventfd_read(e->bell, &value);
}

/* A timer that expires too early is harmless, so it is not set again for each change. */
static void set_timer(struct dpi_endpoint *e)
{
    int64_t due_us = e->sessions.due_us;
    if ((due_us == INT64_MAX && !e->outbox.count) || e->timer < 0)
        return;
    int64_t now_us = pvmc_clock_us();
    if (e->outbox.count)
        due_us = earlier(due_us, now_us + OUTBOX_US);
    if (e->timer_us <= due_us && e->timer_us > now_us)
        return;
    struct itimerspec at = {.it_value = time_of(due_us > 1 ? due_us : 1)};
    e->timer_us = due_us;
    timerfd_settime(e->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

void dpi_wait_leave(struct dpi_endpoint *e)
{
    int number = errno;
    if (e->writes)
        e->writes = 0;
    dpi_outbox_flush(e);
    errno = number;
    dpi_wait_leave_outbox(e);
}

void dpi_wait_leave_outbox(struct dpi_endpoint *e)
{
    int number = errno;
    if (e->spins)
        return;
    if (e->looked)
        look_again(e);
    if (e->has_inbox) {
        set_bell(e, (dpi_inbox_waiting(&e->inbox) && !e->port.held) || dpi_channel_waits(e));
        set_timer(e);
    }
    errno = number;
}

int dpi_wait_open(struct dpi_endpoint *e)
{
    struct epoll_event edge = {.events = EPOLLIN | EPOLLET}, level = {.events = EPOLLIN};
    e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    e->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool fine = e->timer >= 0 && e->bell >= 0 && !epoll_ctl(e->fd, EPOLL_CTL_ADD, e->timer, &edge) &&
                !epoll_ctl(e->fd, EPOLL_CTL_ADD, e->bell, &level);
    return fine ? 0 : PVMC_ELIMIT;
}
