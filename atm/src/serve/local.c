/* local.c - see local.h. */
#include "local.h"
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "base/sim.h"
#include "client.h"
#include "limits.h"

#define LINGER_US 2000000  /* at most a quarter of PVM_ATM_PATIENCE */
#define EXPECT_US 20000000 /* a program that has not connected by then is not a PVM program */

/* Bytes from one process to another. */
struct channel {
    struct ends {
        pid_t from, to;
    } ends;
    uint64_t given, taken;
    bool watched;     /* its receiver reports what it takes */
    bool confirmed;   /* its receiver has reported something about it */
    bool wakes;       /* its receiver sleeps at the network */
    bool ended;       /* its receiver has seen an end, perhaps of an earlier connection */
    int64_t until_us; /* its sender has left the receiver and may be about to end: time waits until then; 0: no */
    int64_t doubted_until_us; /* time waits until then for its receiver to report of it; 0: it is not in doubt */
    pid_t owner;              /* the process that reported it first */
    UT_hash_handle hh;
};

struct expected {
    pid_t pid;
    pid_t owner; /* the process that has announced it */
    uint64_t place;
    int64_t until_us;
    UT_hash_handle hh;
};

struct observer {
    pid_t pid;
    UT_hash_handle hh;
};

/* What a process owns: channels, and processes that it has announced. */
struct owner {
    pid_t pid;
    unsigned count;
    UT_hash_handle hh;
};

static struct channel *channels;
static struct expected *expectations;
static struct observer *observers;
static struct owner *owners;
static unsigned busy;      /* channels with bytes in flight that hold time */
static unsigned owed;      /* channels with bytes in flight whose receivers sleep */
static unsigned lingering; /* channels with a time */
static unsigned doubted;   /* channels in doubt */

static bool is_under_way(const struct channel *c)
{
    return c->watched && c->given > c->taken;
}

/* Each change of a channel runs between uncount() and recount(). */
static void uncount(const struct channel *c)
{
    if (is_under_way(c))
        --*(c->wakes ? &owed : &busy);
}

static bool observes(pid_t pid)
{
    struct observer *o;
    HASH_FIND_INT(observers, &pid, o);
    return o;
}

/* A program could say that it has given bytes to a daemon which never gets them. */
static void doubt(struct channel *c)
{
    bool doubtful = is_under_way(c) && !c->wakes && !c->confirmed && !observes(c->ends.from);
    if (doubtful == (c->doubted_until_us != 0))
        return;
    c->doubted_until_us = doubtful ? pvmc_clock_us() + pvmc_config_us(PVMC_SETTING_ATM_PATIENCE) / 2 : 0;
    doubted += doubtful ? 1 : -1u;
}

static void recount(struct channel *c)
{
    if (is_under_way(c))
        ++*(c->wakes ? &owed : &busy);
    doubt(c);
}

/* ---- owners ---- */

static struct owner *owner_of(pid_t pid)
{
    struct owner *o;
    HASH_FIND_INT(owners, &pid, o);
    return o;
}

/* Whether the process may own so many more. */
static bool may_own(pid_t pid, unsigned more)
{
    const struct owner *o = owner_of(pid);
    return (o ? o->count : 0) + more <= (observes(pid) ? PVMA_LOCAL_OBSERVER_MAX : PVMA_LOCAL_MAX);
}

static void own(pid_t pid)
{
    struct owner *o = owner_of(pid);
    if (!o) {
        o = pvma_new(sizeof *o);
        *o = (struct owner){.pid = pid};
        if (!PVMC_HASH_ADD(hh, owners, pid, o))
            pvma_out_of_memory();
    }
    o->count++;
}

static void disown(pid_t pid)
{
    struct owner *o = owner_of(pid);
    if (--o->count)
        return;
    HASH_DEL(owners, o);
    free(o);
}

/* ---- channels ---- */

static struct channel *lookup(pid_t from, pid_t to)
{
    struct ends ends;
    struct channel *c;
    memset(&ends, 0, sizeof ends);
    ends.from = from;
    ends.to = to;
    HASH_FIND(hh, channels, &ends, sizeof ends, c);
    return c;
}

static void add(pid_t from, pid_t to, pid_t owner)
{
    if (lookup(from, to))
        return;
    struct channel *c = pvma_new(sizeof *c);
    c->ends.from = from;
    c->ends.to = to;
    c->owner = owner;
    c->watched = observes(to);
    if (!PVMC_HASH_ADD(hh, channels, ends, c))
        pvma_out_of_memory();
    own(owner);
}

/* Adds what is missing of both channels between a process that reports and another one. False: it has too many. */
static bool add_both(pid_t from, pid_t other)
{
    bool there = lookup(from, other) && lookup(other, from);
    if (!there && !may_own(from, 2))
        return false;
    add(from, other, from);
    add(other, from, from);
    return true;
}

static void drop(struct channel *c)
{
    uncount(c);
    lingering -= c->until_us != 0;
    doubted -= c->doubted_until_us != 0;
    disown(c->owner);
    HASH_DEL(channels, c);
    free(c);
}

static void forget(struct expected *e)
{
    disown(e->owner);
    HASH_DEL(expectations, e);
    free(e);
}

/* The process that has announced `pid` sees it end. */
static void forget_announced(pid_t owner, pid_t pid)
{
    struct expected *e;
    HASH_FIND_INT(expectations, &pid, e);
    if (e && e->owner == owner)
        forget(e);
}

/* `from` has seen a connection of `other` end. `other` may have connected again, or may never have connected. */
static void see_end(pid_t from, pid_t other)
{
    struct channel *in = lookup(other, from), *out = lookup(from, other);
    forget_announced(from, other); /* it has connected already, or never will */
    in->ended = pvma_client_is_here(other);
    if (in->ended)
        return;
    drop(in);
    if (out != in)
        drop(out);
}

/*
 * The connection of observer `from` to `other` has ended, and `other` lives on. Most processes end soon afterwards, and
 * their observers report it, so time waits a little for that. `other` leaves the network before this or afterwards.
 */
static void begin_anew(pid_t from, pid_t other)
{
    struct channel *out = lookup(from, other), *in = lookup(other, from);
    int64_t patience_us = pvmc_config_us(PVMC_SETTING_ATM_PATIENCE) / 4;
    uncount(out);
    out->given = 0;
    recount(out);
    uncount(in);
    lingering += !in->until_us;
    in->until_us = pvmc_clock_us() + (patience_us < LINGER_US ? patience_us : LINGER_US);
    in->given = PVMA_LOCAL_CLOSED;
    in->taken = 0;
    in->watched = true;
    in->ended = false;
    recount(in);
}

/* The process speaks to the observer again. */
static void speak_again(struct channel *c)
{
    lingering -= c->until_us != 0;
    c->until_us = 0;
    c->given = 0;
}

/* Drops the channels of processes that live on. */
static void drop_lingering(void)
{
    struct channel *c, *next;
    if (lingering)
        HASH_ITER (hh, channels, c, next)
            if (c->until_us && pvmc_clock_us() > c->until_us)
                drop(c);
}

static void count(pid_t from, pid_t other, uint64_t given, uint64_t taken)
{
    struct channel *out = lookup(from, other), *in = lookup(other, from);
    uncount(out);
    if (out->until_us)
        speak_again(out);
    if (given > out->given || (!given && !taken))
        out->given = given;
    recount(out);
    uncount(in);
    in->taken = taken;
    in->watched = in->confirmed = true;
    in->ended = false;
    recount(in);
}

int pvma_local_count(pid_t from, pid_t other, uint64_t given, uint64_t taken)
{
    if (!add_both(from, other))
        return PVMC_ELIMIT;
    if (taken == PVMA_LOCAL_CLOSED)
        see_end(from, other);
    else if (!given && !taken && observes(from))
        begin_anew(from, other);
    else
        count(from, other, given, taken);
    return 0;
}

void pvma_local_observes(pid_t pid)
{
    if (observes(pid))
        return;
    struct observer *o = pvma_new(sizeof *o);
    o->pid = pid;
    if (!PVMC_HASH_ADD(hh, observers, pid, o))
        pvma_out_of_memory();
}

void pvma_local_sleeps(pid_t pid, pid_t from)
{
    struct channel *c = lookup(from, pid);
    if (!c)
        return;
    uncount(c);
    c->wakes = true;
    recount(c);
}

uint64_t pvma_local_owed(pid_t pid, pid_t from)
{
    const struct channel *c = lookup(from, pid);
    return c && is_under_way(c) ? c->given - c->taken : 0;
}

bool pvma_local_any_owed(void)
{
    return owed;
}

static void forget_observer(pid_t pid)
{
    struct observer *o;
    HASH_FIND_INT(observers, &pid, o);
    if (!o)
        return;
    HASH_DEL(observers, o);
    free(o);
}

void pvma_local_forget(pid_t pid)
{
    struct channel *c, *next;
    struct expected *e, *after;
    HASH_ITER (hh, channels, c, next)
        if (c->ends.to == pid || c->ends.from == pid)
            drop(c);
    HASH_ITER (hh, expectations, e, after)
        if (e->owner == pid)
            forget(e);
    forget_observer(pid);
}

void pvma_local_left(pid_t pid)
{
    struct channel *c, *next;
    HASH_ITER (hh, channels, c, next)
        if (c->ends.to == pid || (c->ends.from == pid && (c->ended || !pvma_client_is_here(c->ends.to)))) {
            drop(c);
        } else if (c->ends.from == pid) {
            uncount(c);
            c->given = PVMA_LOCAL_CLOSED; /* the end of file counts as one more item to take */
            recount(c);
        }
    forget_observer(pid);
}

/* ---- announced processes ---- */

int pvma_local_expect(pid_t owner, pid_t pid)
{
    static uint64_t last_place;
    struct expected *e;
    HASH_FIND_INT(expectations, &pid, e);
    if (e)
        return 0;
    if (!may_own(owner, 1))
        return PVMC_ELIMIT;
    e = pvma_new(sizeof *e);
    *e = (struct expected){.pid = pid, .owner = owner, .place = ++last_place, .until_us = pvmc_clock_us() + EXPECT_US};
    if (!PVMC_HASH_ADD(hh, expectations, pid, e))
        pvma_out_of_memory();
    own(owner);
    return 0;
}

uint64_t pvma_local_came(pid_t pid)
{
    struct channel *c, *next;
    struct expected *e;
    HASH_ITER (hh, channels, c, next)
        if (c->given == PVMA_LOCAL_CLOSED && c->ends.from == pid)
            drop(c); /* the process left and has connected again */
    HASH_FIND_INT(expectations, &pid, e);
    uint64_t place = e ? e->place : 0;
    if (e)
        forget(e);
    return place;
}

bool pvma_local_is_busy(void)
{
    struct expected *e, *next;
    drop_lingering();
    HASH_ITER (hh, expectations, e, next) {
        bool late = pvmc_clock_us() > e->until_us;
        if (late)
            pvmc_log(PVMC_LOG_WARNING, "process %d was started but has not connected in %d s: time advances without it",
                     (int)e->pid, EXPECT_US / 1000000);
        if (late || (!observers && kill(e->pid, 0))) /* daemons report processes that have ended */
            forget(e);
    }
    return busy || expectations;
}

bool pvma_local_expects(void)
{
    return expectations || lingering || doubted;
}

pid_t pvma_local_doubtful(void)
{
    const struct channel *c;
    for (c = doubted ? channels : NULL; c; c = c->hh.next)
        if (c->doubted_until_us && pvmc_clock_us() > c->doubted_until_us)
            return c->ends.from;
    return 0;
}

void pvma_local_explain(int level)
{
    const struct channel *c;
    const struct expected *e;
    for (c = channels; c; c = c->hh.next)
        if (is_under_way(c) && c->given == PVMA_LOCAL_CLOSED)
            pvmc_log(level, "process %d has not noticed that process %d has left", (int)c->ends.to, (int)c->ends.from);
        else if (is_under_way(c) && !c->wakes)
            pvmc_log(level, "process %d has not taken %llu bytes from process %d", (int)c->ends.to,
                     (unsigned long long)(c->given - c->taken), (int)c->ends.from);
    for (e = expectations; e; e = e->hh.next)
        pvmc_log(level, "process %d was started and has not connected", (int)e->pid);
}

void pvma_local_free_all(void)
{
    struct channel *c, *next;
    struct expected *e, *after;
    struct observer *o, *behind;
    HASH_ITER (hh, channels, c, next)
        drop(c);
    HASH_ITER (hh, expectations, e, after)
        forget(e);
    HASH_ITER (hh, observers, o, behind) {
        HASH_DEL(observers, o);
        free(o);
    }
}
