/* local.c - see local.h. */
#include "local.h"
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <uthash.h>
#include "../../core/clock.h"
#include "../sim.h"

#define EXPECT_US 5000000 /* a program that does not come in this time never will: it is none of PVM's */

/* Bytes from one process to another. */
struct channel {
    struct ends {
        pid_t from, to;
    } ends;
    uint64_t given, taken;
    bool watched; /* its receiver tells what it takes */
    UT_hash_handle hh;
};

struct expected {
    pid_t pid;
    int64_t until_us;
    UT_hash_handle hh;
};

static struct channel *channels;
static struct expected *expectations;
static unsigned busy; /* channels with bytes under way */

static bool is_busy(const struct channel *c)
{
    return c->watched && c->given > c->taken;
}

static struct channel *find(pid_t from, pid_t to)
{
    struct ends ends;
    struct channel *c;
    memset(&ends, 0, sizeof ends);
    ends.from = from;
    ends.to = to;
    HASH_FIND(hh, channels, &ends, sizeof ends, c);
    if (c)
        return c;
    c = pvma_new(sizeof *c);
    c->ends = ends;
    HASH_ADD(hh, channels, ends, sizeof ends, c);
    return c;
}

static void drop(struct channel *c)
{
    busy -= is_busy(c);
    HASH_DEL(channels, c);
    free(c);
}

void pvma_local_count(pid_t from, pid_t other, uint64_t given, uint64_t taken)
{
    struct channel *out = find(from, other), *in = find(other, from);
    busy -= is_busy(out) + is_busy(in);
    if (given > out->given)
        out->given = given;
    in->taken = taken;
    in->watched = true;
    busy += is_busy(out) + is_busy(in);
    if (taken == PVMA_LOCAL_CLOSED) {
        drop(in);
        drop(out);
    }
}

void pvma_local_left(pid_t pid)
{
    struct channel *c, *next;
    HASH_ITER (hh, channels, c, next)
        if (c->ends.to == pid) {
            drop(c);
        } else if (c->ends.from == pid) {
            busy -= is_busy(c);
            c->given = PVMA_LOCAL_CLOSED; /* its end is the last thing it gives */
            busy += is_busy(c);
        }
}

/* ---- those that come ---- */

static void forget(struct expected *e)
{
    HASH_DEL(expectations, e);
    free(e);
}

void pvma_local_expect(pid_t pid)
{
    struct expected *e;
    HASH_FIND_INT(expectations, &pid, e);
    if (e)
        return;
    e = pvma_new(sizeof *e);
    *e = (struct expected){.pid = pid, .until_us = pvmi_clock_us() + EXPECT_US};
    HASH_ADD_INT(expectations, pid, e);
}

void pvma_local_came(pid_t pid)
{
    struct expected *e;
    HASH_FIND_INT(expectations, &pid, e);
    if (e)
        forget(e);
}

bool pvma_local_is_busy(void)
{
    struct expected *e, *next;
    HASH_ITER (hh, expectations, e, next)
        if (kill(e->pid, 0) || pvmi_clock_us() > e->until_us)
            forget(e);
    return busy || expectations;
}

bool pvma_local_expects(void)
{
    return expectations;
}

void pvma_local_free_all(void)
{
    struct channel *c, *next;
    struct expected *e, *after;
    HASH_ITER (hh, channels, c, next)
        drop(c);
    HASH_ITER (hh, expectations, e, after)
        forget(e);
}
