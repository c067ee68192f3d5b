/*
 * wait.c - how a task waits: it polls for a moment if that has paid off lately, then it sleeps.
 *
 * Waking a sleeping process costs microseconds, so a short wait is better spent polling; a wait in vain burns a core
 * that the task we wait for may need. Both are learnt from experience, and each poll yields the core to whoever is
 * ready.
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
#define SCORE_MAX   16
#define SCORE_START 4
#define RETRY_WAITS 256 /* when polling has not paid off, it is tried again after so many waits */

static struct {
    int score;   /* above 0: polling pays off */
    int skipped; /* waits since polling was tried last */
} habit = {.score = SCORE_START};

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

static void learn(bool paid)
{
    if (paid && habit.score < SCORE_MAX)
        habit.score += 2;
    else if (!paid && habit.score > 0)
        habit.score--;
}

/* Polls up to its limit. Things that happened, 0 if none did, or PVMI_EDOWN. */
static int spin(int64_t deadline_us)
{
    int64_t limit_us = spin_limit_us();
    if (!limit_us)
        return 0;
    int64_t now = pvmi_clock_us(), end = now + limit_us;
    if (end > deadline_us)
        end = deadline_us;
    int n = 0;
    while (!n && now < end) {
        sched_yield();
        n = pvmi_link_progress();
        now = pvmi_clock_us();
    }
    learn(n != 0);
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
    for (;;) {
        int n = pvmi_link_progress();
        if (!n)
            n = spin(deadline_us);
        if (n < 0)
            return n;
        if (n) {
            pvmi_handler_run();
            if (done(arg))
                return 0;
        } else if (deadline_us != PVMI_WAIT_FOREVER && pvmi_clock_us() >= deadline_us) {
            return PVMI_ETIMEOUT;
        } else {
            sleep_until(deadline_us);
        }
    }
}

int pvmi_wait_poll(void)
{
    int n = pvmi_link_progress();
    if (n < 0)
        return n;
    pvmi_handler_run();
    return 0;
}
