#include "collect.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "handover.h"
#include "pvm3.h"

enum { FIRST_ASK_US = 1000000 }; /* delay until the root probes missing members */

/* Inserts a contribution by position; a duplicate is dropped. */
static void insert(struct pvmg_collect *k, struct pvmg_packet *p)
{
    struct pvmg_packet *after = k->pieces;

    if (k->arrived[p->start]) {
        pvmg_packet_free(p);
        return;
    }
    k->arrived[p->start] = true;
    k->missing--;
    while (after && after->start < p->start)
        after = after->next;
    DL_PREPEND_ELEM(k->pieces, after, p);
}

/* Reduces into the first piece those that follow it without a gap. */
static int reduce_front(struct pvmg_collect *k)
{
    struct pvmg_packet *front = k->pieces, *p;
    int type = k->c->call.type, n = k->c->call.n, info = PvmOk;

    while (info >= 0 && (p = front->next) && p->start == front->start + front->reach) {
        k->reduce(&type, front->data, p->data, &n, &info);
        front->reach++;
        DL_DELETE(k->pieces, p);
        pvmg_packet_free(p);
    }
    return info < 0 ? info : PvmOk;
}

/* Checks and takes over a packet received for this call. */
static int accept(struct pvmg_collect *k, struct pvmg_packet *p)
{
    int code = pvmg_call_agrees(&p->call, &k->c->call) ? p->code : PvmMismatch;

    if (code >= 0 && (p->reach != 1 || p->start >= k->c->tree.size))
        code = PvmMismatch;
    if (code < 0) {
        pvmg_packet_free(p);
        return code;
    }
    insert(k, p);
    return k->reduce ? reduce_front(k) : PvmOk;
}

static int ready(struct pvmg_wait *w)
{
    struct pvmg_collect *k = (struct pvmg_collect *)w;
    struct pvmg_group *g = k->c->group;
    struct pvmg_packet *p;

    while ((p = pvmg_traffic_take(PVMG_PACKET_FINISHED, g, g->number))) {
        int position = pvmg_collective_position(k->c, p->from);

        if (position >= 0)
            k->finished[position] = true;
        pvmg_packet_free(p);
    }
    pvmg_handover_take(g); /* after FINISHED: who has sent that has put its part before */
    while ((p = pvmg_traffic_take(PVMG_PACKET_UP, g, g->number))) {
        int code = accept(k, p);

        if (code < 0)
            return code;
    }
    return k->missing == 0;
}

/* A missing member has ended, or all missing members have nothing left to send. */
static int lost(struct pvmg_wait *w)
{
    const struct pvmg_collect *k = (struct pvmg_collect *)w;
    bool none_left = true;

    for (int i = 0; i < k->c->tree.size; i++) {
        if (k->arrived[i])
            continue;
        if (pvmg_collective_gone(k->c, i))
            return PvmNoTask;
        none_left = none_left && k->finished[i];
    }
    return none_left ? PvmNoTask : PvmOk;
}

static void ask(struct pvmg_wait *w)
{
    const struct pvmg_collect *k = (struct pvmg_collect *)w;
    struct pvmg_packet probe = {.kind = PVMG_PACKET_PROBE, .call = k->c->call};
    int *tids = malloc((size_t)k->c->tree.size * sizeof(*tids)), n = 0;

    if (!tids)
        return;
    for (int i = 0; i < k->c->tree.size; i++)
        if (!k->arrived[i] && !pvmg_collective_gone(k->c, i))
            tids[n++] = pvmg_collective_tid(k->c, i);
    if (n > 0)
        pvmg_packet_mcast(&probe, tids, n);
    free(tids);
}

/* Starts with the root's own contribution as the only piece. */
static int begin(struct pvmg_collect *k, const void *data)
{
    int size = k->c->tree.size;
    struct pvmg_packet *own = pvmg_packet_new(PVMG_PACKET_UP, &k->c->call, 0, 0, 1);

    k->arrived = calloc((size_t)size, sizeof(*k->arrived));
    k->finished = calloc((size_t)size, sizeof(*k->finished));
    if (!own || !k->arrived || !k->finished) {
        pvmg_packet_free(own);
        return PvmNoMem;
    }
    memcpy(own->data, data, own->bytes);
    k->missing = size;
    insert(k, own);
    k->wait = (struct pvmg_wait){
        .group = k->c->group, .ready = ready, .lost = lost, .ask = ask, .limit_us = -1, .first_ask_us = FIRST_ASK_US};
    return PvmOk;
}

/* Gives our contribution straight from the caller's memory. */
static int give(struct pvmg_collective *c, void *data)
{
    int tid = pvmg_collective_tid(c, c->tree.mine);
    struct pvmg_packet own = {
        .kind = PVMG_PACKET_UP, .call = c->call, .start = c->tree.mine, .reach = 1, .tids = &tid, .data = data};

    if (pvmg_collective_gone(c, 0))
        return PvmNoTask;
    if (pvmg_handover_give(c->group, PVMG_PACKET_UP, &c->call, c->tree.mine, tid, data))
        return PvmOk;
    int code = pvmg_packet_send(&own, c->call.root);
    pvmg_handover_note_packet(c->group, c->call.root);
    return code;
}

int pvmg_collect_run(struct pvmg_collect *k, void *data)
{
    if (k->c->tree.mine != 0)
        return give(k->c, data);

    int code = begin(k, data);

    if (code >= 0)
        code = pvmg_traffic_wait(&k->wait);
    return code < 0 ? code : PvmOk;
}

void pvmg_collect_free(struct pvmg_collect *k)
{
    struct pvmg_packet *p, *next;

    DL_FOREACH_SAFE (k->pieces, p, next)
        pvmg_packet_free(p);
    free(k->arrived);
    free(k->finished);
}
