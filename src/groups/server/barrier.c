#include "meeting.h"
#include <stdlib.h>
#include <time.h>
#include "pvm3.h"

/*
 * When a barrier fails, because counts differ or a member has ended, all who were there get the error. Those members
 * who have not come yet belong to that barrier, too: as many of them as were still awaited get the error when they
 * come, and then all can try again.
 */

enum {
    SETTLE_MS = 250, /* a conflict that lasts as long is none of timing: a member's farewell may be on its way */
    LOOK_MS = 50,
};

static int all_watchers; /* of all groups */

/* Appends to a list of tids; false when out of memory. */
static bool append(int **tids, int *n, int *capacity, int tid)
{
    if (*n == *capacity) {
        int more = *capacity ? 2 * *capacity : 16;
        int *bigger = realloc(*tids, (size_t)more * sizeof(**tids));

        if (!bigger)
            return false;
        *tids = bigger;
        *capacity = more;
    }
    (*tids)[(*n)++] = tid;
    return true;
}

static bool take_out(int *tids, int *n, int tid)
{
    for (int i = 0; i < *n; i++) {
        if (tids[i] == tid) {
            tids[i] = tids[--*n];
            return true;
        }
    }
    return false;
}

static int wanted(const struct group *g, const struct meeting *m)
{
    return m->whole ? g->size : m->count;
}

/* ---- barrier ---- */

static void release(struct group *g, int code)
{
    if (code >= 0)
        g->owed_failures = 0;
    reply_meeting(PVMI_GROUP_BARRIER, code, g, &g->barrier);
}

/* The barrier fails for all who are there, and for as many of the others as were awaited. */
static void fail(struct group *g, int code, int awaited)
{
    for (struct member *m = g->members; m; m = m->hh.next)
        m->told_failure = false;
    for (int i = 0; i < g->barrier.reached; i++) {
        struct member *m = group_member(g, g->barrier.tids[i]);
        if (m)
            m->told_failure = true;
    }
    g->owed_failures = awaited - g->barrier.reached;
    g->owed_code = code;
    release(g, code);
}

/* Is this member one of them? */
static bool is_owed(struct group *g, struct member *m)
{
    if (g->owed_failures <= 0 || m->told_failure)
        return false;
    g->owed_failures--;
    m->told_failure = true;
    return true;
}

/* Lets all go if enough are there. In a frozen group nobody can be added to those who all wait for more. */
static void check_barrier(struct group *g)
{
    int want = wanted(g, &g->barrier);

    if (g->barrier.reached == 0)
        return;
    if (g->barrier.reached >= want)
        release(g, PvmOk);
    else if (g->frozen && g->barrier.reached == g->size)
        fail(g, PvmMismatch, g->size);
}

static void join_barrier(struct group *g, const struct request *r, int count)
{
    struct meeting *b = &g->barrier;
    int want, have;

    if (b->reached == 0) {
        b->whole = count == -1;
        b->count = count;
    }
    have = wanted(g, b);
    want = count == -1 ? g->size : count;
    if (!append(&b->tids, &b->reached, &b->capacity, r->from)) {
        reply_code(r, PvmNoMem);
        return;
    }
    if (want != have)
        fail(g, PvmMismatch, want > have ? want : have);
    else
        check_barrier(g);
}

void barrier_enter(struct group *g, struct member *m, const struct request *r, int count)
{
    if (count < 1 && count != -1)
        reply_code(r, PvmMismatch);
    else if (g->broken)
        reply_code(r, g->broken);
    else if (g->frozen && (count == -1 || count == g->size))
        reply_code(r, PVMI_BARRIER_AMONG_MEMBERS);
    else if (is_owed(g, m))
        reply_code(r, g->owed_code);
    else
        join_barrier(g, r, count);
}

static void unwatch(struct group *g, int tid)
{
    if (!take_out(g->watchers, &g->watching, tid))
        return;
    all_watchers--;
    g->conflict_since_ms = 0;
}

void barrier_watch(struct group *g, int tid, bool on)
{
    unwatch(g, tid);
    if (on && append(&g->watchers, &g->watching, &g->watchers_capacity, tid))
        all_watchers++;
}

static long clock_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000L + t.tv_nsec / 1000000;
}

/* True when the conflict has to be looked at again. */
static bool settle(struct group *g, long now)
{
    if (g->watching == 0 || g->barrier.reached == 0) {
        g->conflict_since_ms = 0;
        return false;
    }
    if (g->conflict_since_ms == 0)
        g->conflict_since_ms = now;
    if (now - g->conflict_since_ms < SETTLE_MS)
        return true;
    g->conflict_since_ms = 0;
    all_watchers -= g->watching;
    g->watching = 0;
    tell_members(g, PVMI_EVENT_MISMATCH, ++g->epoch); /* comes before the answer: see note_mismatch() in group.c */
    release(g, PvmMismatch);
    return false;
}

int barrier_settle_conflicts(void)
{
    bool again = false;
    long now;

    if (all_watchers == 0)
        return 0;
    now = clock_ms();
    for (struct group *g = roster_first(); g; g = g->hh.next)
        again |= settle(g, now);
    return again ? LOOK_MS : 0;
}

/* ---- freeze ---- */

static void check_freeze(struct group *g)
{
    struct meeting *f = &g->freeze;
    int size = wanted(g, f);

    if (f->reached == 0 || f->reached < size)
        return;
    bool done = group_freeze(g);
    reply_meeting(PVMI_GROUP_FREEZE, done ? size : PvmNoMem, g, f);
}

void freeze_enter(struct group *g, const struct request *r, int size)
{
    struct meeting *f = &g->freeze;

    if (g->frozen) {
        reply_code(r, PvmDupGroup);
        return;
    }
    if (size < 1 && size != -1) {
        reply_code(r, PvmMismatch);
        return;
    }
    if (f->reached == 0) {
        f->whole = size == -1;
        f->count = size;
    }
    if ((size == -1 ? g->size : size) != wanted(g, f))
        reply_code(r, PvmMismatch);
    else if (!append(&f->tids, &f->reached, &f->capacity, r->from))
        reply_code(r, PvmNoMem);
    else
        check_freeze(g);
}

/* ---- members that go ---- */

void meetings_forget(struct group *g, struct member *m)
{
    take_out(g->barrier.tids, &g->barrier.reached, m->tid);
    take_out(g->freeze.tids, &g->freeze.reached, m->tid);
    unwatch(g, m->tid);
    is_owed(g, m); /* nobody else shall get its share */
}

/* Was one who died among those that the meeting waits for? */
static bool hopeless(const struct group *g, const struct meeting *m)
{
    return m->reached > 0 && (m->whole || m->count > g->size);
}

void meetings_shrunk(struct group *g, bool died)
{
    if (died && hopeless(g, &g->freeze))
        reply_meeting(PVMI_GROUP_FREEZE, PvmNoTask, g, &g->freeze);
    if (g->frozen)
        release(g, died ? PvmNoTask : PvmNoGroup);
    else if (died && hopeless(g, &g->barrier))
        fail(g, PvmNoTask, (g->barrier.whole ? g->size : g->barrier.count - 1));
    check_barrier(g);
    check_freeze(g);
}
