/*
 * wait.c - how a task waits: it polls its direct links, then yields its core between polls, then sleeps.
 *
 * Waking a sleeping process costs the sender a system call and takes microseconds, up to twenty if its core sleeps as
 * well; a message between two polling tasks takes 0.1. But if processes share a core, polling keeps the awaited process
 * from running. So a wait has three phases, and skips the first two unless they paid off lately:
 *
 * 1. A burst of polls of the direct links, without a system call or a look at the clock. Only with a core to ourselves.
 *
 * 2. Yields of the core. After each one it polls the direct links, in a burst if nobody took the core. Every few
 *    microseconds it also polls the daemon's link, which costs a system call.
 *
 * 3. Sleep until the descriptor of some link becomes readable.
 *
 * The task learns three things. Do others want this core? A yield returns at once if nobody does. While they do, phase
 * 1 is skipped and phase 2 lasts longer, because it has not failed before all others have run. Do waits end before
 * phase 3? If not, tasks sleep at once, and poll again only now and then. Do messages come by direct links? If not,
 * phase 1 would only delay the daemon's.
 *
 * A task that shares its core while another one is idle moves there (processor.h). One whose sleeps have been short
 * polls on for a millisecond in place of the next one, as long as a core is spare: a core that has gone to sleep takes
 * tens of microseconds to wake. If others want to run, it must sleep, because only that moves them here.
 *
 * PVM_SPIN sets the length of phases 1 and 2 in microseconds, whatever was learnt; 0 means sleep at once.
 *
 * In the virtual time of a simulated network there is only phase 3, and the network wakes the task: everything due at
 * that time has then arrived. A poll such as pvm_nrecv() waits a moment of virtual time, because a program that polls
 * would otherwise stay in one instant for ever.
 *
 * If several threads wait, one is the driver: it does all this, and releases the lock while it yields or sleeps. The
 * others sleep until a thread that holds the lock, mostly the driver, finds their wait over. A driver whose wait is
 * over wakes another thread, which takes its place.
 *
 * At a gate (gate.h) the task yields as long as others come, because they run then, and a little longer. If nobody
 * comes, a sleeper's core may run those that another process keeps from running on theirs. The task learns separately
 * whether that pays off.
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
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory/mem.h"
#include "arrivals.h"
#include "carrier.h"
#include "handler.h"
#include "libpvm/base/call.h"
#include "libpvm/base/gate.h"
#include "libpvm/base/jump.h"
#include "libpvm/base/processor.h"
#include "libpvm/base/shadow.h"
#include "libpvm/base/sharing.h"
#include "libpvm/base/virtual.h"
#include "link.h"
#include "outbox.h"

#define BURST_POLLS    64      /* some 2 us when there are a few links */
#define ALONE_NS       50000   /* longest polling with a core to ourselves: a sleeping partner can answer within it */
#define NAP_NS         1000000 /* the same after sleeps that ended within this time, while a core is spare */
#define SPARE_NS       100000  /* between two looks whether one is */
#define SHARED_NS      500000  /* longest yielding on a shared core */
#define GATE_NS        4000000 /* longest yielding at a gate, while others come */
#define GATE_QUIET_NS  100000  /* the same while nobody comes */
#define HEAR_DAEMON_NS 10000   /* between two polls of the daemon's link ... */
#define HEAR_SHARED_NS 100000  /* ... on a shared core, where a turn of all others takes about as long */
#define TAKEN_CALLS    10      /* a yield that takes as long as this many system calls ... */
#define TAKEN_NS       1000    /* ... and longer than this has let another process run */
#define CALL_NS        300     /* a system call takes less; if it takes more, all other times are scaled */
#define PAID_MAX       16
#define PAID_START     4
#define DIRECT_MAX     8
#define NAPS_MAX       8
#define NAP_WEIGHT     4   /* a nap costs the partner more than polling in vain costs us */
#define RETRY_WAITS    16  /* waits without polling before it is tried again */
#define GLANCES        256 /* glances per poll */
#define DIRECT_TURNS   64  /* turns with events on direct links before the daemon's link gets one */
#define FOUND_TURNS    32  /* messages found on their senders' links before all direct links get a turn */
#define LOOK_US        1   /* of virtual time, for a poll without result */

/* Counters that saturate. */
static struct {
    struct pvmi_sharing sharing; /* of the core */
    int paid;                    /* above 0: polling has paid off */
    int direct;                  /* above 0: events come from direct links */
    int naps;                    /* short sleeps; from half of NAPS_MAX on the next one is expected to be short */
    int skipped;                 /* waits since the last attempt to poll */
    int64_t heard_ns;            /* time of the last poll of the daemon's link */
    unsigned turns;              /* of direct links */
    unsigned found;              /* messages on their sender's link */
    bool looked;                 /* phase 1 has just been tried in vain, before this wait */
} habit = {.paid = PAID_START, .direct = 1, .naps = NAPS_MAX};

/* A thread that waits besides others. */
struct waiter {
    pvmi_condition *done;
    void *arg;
    unsigned epoch; /* pvmi_link_epoch when it began */
    bool woken;     /* it must check again, or become the driver */
    bool deferring; /* its handlers are deferred */
    bool takes_in;  /* it takes in all messages: it is not a receive */
    bool listed;
    pthread_cond_t wake;
    struct waiter *prev, *next;
};

/* Not on the stack: if the thread jumps out of its wait, it stays in the list. */
static _Thread_local struct waiter own = {.wake = PTHREAD_COND_INITIALIZER};

static struct waiter *waiters; /* those that sleep, and the driver */
static struct waiter *driver;  /* NULL: no thread listens */
static int bell = -1;          /* wakes a driver that sleeps */

bool pvmi_wait_driver_sleeps;

static const struct pvmi_gate *gate; /* where the innermost wait waits; NULL: it waits for messages only */

static bool core_is_shared(void)
{
    return pvmi_sharing_is_on(&habit.sharing);
}

static inline void count_up(int *counter, int by, int most)
{
    *counter = *counter < most - by ? *counter + by : most;
}

static inline void count_down(int *counter)
{
    if (*counter > 0)
        --*counter;
}

/* Polling has paid off, or not. */
static inline void count_pay(int *paid, bool off)
{
    if (off)
        count_up(paid, 1, PAID_MAX);
    else
        count_down(paid);
}

/* How long a system call takes. */
static int64_t call_ns(void)
{
    static int64_t measured;
    if (measured)
        return measured;
    measured = INT64_MAX;
    for (int i = 0; i < 8; i++) {
        int64_t start_ns = pvmc_clock_ns();
        syscall(SYS_getppid);
        int64_t took_ns = pvmc_clock_ns() - start_ns;
        measured = took_ns < measured ? took_ns : measured;
    }
    measured += !measured;
    return measured;
}

/*
 * How many times slower this machine is than the times above assume: 1, more on an emulated machine, where a sleeping
 * partner could never answer in time.
 */
static int64_t slowness(void)
{
    return call_ns() / CALL_NS + 1;
}

/* Whether a yield has let another process run. On an emulated machine every yield takes longer than TAKEN_NS. */
static bool was_taken(int64_t yield_ns)
{
    return yield_ns > TAKEN_NS && yield_ns > TAKEN_CALLS * call_ns();
}

static int64_t setting_us = INT64_MIN; /* PVM_SPIN; this value: not read yet */

static PVMI_COLD void read_setting(void)
{
    setting_us = pvmc_config_integer(PVMC_SETTING_SPIN);
}

/* PVM_SPIN in microseconds; negative: use what was learnt. */
static inline int64_t spin_us(void)
{
    if (__builtin_expect(setting_us == INT64_MIN, 0))
        read_setting();
    return setting_us;
}

/* How long to poll now; 0: not at all. */
static int64_t polling_ns(void)
{
    if (spin_us() >= 0)
        return spin_us() * 1000;
    bool skips = !habit.paid || pvmi_sharing_defies_yields(&habit.sharing);
    if (skips && ++habit.skipped < RETRY_WAITS)
        return 0;
    habit.skipped = 0;
    if (skips)
        pvmi_sharing_forget_half(&habit.sharing); /* a task that sleeps learns little: what it knows grows old */
    return (core_is_shared() ? SHARED_NS : ALONE_NS) * slowness();
}

/* Tells the processor that this is a wait loop, so that it favours the other thread of the core. */
static inline void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* ---- phase 1 ---- */

/*
 * With some events, polls sometimes the daemon's link as well, so that a flood on direct links does not starve it. The
 * number of events, or PVMC_EDOWN.
 */
static int with_daemon(int n)
{
    if (n <= 0 || ++habit.turns % DIRECT_TURNS)
        return n;
    int more = pvmi_link_progress();
    return more < 0 ? more : n + more;
}

static int look_at_direct(void)
{
    return with_daemon(pvmi_link_progress_direct());
}

/* PVM_SPIN forces polling even if yields look useful, as they often do on a loaded emulator. */
static int burst(void)
{
    bool alone = !core_is_shared() || spin_us() > 0;
    int n = look_at_direct(), polls = habit.direct && alone ? BURST_POLLS : 1;
    while (!n && --polls) {
        relax();
        n = with_daemon(pvmi_link_glance_direct());
    }
    if (n)
        count_up(&habit.direct, 1, DIRECT_MAX);
    return n;
}

/* ---- phase 2 ---- */

/* Learns from a yield that took so long, after the task had the core for `kept_ns`. */
static void learn(int64_t yield_ns, int64_t kept_ns)
{
    bool taken = was_taken(yield_ns);
    pvmi_processor_yielded(taken);
    pvmi_sharing_learn(&habit.sharing, taken, yield_ns, kept_ns);
}

/* Yields the core, of which the task has had the use since then. Returns the time after the yield. */
static int64_t yield(int64_t since_ns)
{
    unsigned depth = pvmi_lock_pause();
    int64_t start_ns = pvmc_clock_ns();
    sched_yield();
    int64_t back_ns = pvmc_clock_ns();
    pvmi_lock_resume(depth);
    learn(back_ns - start_ns, start_ns - since_ns);
    return back_ns;
}

/* Polls the daemon's link if its turn has come. */
static int hear_daemon(int64_t now_ns)
{
    int64_t pause_ns = (core_is_shared() ? HEAR_SHARED_NS : HEAR_DAEMON_NS) * slowness();
    if (habit.direct && now_ns - habit.heard_ns < pause_ns)
        return 0;
    habit.heard_ns = now_ns;
    int n = pvmi_link_progress();
    if (n > 0)
        count_down(&habit.direct);
    return n;
}

/* Until when to poll on in place of a nap, after polling since `begin_ns`; now_ns: no longer. */
static int64_t end_without_nap(int64_t begin_ns, int64_t now_ns)
{
    bool expected = habit.naps >= NAPS_MAX / 2 && !core_is_shared() && spin_us() < 0;
    bool pays_off = expected && now_ns - begin_ns < NAP_NS && pvmi_processor_is_spare();
    return pays_off ? now_ns + SPARE_NS : now_ns;
}

/* Direct links have just been polled. */
static int yield_and_look(int64_t limit_ns, int64_t deadline_us)
{
    int64_t begin_ns = pvmc_clock_ns(), now_ns = begin_ns, end_ns = begin_ns + limit_ns;
    int64_t last_ns = deadline_us < INT64_MAX / 1000 ? deadline_us * 1000 : INT64_MAX;
    int n = hear_daemon(now_ns);
    while (!n && now_ns < last_ns && !(driver && driver->woken)) {
        if (now_ns >= end_ns && (end_ns = end_without_nap(begin_ns, now_ns)) == now_ns)
            break;
        now_ns = yield(now_ns);
        n = burst();
        n = n ? n : hear_daemon(now_ns);
    }
    return n;
}

/* Phases 1 and 2, if they pay off; in virtual time shadows may have arrived. The number of events, or PVMC_EDOWN. */
static int poll_links(int64_t deadline_us)
{
    bool looked = habit.looked;
    habit.looked = false;
    int64_t limit_ns = pvmi_virtual() || gate ? 0 : polling_ns();
    if (!limit_ns)
        return pvmi_shadow_due ? pvmi_peer_pass_shadows() : 0;
    int n = looked ? 0 : burst();
    if (!n)
        n = yield_and_look(limit_ns, deadline_us);
    count_pay(&habit.paid, n);
    return n;
}

/*
 * Polls, and sends what lost links have left for the daemon, which must not stay
 * here while we sleep. As poll_links().
 */
static int look_before_sleep(int64_t deadline_us)
{
    int n = poll_links(deadline_us);
    return n ? n : pvmi_outbox_flush();
}

/* ---- phase 3 ---- */

/* Without the network nothing more arrives, as if the daemon had gone. */
static void sleep_in_virtual_time(int64_t deadline_us)
{
    pvmi_gauges_sleep(pvmc_clock_us());
    unsigned depth = pvmi_lock_pause();
    int rc = pvmi_link_sleep_virtually(deadline_us);
    pvmi_lock_resume(depth);
    if (rc < 0) {
        pvmc_log_once(PVMC_LOG_ERROR, "the simulated network has ended, and so has its virtual time");
        pvmi_link_close();
    }
}

/* Memory that was kept for messages goes back to the system while the task sleeps. Its alarm wakes the task for that.
 */
static void expire_memory(void)
{
    int64_t again_ms = pvmc_mem_expire();
    if (again_ms && !pvmi_virtual())
        pvmi_carrier_alarm(pvmc_clock_us() + again_ms * 1000);
}

static void learn_from_sleep(int64_t slept_ns)
{
    if (slept_ns < NAP_NS)
        count_up(&habit.naps, NAP_WEIGHT, NAPS_MAX);
    else
        count_down(&habit.naps);
}

/*
 * The descriptor of all links for a driver, whose links may change while it sleeps, and at a gate, whose bell usually
 * wakes: there more descriptors would only take time. Returns their number; 0: there is work already.
 */
static unsigned links_that_wake(struct pollfd fds[PVMI_CARRIER_FDS])
{
    if (!pvmi_lock_is_ours() && __libc_single_threaded && !gate)
        return pvmi_link_sleep_on(fds);
    if (pvmi_link_arm())
        return 0;
    fds[0] = (struct pollfd){.fd = pvmi_link_fd(), .events = POLLIN};
    return 1;
}

static void sleep_in_real_time(int64_t deadline_us)
{
    struct pollfd fds[1 + PVMI_CARRIER_FDS];
    struct timespec left, *limit = NULL;
    unsigned links = links_that_wake(fds + 1);
    if (!links)
        return;
    fds[0] = (struct pollfd){.fd = gate ? gate->bell : bell, .events = POLLIN};
    if (deadline_us != PVMI_WAIT_FOREVER) {
        int64_t us = deadline_us - pvmc_clock_us();
        if (us <= 0)
            return;
        left = (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
        limit = &left;
    }
    pvmi_wait_driver_sleeps = driver;
    int64_t start_ns = pvmc_clock_ns();
    pvmi_gauges_sleep(start_ns / 1000);
    unsigned depth = pvmi_lock_pause(), quiet = depth || gate ? 0 : 1;
    ppoll(fds + quiet, 1 + links - quiet, limit, NULL); /* a signal may end it early: the caller loops */
    pvmi_lock_resume(depth);
    learn_from_sleep(pvmc_clock_ns() - start_ns);
    pvmi_wait_driver_sleeps = false;
    uint64_t rings;
    if (depth && fds[0].revents && read(bell, &rings, sizeof rings) < 0)
        pvmc_log(PVMC_LOG_DEBUG, "woke up without an event");
}

/* Sleeps until there may be an event or the time is over. */
static void sleep_until(int64_t deadline_us)
{
    pvmi_carrier_ring(false);
    expire_memory();
    if (!pvmi_virtual())
        sleep_in_real_time(deadline_us);
    else if (!pvmi_link_arm())
        sleep_in_virtual_time(deadline_us);
}

/* Polls direct links first, because usually one of them has woken us. The number of events, or PVMC_EDOWN. */
static int look_after_sleep(void)
{
    if (gate && gate->is_open(gate->arg))
        return 1;
    int n = look_at_direct();
    return n ? n : pvmi_link_progress();
}

/* A message that arrives waits in its place until the program asks for it; its handlers run then. */
void pvmi_wait_pass_debt(void)
{
    while (pvmi_virtual() && pvmi_link_is_up() && pvmc_virtual_clock->debt_ns()) {
        sleep_until(PVMI_WAIT_FOREVER);
        if (pvmi_link_progress() < 0)
            return;
    }
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
        pvmc_log(PVMC_LOG_ERROR, "cannot wake a thread: %m");
}

/* Wakes one thread that may run handlers; its wait continues. */
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

/* pvmi_lock_settle: wakes the threads whose wait is over, and the driver if it must check. */
static void settle(void)
{
    struct waiter *w;
    pvmi_lock_news = false;
    DL_FOREACH (waiters, w)
        if (!w->woken && (is_cut_off(w) || w->done(w->arg)))
            wake(w);
    if (pvmi_handler_is_due())
        wake_for_handlers();
    if (pvmi_wait_driver_sleeps && !driver->woken && pvmi_link_arm())
        wake(driver);
}

/* Some thread must drive while others wait. A driver that has been woken hands over itself. */
static void hand_over(void)
{
    if (!driver && waiters)
        wake(waiters);
}

static void sleep_beside_driver(struct waiter *w, int64_t deadline_us)
{
    pvmi_lock_news = true; /* the driver does not know our condition yet */
    while (!w->woken && pvmi_lock_sleep(&w->wake, deadline_us))
        ;
}

static void drive(struct waiter *w, int64_t deadline_us)
{
    driver = w;
    if (pvmi_lock_news)
        settle();
    int n = look_before_sleep(deadline_us);
    if (!n && !w->woken && !is_cut_off(w))
        sleep_until(deadline_us);
    if (!n && !is_cut_off(w))
        look_after_sleep();
    driver = NULL;
}

/* One round of waiting, followed by the handlers that it has queued. */
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

/* Fills in the thread's record again, because a handler that waited in between has used it. */
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
    return deadline_us != PVMI_WAIT_FOREVER && pvmc_clock_us() >= deadline_us;
}

static int wait_among_others(pvmi_condition *done, void *arg, int64_t deadline_us, bool takes_in)
{
    pvmi_lock_settle = settle;
    struct waiter w = {
        .done = done, .arg = arg, .epoch = pvmi_link_epoch, .deferring = pvmi_handler_deferred, .takes_in = takes_in};
    if (bell < 0 && (bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        return PVMC_ESYSTEM;
    int rc = 0;
    bool over = pvmi_handler_run() && done(arg);
    while (!rc && !over) {
        wait_in_list(&w, deadline_us);
        if (is_cut_off(&w))
            rc = PVMC_EDOWN;
        else if (!(over = done(arg)) && is_late(deadline_us))
            rc = PVMC_ETIMEOUT;
    }
    hand_over();
    return rc;
}

void pvmi_wait_undo(void)
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
    pvmi_lock_news = pvmi_wait_driver_sleeps = false;
    if (bell >= 0)
        close(bell);
    bell = -1;
}

__attribute__((destructor)) static void close_bell(void)
{
    pvmi_wait_forget_others();
}

/* ---- interface ---- */

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
            return PVMC_ETIMEOUT;
    }
    return PVMC_EDOWN;
}

/* takes_in: takes in all messages that arrive meanwhile. */
static int wait_until(pvmi_condition *done, void *arg, int64_t deadline_us, bool takes_in, const struct pvmi_gate *at)
{
    const struct pvmi_gate *outer_gate = gate;
    bool outer = pvmi_jump_wait_begin();
    gate = at;
    if (takes_in)
        pvmi_arrivals_take_in_all();
    int rc = (pvmi_lock_is_ours() ? wait_among_others : wait_alone)(done, arg, deadline_us, takes_in);
    gate = outer_gate;
    pvmi_jump_wait_end(outer);
    return rc;
}

int pvmi_wait_until(pvmi_condition *done, void *arg, int64_t deadline_us)
{
    return wait_until(done, arg, deadline_us, true, NULL);
}

int pvmi_wait_for_message(pvmi_condition *done, void *arg, int64_t deadline_us)
{
    return wait_until(done, arg, deadline_us, false, NULL);
}

int pvmi_lock_wait(pvmi_condition *done, void *arg)
{
    return done(arg) ? 0 : pvmc_error_public(pvmi_wait_until(done, arg, PVMI_WAIT_FOREVER));
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
    if (!n && pvmi_virtual()) {
        sleep_until(pvmc_clock_us() + LOOK_US);
        n = listen_now();
    }
    return n < 0 ? n : 0;
}

void pvmi_wait_look(void)
{
    bool pays_off = spin_us() > 0 || (spin_us() && habit.paid && !core_is_shared());
    if (habit.looked || !habit.direct || !pays_off || pvmi_virtual())
        return;
    if (burst())
        count_up(&habit.paid, 1, PAID_MAX);
    else
        habit.looked = true;
}

void pvmi_wait_found(void)
{
    count_up(&habit.direct, 1, DIRECT_MAX);
    if (habit.paid)
        count_up(&habit.paid, 1, PAID_MAX);
    if (!(++habit.found % FOUND_TURNS))
        look_at_direct();
}

int pvmi_wait_glance(void)
{
    static unsigned glances;
    int n = ++glances % GLANCES ? 0 : listen_now();
    return n < 0 ? n : 0;
}

/* ---- gates ---- */

static bool burst_at(const struct pvmi_gate *g)
{
    int polls = core_is_shared() ? 1 : BURST_POLLS;
    bool open;
    while (!(open = g->is_open(g->arg)) && --polls)
        relax();
    return open;
}

/* Yields as long as others come. Whether the gate is open. */
static bool yield_at(const struct pvmi_gate *g, int64_t limit_ns, int64_t most_ns)
{
    int64_t now_ns = pvmc_clock_ns(), last_ns = now_ns, end_ns = now_ns + most_ns;
    unsigned come = g->come(g->arg);
    while (!burst_at(g)) {
        if (now_ns - last_ns >= limit_ns || now_ns >= end_ns)
            return false;
        now_ns = yield(now_ns);
        unsigned now_come = g->come(g->arg);
        if (now_come != come)
            last_ns = now_ns;
        come = now_come;
    }
    return true;
}

bool pvmi_gate_yield(const struct pvmi_gate *g)
{
    static struct {
        int paid, skipped;
    } at_gates = {.paid = PAID_START};
    int64_t limit_ns = GATE_QUIET_NS * slowness();
    bool tries = at_gates.paid || ++at_gates.skipped >= RETRY_WAITS;
    if (spin_us() >= 0) {
        limit_ns = spin_us() * 1000;
        tries = limit_ns;
    }
    if (!tries)
        return false;
    bool outer = pvmi_jump_wait_begin();
    bool open = yield_at(g, limit_ns, GATE_NS * slowness());
    pvmi_jump_wait_end(outer);
    at_gates.skipped = 0;
    count_pay(&at_gates.paid, open);
    return open;
}

int pvmi_gate_wait(const struct pvmi_gate *g)
{
    g->sleep(g->arg, true);
    struct pvmi_gauges_wait outer = pvmi_gauges_begin(PVMC_GAUGES_MEETS, -1, -1);
    int rc = g->is_open(g->arg) ? 0 : wait_until(g->is_open, g->arg, PVMI_WAIT_FOREVER, true, g);
    pvmi_gauges_end(&outer);
    g->sleep(g->arg, false);
    return pvmc_error_public(rc);
}

/* If the daemon is gone, the next call that waits reports it. */
void pvmi_gate_listen(void)
{
    pvmi_wait_glance();
}
