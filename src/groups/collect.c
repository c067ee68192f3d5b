#include "collect.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "pvm3.h"

enum { FIRST_ASK_US = 1000000 }; /* after which the root looks after missing members */

/* Puts a contribution among the others, by position. One that is there already is dropped. */
static void insert(struct pvmi_collect *k, struct pvmi_parcel *p)
{
    struct pvmi_parcel *after = k->pieces;

    if (k->covered[p->start]) {
        pvmi_parcel_free(p);
        return;
    }
    k->covered[p->start] = true;
    k->missing--;
    while (after && after->start < p->start)
        after = after->next;
    DL_PREPEND_ELEM(k->pieces, after, p);
}

/* Adds to the first piece those that follow it without a gap. */
static int reduce_front(struct pvmi_collect *k)
{
    struct pvmi_parcel *front = k->pieces, *p;
    int type = k->c->call.type, n = k->c->call.n, info = PvmOk;

    while (info >= 0 && (p = front->next) && p->start == front->start + front->reach) {
        k->reduce(&type, front->data, p->data, &n, &info);
        front->reach++;
        DL_DELETE(k->pieces, p);
        pvmi_parcel_free(p);
    }
    return info < 0 ? info : PvmOk;
}

/* Takes over a parcel that came for this call. */
static int accept(struct pvmi_collect *k, struct pvmi_parcel *p)
{
    int code = pvmi_call_agrees(&p->call, &k->c->call) ? p->code : PvmMismatch;

    if (code >= 0 && (p->reach != 1 || p->start >= k->c->tree.size))
        code = PvmMismatch;
    if (code < 0) {
        pvmi_parcel_free(p);
        return code;
    }
    insert(k, p);
    return k->reduce ? reduce_front(k) : PvmOk;
}

static int ready(struct pvmi_wait *w)
{
    struct pvmi_collect *k = (struct pvmi_collect *)w;
    struct pvmi_group *g = k->c->group;
    struct pvmi_parcel *p;

    while ((p = pvmi_traffic_take(PVMI_WAY_PAST, g, g->number))) {
        int position = pvmi_collective_position(k->c, p->from);

        if (position >= 0)
            k->past[position] = true;
        pvmi_parcel_free(p);
    }
    while ((p = pvmi_traffic_take(PVMI_WAY_UP, g, g->number))) {
        int code = accept(k, p);

        if (code < 0)
            return code;
    }
    return k->missing == 0;
}

/* A member has ended, and its contribution is nowhere; or all that are missing have nothing to send. */
static int lost(struct pvmi_wait *w)
{
    const struct pvmi_collect *k = (struct pvmi_collect *)w;
    bool none_left = true;

    for (int i = 0; i < k->c->tree.size; i++) {
        if (k->covered[i])
            continue;
        if (pvmi_collective_gone(k->c, i))
            return PvmNoTask;
        none_left = none_left && k->past[i];
    }
    return none_left ? PvmNoTask : PvmOk;
}

static void ask(struct pvmi_wait *w)
{
    const struct pvmi_collect *k = (struct pvmi_collect *)w;
    struct pvmi_parcel probe = {.way = PVMI_WAY_PROBE, .call = k->c->call};
    int *tids = malloc((size_t)k->c->tree.size * sizeof(*tids)), n = 0;

    if (!tids)
        return;
    for (int i = 0; i < k->c->tree.size; i++)
        if (!k->covered[i] && !pvmi_collective_gone(k->c, i))
            tids[n++] = pvmi_collective_tid(k->c, i);
    if (n > 0)
        pvmi_parcel_mcast(&probe, tids, n);
    free(tids);
}

/* Begins with the root's own contribution as the only piece. */
static int begin(struct pvmi_collect *k, const void *data)
{
    int size = k->c->tree.size;
    struct pvmi_parcel *own = pvmi_parcel_new(PVMI_WAY_UP, &k->c->call, 0, 0, 1);

    k->covered = calloc((size_t)size, sizeof(*k->covered));
    k->past = calloc((size_t)size, sizeof(*k->past));
    if (!own || !k->covered || !k->past) {
        pvmi_parcel_free(own);
        return PvmNoMem;
    }
    memcpy(own->data, data, own->bytes);
    k->missing = size;
    insert(k, own);
    k->wait = (struct pvmi_wait){
        .group = k->c->group, .ready = ready, .lost = lost, .ask = ask, .limit_us = -1, .first_ask_us = FIRST_ASK_US};
    return PvmOk;
}

/* Straight from the caller's memory. */
static int give(struct pvmi_collective *c, void *data)
{
    int tid = pvmi_collective_tid(c, c->tree.mine);
    struct pvmi_parcel own = {
        .way = PVMI_WAY_UP, .call = c->call, .start = c->tree.mine, .reach = 1, .tids = &tid, .data = data};

    return pvmi_collective_gone(c, 0) ? PvmNoTask : pvmi_parcel_send(&own, c->call.root);
}

int pvmi_collect_run(struct pvmi_collect *k, void *data)
{
    if (k->c->tree.mine != 0)
        return give(k->c, data);

    int code = begin(k, data);

    if (code >= 0)
        code = pvmi_traffic_wait(&k->wait);
    return code < 0 ? code : PvmOk;
}

void pvmi_collect_free(struct pvmi_collect *k)
{
    struct pvmi_parcel *p, *next;

    DL_FOREACH_SAFE (k->pieces, p, next)
        pvmi_parcel_free(p);
    free(k->covered);
    free(k->past);
}
