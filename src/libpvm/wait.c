/*
 * wait.c - how a task waits: it polls for a moment if that has paid off lately, then it sleeps.
 *
 * Waking a sleeping process costs microseconds, so a short wait is better spent polling, if the core has nothing else
 * to do; but where processes share cores, polling keeps those from running that we wait for. Both are learnt: from
 * polls that were in vain, and from yields of the core that somebody made use of.
 */
#include "wait.h"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include "../core/clock.h"
#include "../core/config.h"
#include "../core/error.h"
#include "handler.h"
#include "link.h"

#define SPIN_US     30 /* longest adaptive polling */
#define SHARED_US   5  /* a yield that takes longer has let another process run here */
#define SCORE_MAX   16
#define SCORE_START 4
#define RETRY_WAITS 64 /* when polling has not paid off, it is tried again after so many waits */

static struct {
    int score;   /* above 0: polling pays off */
    int skipped; /* waits since polling was tried last */
} habit = {.score = SCORE_START};

/* How long to poll now, 0: not at all. */
static int64_t spin_limit_us(void)
{
    static int64_t setting = INT64_MIN; /* read once: this is the hot path */
    if (setting == INT64_MIN)
        setting = pvmi_config_integer(PVMI_SETTING_SPIN);
    if (setting >= 0)
        return setting;
    if (habit.score > 0 || ++habit.skipped >= RETRY_WAITS) {
        habit.skipped = 0;
        return SPIN_US;
    }
    return 0;
}

/* Polling in vain while others wanted the core is the one thing never to repeat. */
static void learn(bool paid, bool shared)
{
    if (paid && habit.score < SCORE_MAX)
        habit.score++;
    else if (!paid && shared)
        habit.score = 0;
    else if (!paid && habit.score > 0)
        habit.score--;
}

/* Polls, if it pays off. Things that happened, 0 if none did, or PVMI_EDOWN. */
static int spin(int64_t deadline_us)
{
    int64_t limit_us = spin_limit_us();
    if (!limit_us)
        return 0;
    int64_t now = pvmi_clock_us(), end = now + limit_us;
    bool shared = false;
    int n = pvmi_link_progress();
    while (!n && now < end && now < deadline_us) {
        int64_t before = now;
        sched_yield();
        n = pvmi_link_progress();
        now = pvmi_clock_us();
        shared = shared || now - before > SHARED_US;
    }
    learn(n != 0, shared);
    return n;
}

/* Sleeps until there is something to do or the time is over. */
static void sleep_until(int64_t deadline_us)
{
    if (pvmi_link_arm())
        return;
    struct pollfd fd = {.fd = pvmi_link_fd(), .events = POLLIN};
    struct timespec left, *limit = NULL;
    if (deadline_us != PVMI_WAIT_FOREVER) {
        int64_t us = deadline_us - pvmi_clock_us();
        if (us <= 0)
            return;
        left = (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
        limit = &left;
    }
    ppoll(&fd, 1, limit, NULL); /* a signal wakes us early: the caller's loop goes on */
}

int pvmi_wait_until(pvmi_condition *done, void *arg, int64_t deadline_us)
{
    if (pvmi_handler_run() && done(arg))
        return 0;
    while (pvmi_link_is_up()) {
        int n = spin(deadline_us);
        if (!n) {
            sleep_until(deadline_us);
            n = pvmi_link_progress();
        }
        if (n < 0)
            return n;
        if (n) {
            pvmi_handler_run();
            if (done(arg))
                return 0;
        } else if (deadline_us != PVMI_WAIT_FOREVER && pvmi_clock_us() >= deadline_us) {
            return PVMI_ETIMEOUT;
        }
    }
    return PVMI_EDOWN;
}

int pvmi_wait_poll(void)
{
    int n = pvmi_link_progress();
    if (n < 0)
        return n;
    pvmi_handler_run();
    return 0;
}
