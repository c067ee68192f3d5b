/* resolve.c - getaddrinfo() in threads. */
#include "resolve.h"
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"

#define STACK_BYTES (256u << 10)
#define STOP_WAIT_S 1 /* for all threads together, at the daemon's end */

struct pvmd_resolve {
    char *name;
    pvmd_resolved *resolved; /* NULL: cancelled. Used by the loop's thread only. */
    void *arg;
    struct pvmw_addresses found; /* the two results: owned by the thread until `done` */
    char why[128];
    bool done; /* protected by the lock */
    struct pvmd_resolve *prev, *next;
};

static struct ev_loop *loop;
static ev_async answered;        /* some thread is done */
static struct pvmd_resolve *all; /* used by the loop's thread only */
static bool stopped;             /* protected by the lock: the loop is gone */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void ask(struct pvmd_resolve *r)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG}, *list = NULL;
    int rc = getaddrinfo(r->name, NULL, &hints, &list);
    if (rc == EAI_NONAME || rc == EAI_ADDRFAMILY || rc == EAI_NODATA) { /* loopback names without other interfaces */
        hints.ai_flags = 0;
        rc = getaddrinfo(r->name, NULL, &hints, &list);
    }
    if (rc) {
        snprintf(r->why, sizeof r->why, "%s", rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
        return;
    }
    for (const struct addrinfo *i = list; i; i = i->ai_next) {
        union pvmw_address a;
        if (!pvmw_address_from(i->ai_addr, &a))
            pvmw_addresses_add(&r->found, &a);
    }
    freeaddrinfo(list);
}

static void *run(void *arg)
{
    struct pvmd_resolve *r = arg;
    ask(r);
    pthread_mutex_lock(&lock);
    r->done = true;
    if (!stopped)
        ev_async_send(loop, &answered);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void free_resolve(struct pvmd_resolve *r)
{
    DL_DELETE(all, r);
    free(r->name);
    free(r);
    if (!all)
        ev_async_stop(loop, &answered);
}

static struct pvmd_resolve *find_done(void)
{
    struct pvmd_resolve *r;
    pthread_mutex_lock(&lock);
    DL_FOREACH (all, r)
        if (r->done)
            break;
    pthread_mutex_unlock(&lock);
    return r;
}

static void answered_event(struct ev_loop *l, ev_async *w, int events)
{
    struct pvmd_resolve *r;
    (void)l, (void)w, (void)events;
    while ((r = find_done())) {
        struct pvmd_resolve copy = *r;
        free_resolve(r);
        if (copy.resolved)
            copy.resolved(copy.arg, &copy.found, copy.found.count ? NULL : copy.why);
    }
}

static int start_thread(struct pvmd_resolve *r)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigset_t blocked, old;
    sigfillset(&blocked); /* the loop handles signals */
    pthread_sigmask(SIG_SETMASK, &blocked, &old);
    int error = pthread_create(&thread, &attributes, run, r);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

struct pvmd_resolve *pvmd_resolve_start(struct ev_loop *l, const char *name, pvmd_resolved *resolved, void *arg)
{
    struct pvmd_resolve *r = calloc(1, sizeof *r);
    if (r)
        r->name = strdup(name);
    if (!r || !r->name) {
        pvmc_log(PVMC_LOG_ERROR, "no memory to look up %s", name);
        free(r);
        return NULL;
    }
    r->resolved = resolved;
    r->arg = arg;
    if (!all) { /* no thread can see it yet */
        loop = l;
        ev_async_init(&answered, answered_event);
        ev_async_start(loop, &answered);
    }
    DL_APPEND(all, r);
    int error = start_thread(r);
    if (!error)
        return r;
    pvmc_log(PVMC_LOG_ERROR, "cannot look up %s: no thread: %s", name, strerror(error));
    free_resolve(r);
    return NULL;
}

void pvmd_resolve_cancel(struct pvmd_resolve *r)
{
    r->resolved = NULL;
}

void pvmd_resolve_stop(void)
{
    struct timespec until;
    struct pvmd_resolve *r, *next;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STOP_WAIT_S;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE (all, r, next) {
        int error = 0;
        while (!r->done && !error)
            error = pthread_cond_timedwait(&changed, &lock, &until);
        if (r->done)
            free_resolve(r);
    }
    pthread_mutex_unlock(&lock);
}
