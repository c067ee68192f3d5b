/* inside.c - see inside.h. */
#include "inside.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "client.h"

/* The connection of two ends; freed with the last end and the last packet. */
struct pvma_inside {
    struct pvma_endpoint *ends[2]; /* NULL: closed */
    unsigned refs;
};

struct buf {
    struct pvma_job job;
    struct pvma_inside *inside;
    unsigned to; /* index of the receiving end */
    bool last;   /* no packet: the sending end has closed */
    size_t length;
    uint8_t data[];
};

static void unref(struct pvma_inside *inside)
{
    if (!--inside->refs)
        free(inside);
}

bool pvma_inside_is_own(const struct pvma_endpoint *e, const Atm_address *nsap)
{
    Atm_address own = pvma_endpoint_nsap(e->host);
    return !memcmp(&own, nsap, sizeof own);
}

/* ---- connecting ---- */

static struct pvma_endpoint *listener_at(const struct pvma_host *host, uint32_t asap)
{
    struct pvma_client *c;
    struct pvma_endpoint *e;
    DL_FOREACH (pvma_clients, c)
        DL_FOREACH (c->endpoints, e)
            if (e->host == host && e->listening && e->asap == asap)
                return e;
    return NULL;
}

int pvma_inside_connect(struct pvma_endpoint *e, const struct pvma_fore_message *m,
                        const struct pvma_contract *contract)
{
    struct pvma_endpoint *listener = listener_at(e->host, m->address.asap);
    struct pvma_caller caller = {.inside = e, .contract = *contract};
    Atm_endpoint from = {e->asap, m->address.nsap};
    return listener && pvma_endpoint_announce(listener, &caller, &from) ? 0 : ECONNREFUSED;
}

void pvma_inside_accept(struct pvma_endpoint *fresh, struct pvma_endpoint *caller)
{
    struct pvma_inside *inside = pvma_new(sizeof *inside);
    *inside = (struct pvma_inside){.ends = {caller, fresh}, .refs = 2};
    caller->inside = fresh->inside = inside;
    caller->state = fresh->state = PVMA_ENDPOINT_CONNECTED;
}

/* ---- packets ---- */

static void done(struct pvma_job *job)
{
    struct buf *p = PVMA_OF(job, struct buf, job);
    struct pvma_endpoint *from = p->inside->ends[!p->to], *to = p->inside->ends[p->to];
    if (to && p->last)
        pvma_endpoint_end(to);
    else if (to)
        pvma_endpoint_deliver(to, to->host, p->data, p->length);
    if (from && !p->last)
        pvma_endpoint_call_over(from);
    unref(p->inside);
    free(p);
}

static void put(struct pvma_endpoint *e, const uint8_t *data, size_t length, bool last)
{
    const int64_t *cost = pvma_host_profile(e->host)->cost;
    struct buf *p = pvma_new(sizeof *p + length);
    p->job.done = done;
    p->inside = e->inside;
    p->inside->refs++;
    p->to = p->inside->ends[0] == e;
    p->last = last;
    p->length = length;
    if (length)
        memcpy(p->data, data, length);
    pvma_ps time = cost[PVMA_COST_tx_pdu] + cost[PVMA_COST_rx_pdu] +
                   (cost[PVMA_COST_tx_byte] + cost[PVMA_COST_rx_byte]) * (int64_t)length;
    pvma_stage_put(pvma_host_processor(e->host), &p->job, last ? 0 : time);
}

void pvma_inside_send(struct pvma_endpoint *e, const uint8_t *data, size_t length)
{
    e->sending = true;
    put(e, data, length, false);
}

/* ---- the end ---- */

/* Removes an endpoint from the callers that wait for an answer. */
static void withdraw(struct pvma_endpoint *e)
{
    struct pvma_client *c;
    struct pvma_endpoint *listener;
    struct pvma_caller *caller, *next;
    DL_FOREACH (pvma_clients, c)
        DL_FOREACH (c->endpoints, listener)
            DL_FOREACH_SAFE (listener->callers, caller, next)
                if (caller->inside == e)
                    pvma_endpoint_forget_caller(listener, caller);
}

void pvma_inside_leave(struct pvma_endpoint *e)
{
    if (!e->inside) {
        withdraw(e);
        return;
    }
    unsigned own = e->inside->ends[1] == e;
    if (e->inside->ends[!own])
        put(e, NULL, 0, true);
    e->inside->ends[own] = NULL;
    unref(e->inside);
    e->inside = NULL;
}
