/*
 * wait.c - how a task waits: it polls its direct links, then gives the core to others in between, then sleeps.
 *
 * To wake a sleeping process costs the sender a system call and takes microseconds, up to twenty if its core sleeps as
 * well; a message between two tasks that poll takes 0.1. But where processes share a core, polling keeps those from
 * running that we wait for. So a wait goes through three phases, of which the first two are left out unless they paid
 * off lately:
 *
 *  1. A burst of polls of the direct links: no system call, no look at the clock. Only with a core to ourselves.
 *  2. Yields of the core: each is followed by a look at the direct links, by another burst if nobody took the core,
 * and, every few microseconds, by a look at the daemon's link, which costs a system call.
 *  3. Sleep, until a descriptor of some link becomes readable.
 *
 * What is learnt, and from what:
 *  - whether others want this core: a yield comes back at once if nobody does. While they do, phase 1 is left out, and
 *    phase 2 lasts longer, since all others must have had their turn before it can be said to be in vain.
 *  - whether waits end before phase 3 would begin: if not, tasks sleep at once, and only now and then try again.
 *  - whether it is direct links that messages come by: if not, phase 1 would only keep the daemon waiting.
 *
 * PVM_SPIN sets the time of phases 1 and 2 to a number of microseconds, whatever pays off; 0 is sleep at once.
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

#define BURST_POLLS    64    /* some 2 us when there are a few links */
#define ALONE_NS       50000 /* longest polling with a core to ourselves: a sleeping partner wakes and answers in that */
#define SHARED_NS      500000 /* longest yielding on a shared core */
#define HEAR_DAEMON_NS 10000
#define TAKEN_NS       1000 /* a yield that takes longer has let another process run */
#define SHARED_MAX     8
#define PAID_MAX       16
#define PAID_START     4
#define DIRECT_MAX     8
#define RETRY_WAITS    16  /* when polling has not paid off, it is tried again after so many waits */
#define GLANCES        256 /* so many may go by until there is a real look */

/* Counters that saturate. */
static struct {
    int shared;  /* yields that somebody made use of; half of SHARED_MAX: the core is shared */
    int paid;    /* above 0: polling pays off */
    int direct;  /* above 0: things happen on direct links */
    int skipped; /* waits since polling was tried last */
} habit = {.paid = PAID_START, .direct = 1};

static bool core_is_shared(void)
{
    return habit.shared >= SHARED_MAX / 2;
}

static void move(int *counter, int by, int most)
{
    *counter += by;
    if (*counter > most)
        *counter = most;
    if (*counter < 0)
        *counter = 0;
}

/* How long to poll now, 0: not at all. */
static int64_t polling_ns(void)
{
    static int64_t setting_us = INT64_MIN; /* read once: this is the hot path */
    if (setting_us == INT64_MIN)
        setting_us = pvmi_config_integer(PVMI_SETTING_SPIN);
    if (setting_us >= 0)
        return setting_us * 1000;
    if (!habit.paid && ++habit.skipped < RETRY_WAITS)
        return 0;
    habit.skipped = 0;
    return core_is_shared() ? SHARED_NS : ALONE_NS;
}

/* Tells the processor that we wait, so that it spends its power on the other thread of the core. */
static inline void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* ---- phase 1 ---- */

static int burst(void)
{
    int n, polls = !habit.direct || core_is_shared() ? 1 : BURST_POLLS;
    while (!(n = pvmi_link_progress_direct()) && --polls)
        relax();
    if (n)
        move(&habit.direct, 1, DIRECT_MAX);
    return n;
}

/* ---- phase 2 ---- */

/* Gives the core away and learns whether anybody took it. Returns the time when it came back. */
static int64_t yield(int64_t now_ns)
{
    sched_yield();
    int64_t back_ns = pvmi_clock_ns();
    move(&habit.shared, back_ns - now_ns > TAKEN_NS ? 2 : -1, SHARED_MAX);
    return back_ns;
}

/* Polls direct links, and the daemon's when its turn has come. *heard_ns: when that was last. */
static int look(int64_t now_ns, int64_t *heard_ns)
{
    int n = burst();
    if (n || (habit.direct && now_ns - *heard_ns < HEAR_DAEMON_NS))
        return n;
    *heard_ns = now_ns;
    n = pvmi_link_progress();
    if (n > 0)
        move(&habit.direct, -1, DIRECT_MAX);
    return n;
}

static int yield_and_look(int64_t limit_ns, int64_t deadline_us)
{
    int64_t now_ns = pvmi_clock_ns(), end_ns = now_ns + limit_ns, heard_ns = 0;
    if (deadline_us < end_ns / 1000)
        end_ns = deadline_us * 1000;
    int n = 0;
    while (!n && now_ns < end_ns) {
        now_ns = yield(now_ns);
        n = look(now_ns, &heard_ns);
    }
    return n;
}

/* Both phases, if they pay off. Things that happened, 0 if none did, or PVMI_EDOWN. */
static int poll_links(int64_t deadline_us)
{
    int64_t limit_ns = polling_ns();
    if (!limit_ns)
        return 0;
    int n = burst();
    if (!n)
        n = yield_and_look(limit_ns, deadline_us);
    move(&habit.paid, n ? 1 : -1, PAID_MAX);
    return n;
}

/* ---- phase 3 ---- */

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

/* ---- what the rest of the library calls ---- */

int pvmi_wait_until(pvmi_condition *done, void *arg, int64_t deadline_us)
{
    if (pvmi_handler_run() && done(arg))
        return 0;
    while (pvmi_link_is_up()) {
        int n = poll_links(deadline_us);
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

int pvmi_wait_glance(void)
{
    static unsigned glances;
    return ++glances % GLANCES ? 0 : pvmi_wait_poll();
}
