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
 * PVM_SPIN sets the time of phases 1 and 2 to a number of microseconds, whatever pays off and whoever wants the core;
 * 0 is sleep at once.
 *
 * In the virtual time of a simulated network there is only the third phase, and it is the network that wakes us: what
 * has come by then is all that ever comes by that time. What is asked without waiting (pvm_nrecv) waits a moment there,
 * or a program that asks again and again would do so for ever in one instant.
 *
 * Of several threads that wait one is the driver: it does as above, and gives the lock back while it yields or sleeps.
 * The others sleep until somebody who held the lock, mostly the driver, saw that their waiting is over. When the driver
 * has what it waited for, it wakes another one, which takes its place.
 */
#include "wait.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utlist.h>
#include "../core/clock.h"
#include "../core/config.h"
#include "../core/error.h"
#include "../core/log.h"
#include "arrivals.h"
#include "carrier.h"
#include "handler.h"
#include "jump.h"
#include "link.h"
#include "lock.h"
#include "outbox.h"

#define BURST_POLLS    64    /* some 2 us when there are a few links */
#define ALONE_NS       50000 /* longest polling with a core to ourselves: a sleeping partner wakes and answers in that */
#define SHARED_NS      500000 /* longest yielding on a shared core */
#define HEAR_DAEMON_NS 10000
#define TAKEN_CALLS    10   /* a yield that takes as long as so many system calls has let another process run, ... */
#define TAKEN_NS       1000 /* ... if it takes longer than this, too */
#define CALL_NS        300 /* a system call takes less; where it takes more, all other times are longer in proportion */
#define SHARED_MAX     8
#define PAID_MAX       16
#define PAID_START     4
#define DIRECT_MAX     8
#define RETRY_WAITS    16  /* when polling has not paid off, it is tried again after so many waits */
#define GLANCES        256 /* so many may go by until there is a real look */
#define DIRECT_TURNS   64  /* that things may happen on direct links until the daemon's has its turn all the same */
#define LOOK_US        1   /* of virtual time that a look in vain takes */

/* Counters that saturate. */
static struct {
    int shared;       /* yields that somebody made use of; half of SHARED_MAX: the core is shared */
    int paid;         /* above 0: polling pays off */
    int direct;       /* above 0: things happen on direct links */
    int skipped;      /* waits since polling was tried last */
    int64_t heard_ns; /* when the daemon's link was looked at last */
    unsigned turns;   /* of direct links */
} habit = {.paid = PAID_START, .direct = 1};

/* A thread that waits beside others. */
struct waiter {
    pvmi_condition *done;
    void *arg;
    unsigned epoch; /* pvmi_link_epoch when it began */
    bool woken;     /* to look again, or to become the driver */
    bool deferring; /* it runs no handlers now */
    bool takes_in;  /* all that comes: it is no receive */
    bool listed;
    pthread_cond_t wake;
    struct waiter *prev, *next;
};

/* Not on the stack: a thread that jumps out of its wait leaves it in the list. */
static _Thread_local struct waiter own = {.wake = PTHREAD_COND_INITIALIZER};

static struct waiter *waiters; /* those that sleep, and the driver */
static struct waiter *driver;  /* NULL: nobody listens now */
static int bell = -1;          /* wakes a driver that sleeps */

bool pvmi_wait_news, pvmi_wait_driver_sleeps;

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

/* How long a system call takes. */
static int64_t call_ns(void)
{
    static int64_t measured;
    if (measured)
        return measured;
    measured = INT64_MAX;
    for (int i = 0; i < 8; i++) {
        int64_t start_ns = pvmi_clock_ns();
        syscall(SYS_getppid);
        int64_t took_ns = pvmi_clock_ns() - start_ns;
        measured = took_ns < measured ? took_ns : measured;
    }
    measured += !measured;
    return measured;
}

/*
 * How many times longer everything takes here than the times above are meant for: 1, more in an emulated machine, where
 * a partner that sleeps could never answer in time.
 */
static int64_t slowness(void)
{
    return call_ns() / CALL_NS + 1;
}

/* Whether a yield has let another process run. In an emulated machine each would look so by TAKEN_NS alone. */
static bool was_taken(int64_t yield_ns)
{
    return yield_ns > TAKEN_NS && yield_ns > TAKEN_CALLS * call_ns();
}

/* PVM_SPIN in microseconds; below 0: what is learnt decides. */
static int64_t spin_us(void)
{
    static int64_t setting_us = INT64_MIN; /* read once: this is the hot path */
    if (setting_us == INT64_MIN)
        setting_us = pvmi_config_integer(PVMI_SETTING_SPIN);
    return setting_us;
}

/* How long to poll now, 0: not at all. */
static int64_t polling_ns(void)
{
    if (spin_us() >= 0)
        return spin_us() * 1000;
    if (!habit.paid && ++habit.skipped < RETRY_WAITS)
        return 0;
    habit.skipped = 0;
    return (core_is_shared() ? SHARED_NS : ALONE_NS) * slowness();
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

/* Who is flooded by direct links hears the daemon as well. Things that happened, or PVMI_EDOWN. */
static int look_at_direct(void)
{
    int n = pvmi_link_progress_direct();
    if (n <= 0 || ++habit.turns % DIRECT_TURNS)
        return n;
    int more = pvmi_link_progress();
    return more < 0 ? more : n + more;
}

/* Who asked for polling has it even where yields seem to be made use of, as those of a loaded emulator often do. */
static int burst(void)
{
    bool alone = !core_is_shared() || spin_us() > 0;
    int n, polls = habit.direct && alone ? BURST_POLLS : 1;
    while (!(n = look_at_direct()) && --polls)
        relax();
    if (n)
        move(&habit.direct, 1, DIRECT_MAX);
    return n;
}

/* ---- phase 2 ---- */

/* Gives the core away and learns whether anybody took it. Returns the time when it came back. */
static int64_t yield(int64_t now_ns)
{
    unsigned depth = pvmi_lock_pause();
    sched_yield();
    pvmi_lock_resume(depth);
    int64_t back_ns = pvmi_clock_ns();
    move(&habit.shared, was_taken(back_ns - now_ns) ? 2 : -1, SHARED_MAX);
    return back_ns;
}

/* Polls direct links, and the daemon's when its turn has come. */
static int look(int64_t now_ns)
{
    int n = burst();
    if (n || (habit.direct && now_ns - habit.heard_ns < HEAR_DAEMON_NS * slowness()))
        return n;
    habit.heard_ns = now_ns;
    n = pvmi_link_progress();
    if (n > 0)
        move(&habit.direct, -1, DIRECT_MAX);
    return n;
}

static int yield_and_look(int64_t limit_ns, int64_t deadline_us)
{
    int64_t now_ns = pvmi_clock_ns(), end_ns = now_ns + limit_ns;
    if (deadline_us < end_ns / 1000)
        end_ns = deadline_us * 1000;
    int n = 0;
    while (!n && now_ns < end_ns && !(driver && driver->woken)) {
        now_ns = yield(now_ns);
        n = look(now_ns);
    }
    return n;
}

/* Both phases, if they pay off. Things that happened, 0 if none did, or PVMI_EDOWN. */
static int poll_links(int64_t deadline_us)
{
    int64_t limit_ns = pvmi_world ? 0 : polling_ns();
    if (!limit_ns)
        return 0;
    int n = burst();
    if (!n)
        n = yield_and_look(limit_ns, deadline_us);
    move(&habit.paid, n ? 1 : -1, PAID_MAX);
    return n;
}

/* Polls, and nothing that a direct link's end has left to the daemon lies here while we sleep. As poll_links(). */
static int look_before_sleep(int64_t deadline_us)
{
    int n = poll_links(deadline_us);
    return n ? n : pvmi_outbox_flush();
}

/* ---- phase 3 ---- */

/* Without the network nothing more comes: it is as if the daemon had gone. */
static void sleep_in_virtual_time(int64_t deadline_us)
{
    unsigned depth = pvmi_lock_pause();
    int rc = pvmi_link_sleep(deadline_us);
    pvmi_lock_resume(depth);
    if (rc < 0) {
        pvmi_log_once(PVMI_LOG_ERROR, "the simulated network is gone, and its time with it");
        pvmi_link_close();
    }
}

/* Sleeps until there is something to do or the time is over. */
static void sleep_until(int64_t deadline_us)
{
    pvmi_carrier_ring(false);
    if (pvmi_link_arm())
        return;
    if (pvmi_world) {
        sleep_in_virtual_time(deadline_us);
        return;
    }
    struct pollfd fds[] = {{.fd = pvmi_link_fd(), .events = POLLIN}, {.fd = bell, .events = POLLIN}};
    struct timespec left, *limit = NULL;
    if (deadline_us != PVMI_WAIT_FOREVER) {
        int64_t us = deadline_us - pvmi_clock_us();
        if (us <= 0)
            return;
        left = (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
        limit = &left;
    }
    pvmi_wait_driver_sleeps = driver;
    unsigned depth = pvmi_lock_pause();
    ppoll(fds, depth ? 2 : 1, limit, NULL); /* a signal wakes us early: the caller's loop goes on */
    pvmi_lock_resume(depth);
    pvmi_wait_driver_sleeps = false;
    uint64_t rings;
    if (depth && fds[1].revents && read(bell, &rings, sizeof rings) < 0)
        pvmi_log(PVMI_LOG_DEBUG, "nobody has rung");
}

/* Mostly a direct link was it that woke us; if not, all are looked at. Things that happened, or PVMI_EDOWN. */
static int look_after_sleep(void)
{
    int n = look_at_direct();
    return n ? n : pvmi_link_progress();
}

/* ---- several threads ---- */

static void wake(struct waiter *w)
{
    static const uint64_t one = 1;
    if (w->woken)
        return;
    w->woken = true;
    if (w != driver)
        pthread_cond_signal(&w->wake);
    else if (pvmi_wait_driver_sleeps && write(bell, &one, sizeof one) < 0)
        pvmi_log(PVMI_LOG_ERROR, "cannot wake a thread: %m");
}

/* For the one who may run handlers; its waiting goes on. */
static void wake_for_handlers(void)
{
    struct waiter *w;
    DL_FOREACH (waiters, w)
        if (!w->deferring) {
            wake(w);
            return;
        }
}

static bool is_cut_off(const struct waiter *w)
{
    return !pvmi_link_is_up() || w->epoch != pvmi_link_epoch;
}

void pvmi_wait_settle(void)
{
    struct waiter *w;
    pvmi_wait_news = false;
    DL_FOREACH (waiters, w)
        if (!w->woken && (is_cut_off(w) || w->done(w->arg)))
            wake(w);
    if (pvmi_handler_is_due())
        wake_for_handlers();
    if (pvmi_wait_driver_sleeps && !driver->woken && pvmi_link_arm())
        wake(driver);
}

/* Somebody must listen while others wait. One who has been woken sees to it himself. */
static void hand_over(void)
{
    if (!driver && waiters)
        wake(waiters);
}

static void sleep_beside_driver(struct waiter *w, int64_t deadline_us)
{
    pvmi_wait_news = true; /* what we wait for is new to the driver */
    while (!w->woken && pvmi_lock_sleep(&w->wake, deadline_us))
        ;
}

static void drive(struct waiter *w, int64_t deadline_us)
{
    driver = w;
    if (pvmi_wait_news)
        pvmi_wait_settle();
    int n = look_before_sleep(deadline_us);
    if (!n && !w->woken && !is_cut_off(w))
        sleep_until(deadline_us);
    if (!n && !is_cut_off(w))
        look_after_sleep();
    driver = NULL;
}

/* One turn of waiting, and the handlers that it leads to. */
static void wait_once(struct waiter *w, int64_t deadline_us)
{
    w->woken = false;
    w->listed = true;
    DL_APPEND(waiters, w);
    if (driver)
        sleep_beside_driver(w, deadline_us);
    else
        drive(w, deadline_us);
    DL_DELETE(waiters, w);
    if (w->takes_in)
        pvmi_arrivals_take_in_all();
    w->listed = false;
    if (pvmi_handler_is_due() && !w->deferring) {
        hand_over();
        pvmi_handler_run();
    }
}

/* A handler that waited in between has used our record, too. */
static void wait_in_list(const struct waiter *w, int64_t deadline_us)
{
    own.done = w->done;
    own.arg = w->arg;
    own.epoch = w->epoch;
    own.deferring = w->deferring;
    own.takes_in = w->takes_in;
    wait_once(&own, deadline_us);
}

static bool is_late(int64_t deadline_us)
{
    return deadline_us != PVMI_WAIT_FOREVER && pvmi_clock_us() >= deadline_us;
}

static int wait_among_others(pvmi_condition *done, void *arg, int64_t deadline_us, bool takes_in)
{
    struct waiter w = {
        .done = done, .arg = arg, .epoch = pvmi_link_epoch, .deferring = pvmi_handler_deferred, .takes_in = takes_in};
    if (bell < 0 && (bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        return PVMI_ESYSTEM;
    int rc = 0;
    bool over = pvmi_handler_run() && done(arg);
    while (!rc && !over) {
        wait_in_list(&w, deadline_us);
        if (is_cut_off(&w))
            rc = PVMI_EDOWN;
        else if (!(over = done(arg)) && is_late(deadline_us))
            rc = PVMI_ETIMEOUT;
    }
    hand_over();
    return rc;
}

void pvmi_wait_left(void)
{
    if (!own.listed)
        return;
    DL_DELETE(waiters, &own);
    if (driver == &own) {
        driver = NULL;
        pvmi_wait_driver_sleeps = false;
    }
    own = (struct waiter){.wake = PTHREAD_COND_INITIALIZER};
    hand_over();
}

void pvmi_wait_forget_others(void)
{
    waiters = driver = NULL;
    pvmi_wait_news = pvmi_wait_driver_sleeps = false;
    if (bell >= 0)
        close(bell);
    bell = -1;
}

__attribute__((destructor)) static void close_bell(void)
{
    pvmi_wait_forget_others();
}

/* ---- what the rest of the library calls ---- */

static int wait_alone(pvmi_condition *done, void *arg, int64_t deadline_us, bool takes_in)
{
    if (pvmi_handler_run() && done(arg))
        return 0;
    while (pvmi_link_is_up()) {
        int n = look_before_sleep(deadline_us);
        if (!n) {
            sleep_until(deadline_us);
            n = look_after_sleep();
        }
        if (n < 0)
            return n;
        if (n) {
            if (takes_in)
                pvmi_arrivals_take_in_all();
            pvmi_handler_run();
            if (done(arg))
                return 0;
        }
        if (is_late(deadline_us))
            return PVMI_ETIMEOUT;
    }
    return PVMI_EDOWN;
}

/* takes_in: all messages that come meanwhile. */
static int wait_until(pvmi_condition *done, void *arg, int64_t deadline_us, bool takes_in)
{
    bool outer = pvmi_jump_wait_begin();
    if (takes_in)
        pvmi_arrivals_take_in_all();
    int rc = (pvmi_lock_is_ours() ? wait_among_others : wait_alone)(done, arg, deadline_us, takes_in);
    pvmi_jump_wait_end(outer);
    return rc;
}

int pvmi_wait_until(pvmi_condition *done, void *arg, int64_t deadline_us)
{
    return wait_until(done, arg, deadline_us, true);
}

int pvmi_wait_for_message(pvmi_condition *done, void *arg, int64_t deadline_us)
{
    return wait_until(done, arg, deadline_us, false);
}

static int listen_now(void)
{
    int n = pvmi_link_progress();
    if (n >= 0)
        pvmi_handler_run();
    return n;
}

int pvmi_wait_poll(void)
{
    int n = listen_now();
    if (!n && pvmi_world) {
        sleep_until(pvmi_clock_us() + LOOK_US);
        n = listen_now();
    }
    return n < 0 ? n : 0;
}

int pvmi_wait_glance(void)
{
    static unsigned glances;
    int n = ++glances % GLANCES ? 0 : listen_now();
    return n < 0 ? n : 0;
}
