/* carrier.c - see carrier.h. The first carrier is the unix transport to the daemon. */
#include "carrier.h"
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "core/clock.h"
#include "libpvm/base/virtual.h"
#include "core/error.h"
#include "core/log.h"

#define NEVER INT64_MAX

static struct {
    struct pvmi_carrier all[PVMI_CARRIERS_MAX]; /* 0 is the daemon's */
    unsigned count;
    int epoll_fd; /* valid while count > 0 */
    int timer_fd; /* -1 until an alarm is set */
    int bell_fd;  /* -1 until it is needed */
    bool rings;
    int64_t alarm_us;
    bool paused;
} set = {.timer_fd = -1, .bell_fd = -1, .alarm_us = NEVER};

static int watch(int op, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(set.epoll_fd, op, fd, &event) ? PVMC_ESYSTEM : 0;
}

/* ---- opening and closing ---- */

static int open_next(const struct pvmt_transport_ops *ops, const struct pvmt_callbacks *callbacks,
                     struct pvmi_carrier *c)
{
    c->ops = ops;
    int rc = ops->open(NULL, callbacks, c, &c->transport);
    if (rc)
        return rc;
    rc = watch(EPOLL_CTL_ADD, ops->fd(c->transport), EPOLLIN);
    if (rc) {
        ops->close(c->transport);
        return rc;
    }
    ops->query(c->transport, &c->attributes);
    c->shown = pvmi_gauges_route(set.count ? ops->name : NULL);
    set.count++;
    return 0;
}

int pvmi_carrier_open(const struct pvmt_transport_ops *ops, const struct pvmt_callbacks *callbacks,
                      struct pvmi_carrier **out)
{
    for (unsigned i = 0; i < set.count; i++)
        if (set.all[i].ops == ops) {
            *out = &set.all[i];
            return 0;
        }
    if (set.count == PVMI_CARRIERS_MAX)
        return PVMC_ELIMIT;
    if (!set.count) {
        set.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (set.epoll_fd < 0)
            return PVMC_ESYSTEM;
    }
    *out = &set.all[set.count];
    int rc = open_next(ops, callbacks, *out);
    if (rc && !set.count)
        close(set.epoll_fd);
    return rc;
}

void pvmi_carrier_close_all(void)
{
    if (!set.count)
        return;
    while (set.count) {
        struct pvmi_carrier *c = &set.all[--set.count];
        c->ops->close(c->transport);
    }
    close(set.epoll_fd);
    if (set.timer_fd >= 0)
        close(set.timer_fd);
    if (set.bell_fd >= 0)
        close(set.bell_fd);
    memset(&set, 0, sizeof set);
    set.timer_fd = set.bell_fd = -1;
    set.alarm_us = NEVER;
}

/* ---- progress ---- */

/* down() reports what is wrong with a connection. */
static int events(int n)
{
    return n > 0 ? n : 0;
}

static int progress(struct pvmi_carrier *c)
{
    return events(c->ops->progress(c->transport));
}

static int glance(struct pvmi_carrier *c)
{
    return c->ops->glance ? events(c->ops->glance(c->transport)) : progress(c);
}

int pvmi_carrier_progress_direct(void)
{
    int n = 0;
    if (set.paused)
        return 0;
    for (unsigned i = 1; i < set.count; i++)
        n += progress(&set.all[i]);
    return n;
}

int pvmi_carrier_glance_direct(void)
{
    int n = 0;
    if (set.paused)
        return 0;
    for (unsigned i = 1; i < set.count; i++)
        n += glance(&set.all[i]);
    return n;
}

int pvmi_carrier_progress_daemon(void)
{
    return set.count ? progress(&set.all[0]) : 0;
}

int pvmi_carrier_fd(void)
{
    return set.epoll_fd;
}

/* Number of carriers that progress. */
static unsigned working(void)
{
    return set.paused ? 1 : set.count;
}

int pvmi_carrier_arm(void)
{
    for (unsigned i = 0; i < working(); i++)
        if (set.all[i].ops->arm(set.all[i].transport))
            return 1;
    return 0;
}

/* Number of descriptors for this carrier; 0: it has work. */
static unsigned sleep_on(const struct pvmi_carrier *c, struct pollfd *fds)
{
    unsigned n = c->ops->sleep_on ? c->ops->sleep_on(c->transport, fds) : 0;
    if (!n && !c->ops->arm(c->transport))
        fds[n++] = (struct pollfd){.fd = c->ops->fd(c->transport), .events = POLLIN};
    return n;
}

unsigned pvmi_carrier_sleep_on(struct pollfd fds[PVMI_CARRIER_FDS])
{
    unsigned count = 0;
    for (unsigned i = 0; i < working(); i++) {
        unsigned n = sleep_on(&set.all[i], fds + count);
        if (!n)
            return 0;
        count += n;
    }
    if (set.alarm_us != NEVER && set.timer_fd >= 0)
        fds[count++] = (struct pollfd){.fd = set.timer_fd, .events = POLLIN};
    return count;
}

static bool open_bell(void)
{
    set.bell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return set.bell_fd >= 0 && !watch(EPOLL_CTL_ADD, set.bell_fd, EPOLLIN);
}

void pvmi_carrier_ring(bool on)
{
    uint64_t count = 1;
    if (set.rings == on || !set.count)
        return;
    if (set.bell_fd < 0 && !open_bell())
        pvmc_log_once(PVMC_LOG_WARNING,
                      "no descriptor for the bell: the descriptor of pvm_getfds() may not report all messages");
    else if ((on ? write(set.bell_fd, &count, sizeof count) : read(set.bell_fd, &count, sizeof count)) > 0)
        set.rings = on;
}

void pvmi_carrier_pause(bool on)
{
    if (set.paused == on)
        return;
    set.paused = on;
    for (unsigned i = 1; i < set.count; i++)
        watch(EPOLL_CTL_MOD, set.all[i].ops->fd(set.all[i].transport), on ? 0 : EPOLLIN);
}

/* ---- time ---- */

void pvmi_carrier_alarm(int64_t at_us)
{
    if (at_us >= set.alarm_us || !set.count)
        return;
    set.alarm_us = at_us;
    if (pvmi_virtual()) /* pvmi_link_sleep_virtually() reads it */
        return;
    if (set.timer_fd < 0) {
        set.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (set.timer_fd < 0 || watch(EPOLL_CTL_ADD, set.timer_fd, EPOLLIN))
            pvmc_log(PVMC_LOG_INFO, "no descriptor for a timer: timeouts are handled in the next call only");
    }
    struct itimerspec when = {.it_value = {.tv_sec = at_us / 1000000, .tv_nsec = at_us % 1000000 * 1000}};
    if (set.timer_fd >= 0)
        timerfd_settime(set.timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

int64_t pvmi_carrier_alarm_us(void)
{
    return set.alarm_us;
}

bool pvmi_carrier_alarmed(void)
{
    static const struct itimerspec off;
    if (set.alarm_us == NEVER || pvmc_clock_us() < set.alarm_us)
        return false;
    set.alarm_us = NEVER;
    if (set.timer_fd >= 0)
        timerfd_settime(set.timer_fd, 0, &off, NULL);
    return true;
}
