/* lock.c - the lock of the library, and the state that each thread has of its own. */
#include "lock.h"
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <time.h>
#include "pvm3.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "call.h"
#include "compat.h"
#include "options.h"
#include "task.h"

#define THREAD_ENDS_MAX 4
#define EXIT_PATIENCE_S 2 /* limit for threads that are in the library when the process ends */

struct thread {
    unsigned depth;             /* how often the thread has taken the lock */
    int cancel_state;           /* the program's own */
    bool known;                 /* end_thread() runs when it ends */
    unsigned deferred;          /* pvmi_handler_deferred, while another thread holds the lock */
    struct pvmi_wanted *wanted; /* pvmi_inbox_ours, likewise */
    struct pvmi_set *set;       /* NULL: not chosen yet */
    struct pvmi_set *first;     /* outside of handlers and group calls */
    struct pvmi_set own;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct thread *holder; /* NULL: nobody */
static struct thread *latest; /* the thread whose state is in the globals; NULL: none */
static struct pvmi_set common = {.has_options = true}, *installed = &common;
static pthread_key_t key; /* its destructor runs when a thread ends */
static bool has_key;
static void (*thread_ends[THREAD_ENDS_MAX])(void);

bool pvmi_lock_news;
void (*pvmi_lock_settle)(void), (*pvmi_lock_forget_others)(void);
const struct pvmi_lock_buffers *pvmi_lock_buffers;

static _Thread_local struct thread self __attribute__((tls_model("initial-exec")));

/* ---- sets ---- */

static void save(struct pvmi_set *s)
{
    s->send = pvmi_send_buffer;
    s->receive = pvmi_receive_buffer;
    s->context = pvmmyctx;
    s->match = pvmi_receive_match;
    s->error = pvm_errno;
    struct pvmi_set *o = s->has_options ? s : &common;
    o->auto_err = pvmi_options.auto_err;
    o->resv_tids = pvmi_options.resv_tids;
}

/* Another thread may have freed it. */
static struct pvmi_active if_there(struct pvmi_active a)
{
    return a.mid && pvmi_lock_buffers->find(a.mid) == a.m ? a : (struct pvmi_active){0};
}

static void load(const struct pvmi_set *s)
{
    pvmi_send_buffer = if_there(s->send);
    pvmi_receive_buffer = if_there(s->receive);
    pvmmyctx = s->context;
    pvmi_receive_match = s->match;
    pvm_errno = s->error;
    const struct pvmi_set *o = s->has_options ? s : &common;
    pvmi_options.auto_err = o->auto_err;
    pvmi_options.resv_tids = o->resv_tids;
}

static void install(struct pvmi_set *s)
{
    if (s == installed)
        return;
    if (installed)
        save(installed);
    load(s);
    installed = s;
}

/* The set of a thread that calls the library for the first time. */
static struct pvmi_set *choose_set(struct thread *t)
{
    if (!pvmc_config_bool(PVMC_SETTING_THREADS))
        return &common;
    t->own = (struct pvmi_set){.context = pvmi_task_first_context, .match = NULL};
    return &t->own;
}

static void bring_own(struct thread *t)
{
    if (latest == t)
        return;
    if (latest) {
        latest->deferred = pvmi_handler_deferred;
        latest->wanted = pvmi_inbox_ours;
    }
    pvmi_handler_deferred = t->deferred;
    pvmi_inbox_ours = t->wanted;
    latest = t;
}

/* This thread has taken the lock: its state goes into the globals. */
static void move_in(struct thread *t)
{
    bring_own(t);
    install(t->set);
}

void pvmi_lock_set_begin(struct pvmi_set *set, bool has_options)
{
    struct thread *t = &self;
    if (!pvmi_lock_is_ours())
        return;
    set->has_options = has_options || (t->set != &common && t->set->has_options);
    set->outer = t->set;
    save(t->set);
    save(set);
    t->set = installed = set;
}

void pvmi_lock_set_end(struct pvmi_set *set)
{
    if (!pvmi_lock_is_ours())
        return;
    self.set = set->outer;
    install(self.set);
}

struct pvmi_set *pvmi_lock_set_new(void)
{
    struct pvmi_set *set = pvmi_lock_is_ours() ? malloc(sizeof *set) : NULL;
    if (set)
        pvmi_lock_set_begin(set, true);
    return set;
}

void pvmi_lock_set_free(struct pvmi_set *set)
{
    if (!set)
        return;
    pvmi_lock_set_end(set);
    free(set);
}

void pvmi_lock_tell(void)
{
    pvmi_lock_news = true;
}

/* ---- the end of a thread, and of the process while others run ---- */

static void free_active(void)
{
    if (pvmi_send_buffer.mid)
        pvmi_lock_buffers->free(pvmi_send_buffer.mid);
    if (pvmi_receive_buffer.mid)
        pvmi_lock_buffers->free(pvmi_receive_buffer.mid);
}

void pvmi_lock_at_thread_end(void (*end)(void))
{
    for (int i = 0; i < THREAD_ENDS_MAX && thread_ends[i] != end; i++)
        if (!thread_ends[i]) {
            thread_ends[i] = end;
            return;
        }
}

/* Frees the thread's state, so that nothing refers to it any more. */
static void end_thread(void *arg)
{
    struct thread *t = arg;
    pvmi_lock_take();
    if (installed == &t->own) {
        free_active();
        installed = NULL;
        install(&common);
    }
    for (int i = 0; i < THREAD_ENDS_MAX && thread_ends[i]; i++)
        thread_ends[i]();
    latest = NULL;
    pvmi_handler_deferred = 0;
    t->set = NULL;
    t->known = false;
    pvmi_lock_give();
}

/*
 * The process ends: this thread runs the library's destructors, and no other thread may be inside meanwhile. The others
 * block on the lock until they end with the process.
 */
static void hold_until_the_end(void)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += EXIT_PATIENCE_S;
    if (!pvmi_lock_is_ours() && pthread_mutex_timedlock(&mutex, &limit))
        return;
    __atomic_store_n(&holder, &self, __ATOMIC_RELAXED);
    self.depth++;
}

static void get_to_know(struct thread *t)
{
    static bool will_hold;
    if (!will_hold)
        will_hold = !atexit(hold_until_the_end);
    if (!has_key)
        has_key = !pthread_key_create(&key, end_thread);
    if (has_key)
        pthread_setspecific(key, t);
    t->set = t->first = choose_set(t);
    t->known = true;
}

/* The library may be unloaded while the process continues. */
__attribute__((destructor)) static void forget_threads(void)
{
    if (has_key)
        pthread_key_delete(key);
    has_key = false;
}

/* ---- the lock ---- */

bool pvmi_lock_is_ours(void)
{
    return __atomic_load_n(&holder, __ATOMIC_RELAXED) == &self;
}

const void *pvmi_lock_self(void)
{
    return &self;
}

static void enter(struct thread *t, unsigned depth)
{
    __atomic_store_n(&holder, t, __ATOMIC_RELAXED);
    t->depth = depth;
    if (!t->known)
        get_to_know(t);
    move_in(t);
}

static void leave(void)
{
    if (pvmi_lock_news && pvmi_lock_settle)
        pvmi_lock_settle();
    __atomic_store_n(&holder, NULL, __ATOMIC_RELAXED);
}

/* A thread cancelled inside the library would keep the lock, so cancellation waits until the call has ended. */
void pvmi_lock_take(void)
{
    struct thread *t = &self;
    if (pvmi_lock_is_ours()) {
        t->depth++;
        return;
    }
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_mutex_lock(&mutex);
    t->cancel_state = state;
    enter(t, 1);
}

void pvmi_lock_give(void)
{
    if (--self.depth)
        return;
    int state = self.cancel_state;
    leave();
    pthread_mutex_unlock(&mutex);
    pthread_setcancelstate(state, NULL);
}

struct pvmi_set *pvmi_lock_set(void)
{
    return self.set;
}

void pvmi_lock_retake(const struct pvmi_set *set)
{
    struct thread *t = &self;
    if (!t->known)
        return;
    if (!pvmi_lock_is_ours()) {
        pthread_mutex_lock(&mutex);
        __atomic_store_n(&holder, t, __ATOMIC_RELAXED);
    }
    t->depth = 1;
    bring_own(t);
    if (installed == t->set && t->set != (set ? set : t->first))
        installed = NULL; /* it may have been on the stack */
}

void pvmi_lock_return(struct pvmi_set *set)
{
    if (!pvmi_lock_is_ours())
        return;
    self.set = set ? set : self.first;
    install(self.set);
    pvmi_lock_give();
}

unsigned pvmi_lock_pause(void)
{
    if (!pvmi_lock_is_ours())
        return 0;
    unsigned depth = self.depth;
    leave();
    pthread_mutex_unlock(&mutex);
    return depth;
}

void pvmi_lock_resume(unsigned depth)
{
    if (!depth)
        return;
    pthread_mutex_lock(&mutex);
    enter(&self, depth);
}

bool pvmi_lock_sleep(pthread_cond_t *wake, int64_t deadline_us)
{
    unsigned depth = self.depth;
    int rc;
    leave();
    if (deadline_us == INT64_MAX) {
        rc = pthread_cond_wait(wake, &mutex);
    } else {
        struct timespec until = {.tv_sec = deadline_us / 1000000, .tv_nsec = deadline_us % 1000000 * 1000};
        rc = pthread_cond_clockwait(wake, &mutex, CLOCK_MONOTONIC, &until);
    }
    enter(&self, depth);
    return !rc;
}

/* ---- which calls take it ---- */

static bool is_watched(void)
{
    return __atomic_load_n(&pvmi_call_watch, __ATOMIC_RELAXED) & PVMI_WATCH_THREADS;
}

void pvmi_lock_watch(void)
{
    if (!__libc_single_threaded && !is_watched())
        __atomic_fetch_or(&pvmi_call_watch, PVMI_WATCH_THREADS, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void prepare(void)
{
    if (pvmc_config_bool(PVMC_SETTING_THREADS))
        pvmi_call_watch |= PVMI_WATCH_THREADS;
}

/* ---- fork ---- */

void pvmi_lock_before_fork(void)
{
    pvmi_lock_watch();
    if (is_watched())
        pvmi_lock_take();
}

void pvmi_lock_after_fork(bool child)
{
    if (!is_watched())
        return;
    if (child && pvmi_lock_forget_others)
        pvmi_lock_forget_others();
    pvmi_lock_give();
}
