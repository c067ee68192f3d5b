/* inside.c - see inside.h. */
#include "inside.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "assured.h"
#include "client.h"
#include "limits.h"

struct buf;

/* The connection of two ends; freed with the last end and the last packet. */
struct pvma_inside {
    struct pvma_endpoint *ends[2]; /* NULL: closed */
    unsigned refs;
    /* of assured endpoints, by receiving end: what can be read, and the charge of what is written and not read */
    struct buf *unread[2];
    size_t readable[2], held[2];
};

struct buf {
    struct pvma_job job;
    struct buf *prev, *next; /* in `unread` */
    size_t read;
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
    if (listener && listener->protocol != e->protocol)
        return EPROTOTYPE;
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

/* Bytes for an assured endpoint stay until they are read. */
static void keep(struct buf *p)
{
    struct pvma_inside *inside = p->inside;
    DL_APPEND(inside->unread[p->to], p);
    inside->readable[p->to] += p->length;
    pvma_assured_came(inside->ends[p->to]);
    unref(inside); /* the end that will read them has a reference, too */
}

static void done(struct pvma_job *job)
{
    struct buf *p = PVMA_OF(job, struct buf, job);
    struct pvma_endpoint *from = p->inside->ends[!p->to], *to = p->inside->ends[p->to];
    if (to && !p->last && to->protocol) {
        keep(p);
        return;
    }
    if (to && p->last)
        pvma_endpoint_end(to, PVMA_CAUSE_NORMAL);
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

/* ---- streams ---- */

static unsigned own_index(const struct pvma_endpoint *e)
{
    return e->inside->ends[1] == e;
}

/* A write counts as a frame does: each takes memory of its own. */
size_t pvma_inside_write(struct pvma_endpoint *e, const uint8_t *data, size_t length)
{
    size_t window = e->window < PVMA_INSIDE_WINDOW ? e->window : PVMA_INSIDE_WINDOW;
    size_t *held = &e->inside->held[!own_index(e)], room = window - *held;
    size_t taken = length < room ? length : room;
    if (!taken || room < pvma_sd_charge(0))
        return 0;
    *held += pvma_sd_charge(taken);
    put(e, data, taken, false);
    return taken;
}

size_t pvma_inside_read(struct pvma_endpoint *e, uint8_t *to, size_t bytes)
{
    struct pvma_inside *inside = e->inside;
    unsigned own = own_index(e);
    size_t done = 0;
    while (inside->unread[own] && done < bytes) {
        struct buf *p = inside->unread[own];
        size_t left = p->length - p->read, n = left < bytes - done ? left : bytes - done;
        memcpy(to + done, p->data + p->read, n);
        done += n;
        p->read += n;
        if (p->read < p->length)
            break;
        DL_DELETE(inside->unread[own], p);
        inside->held[own] -= pvma_sd_charge(p->length) - p->length;
        free(p);
    }
    inside->readable[own] -= done;
    inside->held[own] -= done;
    if (done && inside->ends[!own])
        pvma_assured_room(inside->ends[!own]);
    return done;
}

size_t pvma_inside_readable(const struct pvma_endpoint *e)
{
    return e->inside->readable[own_index(e)];
}

static void drop_unread(struct pvma_inside *inside, unsigned end)
{
    struct buf *p, *next;
    DL_FOREACH_SAFE (inside->unread[end], p, next)
        free(p);
    inside->unread[end] = NULL;
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
    unsigned own = own_index(e);
    if (e->inside->ends[!own])
        put(e, NULL, 0, true);
    drop_unread(e->inside, own);
    e->inside->ends[own] = NULL;
    unref(e->inside);
    e->inside = NULL;
}
