#include "collect.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "pvm3.h"

enum {
    COURTESY_US = 2000,     /* how long a member that is not the root waits for those below it */
    FIRST_ASK_US = 1000000, /* after which the root looks after missing members */
};

static bool is_root(const struct pvmi_collect *k)
{
    return k->c->tree.mine == 0;
}

static bool holds(const struct pvmi_parcel *outer, const struct pvmi_parcel *inner)
{
    return outer->start <= inner->start && inner->start + inner->reach <= outer->start + outer->reach;
}

static void remove_piece(struct pvmi_collect *k, struct pvmi_parcel *p)
{
    DL_DELETE(k->pieces, p);
    pvmi_parcel_free(p);
}

static void cover(struct pvmi_collect *k, int position)
{
    k->missing -= !k->covered[position];
    k->covered[position] = true;
}

static void insert(struct pvmi_collect *k, struct pvmi_parcel *p)
{
    struct pvmi_parcel *after;

    for (after = k->pieces; after && after->start < p->start; after = after->next)
        ;
    DL_PREPEND_ELEM(k->pieces, after, p);
    for (int i = 0; i < p->reach; i++)
        cover(k, p->start + i);
}

/* A piece of our own tree. One that was sent again may also come within another one. */
static void accept_piece(struct pvmi_collect *k, struct pvmi_parcel *p)
{
    int mine = k->c->tree.mine;
    struct pvmi_parcel *q, *next;

    if (p->start < mine || p->start + p->reach > mine + k->reach) {
        pvmi_parcel_free(p);
        return;
    }
    DL_FOREACH_SAFE (k->pieces, q, next) {
        if (holds(q, p)) {
            pvmi_parcel_free(p);
            return;
        }
        if (holds(p, q))
            remove_piece(k, q);
    }
    insert(k, p);
}

/* Takes over a parcel that came for this call. What does not fit is the root's affair. */
static int accept(struct pvmi_collect *k, struct pvmi_parcel *p)
{
    int code = pvmi_call_agrees(&p->call, &k->c->call) ? p->code : PvmMismatch;

    if (code >= 0) {
        accept_piece(k, p);
        return PvmOk;
    }
    if (!is_root(k))
        pvmi_parcel_send(p, k->c->call.root);
    pvmi_parcel_free(p);
    return is_root(k) ? code : PvmOk;
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

/* Can nobody between this position and the root have its contribution, or still get it? */
static bool path_is_clear(const struct pvmi_collect *k, int position)
{
    for (int a = pvmi_tree_parent(&k->c->tree, position); a != 0; a = pvmi_tree_parent(&k->c->tree, a))
        if (!k->covered[a] && !k->past[a] && !pvmi_collective_gone(k->c, a))
            return false;
    return true;
}

/* At the root: a member has ended, and its contribution is nowhere; or all that are missing have nothing to send. */
static int lost(struct pvmi_wait *w)
{
    const struct pvmi_collect *k = (struct pvmi_collect *)w;
    bool none_left = true;

    for (int i = 0; i < k->c->tree.size; i++) {
        bool gone = pvmi_collective_gone(k->c, i);

        if (k->covered[i])
            continue;
        if (gone && path_is_clear(k, i))
            return PvmNoTask;
        none_left = none_left && (gone || k->past[i]);
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

/* Adds b's values to those of its neighbour a. */
static int merge(struct pvmi_collect *k, struct pvmi_parcel *a, struct pvmi_parcel *b)
{
    int type = k->c->call.type, n = k->c->call.n, info = PvmOk;
    int *tids = realloc(a->tids, (size_t)(a->reach + b->reach) * sizeof(*tids));
    void *data = k->reduce || !tids ? a->data : realloc(a->data, a->bytes + b->bytes);

    if (tids)
        a->tids = tids;
    if (!tids || !data)
        return PvmNoMem;
    a->data = data;
    memcpy(a->tids + a->reach, b->tids, (size_t)b->reach * sizeof(*tids));
    a->reach += b->reach;
    if (k->reduce) {
        k->reduce(&type, a->data, b->data, &n, &info);
    } else {
        memcpy((char *)a->data + a->bytes, b->data, b->bytes);
        a->bytes += b->bytes;
    }
    return info < 0 ? info : PvmOk;
}

/*
 * May b be added to a now? Parts of a gather: when they are neighbours. Results: when b is the whole subtree of the
 * next child of a's first position, so that the order of operations is that of the tree.
 */
static bool fit(const struct pvmi_collect *k, const struct pvmi_parcel *a, const struct pvmi_parcel *b)
{
    if (a->code < 0 || b->code < 0 || b->start != a->start + a->reach)
        return false;
    if (!k->reduce)
        return true;
    return pvmi_tree_parent(&k->c->tree, b->start) == a->start && b->reach == pvmi_tree_reach(&k->c->tree, b->start);
}

/* Merges all neighbours that fit. An error stays with the piece, for the root to see. */
int pvmi_collect_fold(struct pvmi_collect *k)
{
    struct pvmi_parcel *p = k->pieces;

    while (p->next) {
        struct pvmi_parcel *next = p->next;
        if (!fit(k, p, next)) {
            p = next;
            continue;
        }
        DL_DELETE(k->pieces, next);
        p->code = merge(k, p, next);
        pvmi_parcel_free(next);
        if (p != k->pieces)
            p = p->prev;
    }
    DL_FOREACH (k->pieces, p)
        if (p->code < 0)
            return p->code;
    return PvmOk;
}

/* Tells the children that are late not to send to us any more. */
static void excuse_late(const struct pvmi_collect *k)
{
    const struct pvmi_tree *tree = &k->c->tree;

    for (int i = tree->mine + 1; i < tree->mine + k->reach; i++)
        if (!k->covered[i] && pvmi_tree_parent(tree, i) == tree->mine)
            pvmi_parcel_word(PVMI_WAY_PAST, &k->c->call, 0, pvmi_collective_tid(k->c, i));
}

/* The nearest member on the way to the root that is still there for us. */
static int next_up(const struct pvmi_collect *k)
{
    int up = pvmi_tree_parent(&k->c->tree, k->c->tree.mine);

    while (up != 0 && (k->past[up] || pvmi_collective_gone(k->c, up)))
        up = pvmi_tree_parent(&k->c->tree, up);
    return up;
}

static int send_up(struct pvmi_collect *k)
{
    int up = next_up(k), code = PvmOk;
    struct pvmi_parcel *p;

    if (pvmi_collective_gone(k->c, up))
        return PvmNoTask;
    pvmi_collect_fold(k);
    DL_FOREACH (k->pieces, p) {
        code = pvmi_parcel_send(p, pvmi_collective_tid(k->c, up));
        if (code < 0)
            return code;
    }
    excuse_late(k);
    pvmi_collective_keep(k->c, k->pieces);
    k->pieces = NULL;
    return code;
}

/* Begins with our own contribution as the only piece. */
static int begin(struct pvmi_collect *k, const void *data)
{
    const struct pvmi_tree *tree = &k->c->tree;
    struct pvmi_parcel *own = pvmi_parcel_new(PVMI_WAY_UP, &k->c->call, 0, tree->mine, 1);

    k->covered = calloc((size_t)tree->size, sizeof(*k->covered));
    k->past = calloc((size_t)tree->size, sizeof(*k->past));
    if (!own || !k->covered || !k->past) {
        pvmi_parcel_free(own);
        return PvmNoMem;
    }
    own->tids[0] = pvmi_collective_tid(k->c, tree->mine);
    memcpy(own->data, data, own->bytes);
    k->reach = k->missing = pvmi_tree_reach(tree, tree->mine);
    insert(k, own);
    k->wait = (struct pvmi_wait){.group = k->c->group, .ready = ready, .limit_us = COURTESY_US};
    if (is_root(k))
        k->wait = (struct pvmi_wait){.group = k->c->group,
                                     .ready = ready,
                                     .lost = lost,
                                     .ask = ask,
                                     .limit_us = -1,
                                     .first_ask_us = FIRST_ASK_US};
    return PvmOk;
}

/* In a flat tree there is nobody below us to wait for, and nobody on the way who could lose what we send. */
static int send_straight(struct pvmi_collective *c, void *data)
{
    int tid = pvmi_collective_tid(c, c->tree.mine);
    struct pvmi_parcel own = {
        .way = PVMI_WAY_UP, .call = c->call, .start = c->tree.mine, .reach = 1, .tids = &tid, .data = data};

    return pvmi_collective_gone(c, 0) ? PvmNoTask : pvmi_parcel_send(&own, c->call.root);
}

int pvmi_collect_run(struct pvmi_collect *k, void *data)
{
    if (k->c->flat && !is_root(k))
        return send_straight(k->c, data);

    int code = begin(k, data);

    if (code >= 0)
        code = pvmi_traffic_wait(&k->wait);
    if (code >= 0 && !is_root(k))
        code = send_up(k);
    return code < 0 ? code : PvmOk;
}

static void free_all(struct pvmi_parcel *list)
{
    struct pvmi_parcel *p, *next;

    DL_FOREACH_SAFE (list, p, next)
        pvmi_parcel_free(p);
}

void pvmi_collect_free(struct pvmi_collect *k)
{
    free_all(k->pieces);
    free(k->covered);
    free(k->past);
}
