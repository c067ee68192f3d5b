/* receive.c - pvm_recv and its kin: a message is matched in the inbox, or waited for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../core/clock.h"
#include "../core/error.h"
#include "../core/log.h"
#include "buffer.h"
#include "compat.h"
#include "inbox.h"
#include "perror.h"
#include "task.h"
#include "wait.h"

/* After so many receives that found their message at once we look whether control messages have come. */
#define UNHEARD_MAX 16

typedef int match_function(int mid, int tid, int tag);

struct search {
    int tid, tag;
    struct pvmi_waiting *found;
    int rc; /* what a match function of the program said to abort with */
};

static match_function default_match;
static match_function *match = default_match;

/* ---- matching ---- */

/* For programs that call the default match function themselves, which pvm_recvf() returned to them. */
static int default_match(int mid, int tid, int tag)
{
    const struct pvmi_message *m = pvmi_buffer_find(mid);
    return m && (tid == -1 || tid == (int)m->src) && (tag == -1 || tag == m->tag) &&
           (pvmmyctx == -1 || pvmmyctx == (int)m->ctx);
}

/*
 * Asks the program's function about each message: 0 no, 1 take it, more: take the highest, below 0: give up. It may
 * call pvm_bufinfo() and the like, but not receive.
 */
static void search_by_function(struct search *s)
{
    int best = 0;
    for (struct pvmi_waiting *w = pvmi_inbox_first(), *next; w; w = next) {
        next = w->next;
        int mid = pvmi_buffer_of_waiting(w);
        int rank = mid < 0 ? mid : match(mid, s->tid, s->tag);
        if (rank < 0) {
            s->rc = rank;
            return;
        }
        if (rank > best) {
            best = rank;
            s->found = w;
        }
        if (rank == 1) {
            s->found = w;
            return;
        }
    }
}

/* pvmi_condition: there is a message, or no sense in waiting for it. */
static bool search(void *arg)
{
    struct search *s = arg;
    s->found = NULL;
    if (match != default_match) {
        search_by_function(s);
        return s->found || s->rc;
    }
    s->found = pvmi_inbox_find(s->tid, s->tag, pvmmyctx);
    return s->found;
}

/* Looks for control messages every now and then: a task that finds all it wants in the inbox would never hear them. */
static int listen_sometimes(void)
{
    static unsigned unheard;
    if (++unheard <= UNHEARD_MAX)
        return 0;
    unheard = 0;
    return pvmi_wait_poll();
}

/* Finds a message, waiting for it until `deadline_us` (0: not at all): 0, PVMI_ETIMEOUT or an error. */
static int find(struct search *s, int64_t deadline_us)
{
    int rc = pvmi_task_need();
    if (!rc)
        rc = listen_sometimes();
    if (rc || search(s))
        return rc ? rc : s->rc;
    if (deadline_us)
        rc = pvmi_wait_until(search, s, deadline_us);
    else
        rc = pvmi_wait_poll();
    if (!rc && !deadline_us && !search(s))
        rc = PVMI_ETIMEOUT;
    return rc ? rc : s->rc;
}

/* ---- pvm_recv, pvm_nrecv, pvm_trecv, pvm_probe ---- */

static int activate(struct pvmi_waiting *w)
{
    int mid;
    struct pvmi_message *m = pvmi_inbox_take(w, &mid);
    if (mid)
        pvmi_buffer_taken(mid);
    else
        mid = pvmi_buffer_add(m);
    if (mid > 0)
        pvmi_buffer_select_receive(mid);
    return mid;
}

/* mid, 0 if there was no message in time, or an error. The old receive buffer goes in any case. */
static int receive(int tid, int tag, int64_t deadline_us)
{
    struct search s = {.tid = tid, .tag = tag};
    if (pvmi_receive_buffer.mid)
        pvmi_buffer_free(pvmi_receive_buffer.mid);
    int rc = find(&s, deadline_us);
    if (rc)
        return rc == PVMI_ETIMEOUT ? 0 : rc;
    return activate(s.found);
}

int pvm_recv(int tid, int tag)
{
    return pvmi_return("pvm_recv", receive(tid, tag, PVMI_WAIT_FOREVER));
}

int pvm_nrecv(int tid, int tag)
{
    return pvmi_return("pvm_nrecv", receive(tid, tag, 0));
}

/* The time when `timeout` is over; 0 for "do not wait". */
static int64_t deadline_of(const struct timeval *timeout)
{
    if (!timeout)
        return PVMI_WAIT_FOREVER;
    if (timeout->tv_sec > INT32_MAX)
        return PVMI_WAIT_FOREVER;
    int64_t us = (int64_t)timeout->tv_sec * 1000000 + timeout->tv_usec;
    return us > 0 ? pvmi_clock_us() + us : 0;
}

int pvm_trecv(int tid, int tag, struct timeval *timeout)
{
    return pvmi_return("pvm_trecv", receive(tid, tag, deadline_of(timeout)));
}

static int probe(int tid, int tag)
{
    struct search s = {.tid = tid, .tag = tag};
    int rc = find(&s, 0);
    if (rc)
        return rc == PVMI_ETIMEOUT ? 0 : rc;
    return pvmi_buffer_of_waiting(s.found);
}

int pvm_probe(int tid, int tag)
{
    return pvmi_return("pvm_probe", probe(tid, tag));
}

int (*pvm_recvf(int (*function)(int mid, int tid, int tag)))(int mid, int tid, int tag)
{
    match_function *old = match;
    match = function ? function : default_match;
    return old;
}

/* ---- pvm_precv ---- */

/* Takes up to n items out of m, in our format; *bytes becomes what the whole message would take here. */
static int copy_out(struct pvmi_message *m, void *data, int n, int type, int *bytes)
{
    uint64_t items = m->length / pvmi_type_bytes(type, m->dsig), item = pvmi_type_bytes(type, pvmi_dsig_own());
    uint64_t whole = m->dsig == pvmi_dsig_own() ? m->length : items * item;
    *bytes = whole > INT32_MAX ? INT32_MAX : (int)whole;
    if (whole > (uint64_t)n * item)
        pvmi_log_once(PVMI_LOG_WARNING,
                      "pvm_precv(): a message of %llu bytes was cut to the %llu that there is room for",
                      (unsigned long long)whole, (unsigned long long)n * item);
    if (m->dsig != pvmi_dsig_own())
        return pvmi_message_unpack(m, type, data, items < (uint64_t)n ? (int)items : n, 1);
    uint64_t copied = whole < (uint64_t)n * item ? whole : (uint64_t)n * item;
    if (copied)
        memcpy(data, m->mem->data, copied);
    return 0;
}

static int receive_data(int tid, int tag, void *data, int n, int type, int *rtid, int *rtag, int *rlen)
{
    if (type == PVM_STR)
        return PVMI_EUNSUPPORTED;
    if (n < 0 || (n && !data) || !pvmi_type_bytes(type, pvmi_dsig_own()))
        return PVMI_EPARAM;
    struct search s = {.tid = tid, .tag = tag};
    int rc = find(&s, PVMI_WAIT_FOREVER);
    if (rc)
        return rc;
    int mid, bytes;
    struct pvmi_message *m = pvmi_inbox_take(s.found, &mid);
    rc = copy_out(m, data, n, type, &bytes);
    if (rtid)
        *rtid = (int)m->src;
    if (rtag)
        *rtag = m->tag;
    if (rlen)
        *rlen = bytes;
    if (mid) {
        pvmi_buffer_taken(mid);
        pvmi_buffer_free(mid);
    } else {
        pvmi_message_unref(m);
    }
    return rc;
}

int pvm_precv(int tid, int tag, void *data, int n, int type, int *rtid, int *rtag, int *rlen)
{
    return pvmi_return("pvm_precv", receive_data(tid, tag, data, n, type, rtid, rtag, rlen));
}
