#include "barrier.h"
#include <stdlib.h>
#include <time.h>
#include "boards.h"
#include "pvm3.h"

/*
 * When a barrier fails because counts differ, all members that wait get the error. Members that have not arrived belong
 * to the failed barrier, too: as many as were still awaited get the error when they arrive. Then all can try again.
 *
 * A member that dies leaves a vacant place until another task joins. While there is one, a barrier or freeze for more
 * members than there are cannot complete: each survivor that waits in one, or enters one, gets PvmNoTask, once for the
 * deaths so far. So it does not matter whether the death or the call came first. A survivor that calls again waits for
 * tasks to join, as in PVM. A count of -1 means those who are there, so death only makes it smaller.
 */

enum {
    CONFLICT_MS = 250, /* a shorter conflict may be due to messages in transit */
    CHECK_MS = 50,
};

static int all_watchers; /* number of watchers in all groups */

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

static int wanted(const struct group *g, const struct barrier *m)
{
    return m->whole ? g->size : m->count;
}

/* Whether the barrier is for more members than there are, and one of the missing has died. */
static bool lacks_dead(const struct group *g, int count)
{
    return count > g->size && g->vacant > 0;
}

/* Whether a member that enters a barrier of this count has to hear of a death; counts it as told. */
static bool tell_death(const struct group *g, struct member *m, int count)
{
    bool due = lacks_dead(g, count) && m->told_deaths != g->deaths;

    m->told_deaths = g->deaths;
    return due;
}

/* Counts all that wait in the barrier as told. */
static void note_told(struct group *g, const struct barrier *b)
{
    for (int i = 0; i < b->reached; i++) {
        struct member *m = pvmg_roster_member(g, b->tids[i]);

        if (m)
            m->told_deaths = g->deaths;
    }
}

/* The member is going to wait with this request. If it waits already, it has jumped out of that call. */
static void begin_wait(struct group *g, struct member *m, const struct request *r)
{
    if (m->waiting) {
        take_out(g->barrier.tids, &g->barrier.reached, m->tid);
        take_out(g->freeze.tids, &g->freeze.reached, m->tid);
    }
    m->waiting = r->serial;
}

/* ---- barrier ---- */

static void release(struct group *g, int code)
{
    if (code >= 0)
        g->pending_failures = 0;
    if (code >= 0 && g->barrier.reached == g->size && !g->frozen)
        pvmg_boards_meet(g);
    pvmg_reply_barrier(PVMG_GROUP_BARRIER, code, g, &g->barrier);
}

/* Fails the barrier for all that wait, and for as many others as were awaited. */
static void fail(struct group *g, int code, int awaited)
{
    for (struct member *m = g->members; m; m = m->hh.next)
        m->told_failure = false;
    for (int i = 0; i < g->barrier.reached; i++) {
        struct member *m = pvmg_roster_member(g, g->barrier.tids[i]);
        if (m)
            m->told_failure = true;
    }
    g->pending_failures = awaited - g->barrier.reached;
    g->pending_code = code;
    release(g, code);
}

/* Whether this member still has to get the error of a failed barrier; counts it as delivered. */
static bool take_pending_failure(struct group *g, struct member *m)
{
    if (g->pending_failures <= 0 || m->told_failure)
        return false;
    g->pending_failures--;
    m->told_failure = true;
    return true;
}

/* Releases the barrier if enough have arrived. A frozen group gets no more members, so it fails if all have arrived and
 * wait for more. */
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

static void join_barrier(struct group *g, struct member *m, const struct request *r, int count)
{
    struct barrier *b = &g->barrier;
    int want, have;

    begin_wait(g, m, r);
    if (b->reached == 0) {
        b->whole = count == -1;
        b->count = count;
    }
    have = wanted(g, b);
    want = count == -1 ? g->size : count;
    if (!append(&b->tids, &b->reached, &b->capacity, r->from)) {
        pvmg_reply_code(r, PvmNoMem);
        return;
    }
    if (want != have)
        fail(g, PvmMismatch, want > have ? want : have);
    else
        check_barrier(g);
}

void pvmg_barrier_enter(struct group *g, struct member *m, const struct request *r, int count)
{
    if (count < 1 && count != -1)
        pvmg_reply_code(r, PvmMismatch);
    else if (g->broken)
        pvmg_reply_code(r, g->broken);
    else if (g->frozen && (count == -1 || count == g->size))
        pvmg_reply_code(r, PVMG_BARRIER_AMONG_MEMBERS);
    else if (tell_death(g, m, count))
        pvmg_reply_change(g, m, r, PvmNoTask);
    else if (take_pending_failure(g, m))
        pvmg_reply_change(g, m, r, g->pending_code);
    else
        join_barrier(g, m, r, count);
}

static void unwatch(struct group *g, int tid)
{
    if (!take_out(g->watchers, &g->watching, tid))
        return;
    all_watchers--;
    g->conflict_since_ms = 0;
}

void pvmg_barrier_watch(struct group *g, int tid, bool on)
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

/* True when the conflict must be checked again. */
static bool check_conflict(struct group *g, long now)
{
    if (g->watching == 0 || g->barrier.reached == 0) {
        g->conflict_since_ms = 0;
        return false;
    }
    if (g->conflict_since_ms == 0)
        g->conflict_since_ms = now;
    if (now - g->conflict_since_ms < CONFLICT_MS)
        return true;
    g->conflict_since_ms = 0;
    all_watchers -= g->watching;
    g->watching = 0;
    pvmg_roster_changed(g);
    pvmg_tell_members(g, PVMG_EVENT_MISMATCH, ++g->epoch); /* must precede the answer, see note_mismatch() in group.c */
    release(g, PvmMismatch);
    return false;
}

int pvmg_barrier_check_conflicts(void)
{
    bool again = false;
    long now;

    if (all_watchers == 0)
        return 0;
    now = clock_ms();
    for (struct group *g = pvmg_roster_first(); g; g = g->hh.next)
        again |= check_conflict(g, now);
    return again ? CHECK_MS : 0;
}

/* ---- freeze ---- */

static void check_freeze(struct group *g)
{
    struct barrier *f = &g->freeze;
    int size = wanted(g, f);

    if (f->reached == 0 || f->reached < size)
        return;
    bool done = pvmg_roster_freeze(g);
    if (done)
        pvmg_boards_offer(g); /* before the answer: so all have found the board when they meet for the first time */
    pvmg_reply_barrier(PVMG_GROUP_FREEZE, done ? size : PvmNoMem, g, f);
}

void pvmg_freeze_enter(struct group *g, struct member *m, const struct request *r, int size)
{
    struct barrier *f = &g->freeze;

    if (g->frozen) {
        pvmg_reply_code(r, PvmDupGroup);
        return;
    }
    if (size < 1 && size != -1) {
        pvmg_reply_code(r, PvmMismatch);
        return;
    }
    if (tell_death(g, m, size)) {
        pvmg_reply_change(g, m, r, PvmNoTask);
        return;
    }
    begin_wait(g, m, r);
    if (f->reached == 0) {
        f->whole = size == -1;
        f->count = size;
    }
    if ((size == -1 ? g->size : size) != wanted(g, f))
        pvmg_reply_code(r, PvmMismatch);
    else if (!append(&f->tids, &f->reached, &f->capacity, r->from))
        pvmg_reply_code(r, PvmNoMem);
    else
        check_freeze(g);
}

/* ---- members that leave or end ---- */

void pvmg_barriers_forget(struct group *g, struct member *m)
{
    take_out(g->barrier.tids, &g->barrier.reached, m->tid);
    take_out(g->freeze.tids, &g->freeze.reached, m->tid);
    unwatch(g, m->tid);
    take_pending_failure(g, m); /* so that no other member gets the error instead */
}

static bool waits_for_dead(const struct group *g, const struct barrier *b)
{
    return b->reached > 0 && !b->whole && lacks_dead(g, b->count);
}

/* A place of this group has become vacant. */
static void note_death(struct group *g)
{
    g->deaths++;
    g->vacant++;
    if (waits_for_dead(g, &g->freeze)) {
        note_told(g, &g->freeze);
        pvmg_reply_barrier(PVMG_GROUP_FREEZE, PvmNoTask, g, &g->freeze);
    }
    if (!g->frozen && waits_for_dead(g, &g->barrier)) {
        note_told(g, &g->barrier);
        release(g, PvmNoTask);
    }
}

void pvmg_barriers_shrunk(struct group *g, bool died)
{
    if (died)
        note_death(g);
    if (g->frozen)
        release(g, died ? PvmNoTask : PvmNoGroup);
    check_barrier(g);
    check_freeze(g);
}
