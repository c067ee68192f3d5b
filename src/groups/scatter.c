/*
 * scatter.c - pvm_scatter: each member gets its part of the root's data. The root does not wait for the others; they
 * wait for it.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "collective.h"
#include "pvm3.h"

enum { FIRST_ASK_US = 1000000 }; /* after which a waiting member asks what has become of its part */

struct scatter {
    struct pvmi_wait wait; /* first: what it calls back gets its address */
    struct pvmi_collective c;
    bool root_past, parent_past;
    void *result;
};

/* Root: one parcel with the parts of all living members, ours first; *complete is false when some are not. */
static struct pvmi_parcel *wrap(const struct pvmi_collective *c, const char *data, bool *complete)
{
    struct pvmi_parcel *p = pvmi_parcel_new(PVMI_GROUP_DOWN, &c->call, 0, 0, c->tree.size);
    size_t part;
    int n = 0;

    if (!p)
        return NULL;
    part = pvmi_parcel_part(p);
    for (int i = 0; i < c->tree.size; i++) {
        if (pvmi_collective_gone(c, i))
            continue;
        p->tids[n] = pvmi_collective_tid(c, i);
        memcpy((char *)p->data + (size_t)n++ * part, data + (size_t)c->tree.ranks[i] * part, part);
    }
    *complete = n == c->tree.size;
    p->reach = n;
    p->bytes = (size_t)n * part;
    return p;
}

static int give(struct scatter *s, const void *data)
{
    bool complete;
    struct pvmi_parcel *p = wrap(&s->c, data, &complete), *list = NULL;

    if (!p)
        return PvmNoMem;
    memcpy(s->result, p->data, pvmi_parcel_part(p));
    pvmi_parcel_forward(p);
    DL_APPEND(list, p);
    pvmi_collective_keep(&s->c, list);
    return complete ? PvmOk : PvmNoTask;
}

static int accept(struct scatter *s, struct pvmi_parcel *p)
{
    int code = p->code;

    if (!pvmi_call_agrees(&p->call, &s->c.call))
        code = PvmMismatch;
    if (code >= 0)
        memcpy(s->result, p->data, pvmi_parcel_part(p));
    pvmi_parcel_free(p);
    return code < 0 ? code : 1;
}

static int ready(struct pvmi_wait *w)
{
    struct scatter *s = (struct scatter *)w;
    struct pvmi_group *g = s->c.group;
    int parent = pvmi_collective_tid(&s->c, pvmi_tree_parent(s->c.tree.mine));
    struct pvmi_parcel *p = pvmi_traffic_take(PVMI_GROUP_DOWN, g, g->number);

    if (p)
        return accept(s, p);
    while ((p = pvmi_traffic_take(PVMI_GROUP_PAST, g, g->number))) {
        s->root_past |= p->from == s->c.call.root;
        s->parent_past |= p->from == parent;
        pvmi_parcel_free(p);
    }
    return 0;
}

/* Neither the root nor who is to pass our part on has anything for us. */
static int lost(struct pvmi_wait *w)
{
    const struct scatter *s = (struct scatter *)w;
    bool root = s->root_past || pvmi_collective_gone(&s->c, 0);
    bool parent = s->parent_past || pvmi_collective_gone(&s->c, pvmi_tree_parent(s->c.tree.mine));

    return root && parent ? PvmNoTask : PvmOk;
}

static void ask(struct pvmi_wait *w)
{
    const struct scatter *s = (struct scatter *)w;
    int parent = pvmi_collective_tid(&s->c, pvmi_tree_parent(s->c.tree.mine));

    pvmi_parcel_word(PVMI_GROUP_PROBE, &s->c.call, 0, s->c.call.root);
    if (parent != s->c.call.root)
        pvmi_parcel_word(PVMI_GROUP_PROBE, &s->c.call, 0, parent);
}

/* Tells those who wait for us to pass their parts on that nothing will come. */
static void give_up(const struct pvmi_collective *c, int code)
{
    int mine = c->tree.mine, reach = pvmi_tree_reach(mine, c->tree.size);
    struct pvmi_parcel *p = pvmi_parcel_new(PVMI_GROUP_DOWN, &c->call, code, mine, reach);

    if (!p)
        return;
    for (int i = 0; i < reach; i++)
        p->tids[i] = pvmi_collective_tid(c, mine + i);
    pvmi_parcel_forward(p);
    pvmi_parcel_free(p);
}

static int take(struct scatter *s)
{
    int code;

    s->wait = (struct pvmi_wait){
        .group = s->c.group, .ready = ready, .lost = lost, .ask = ask, .limit_us = -1, .first_ask_us = FIRST_ASK_US};
    code = pvmi_traffic_wait(&s->wait);
    if (code == PvmNoTask)
        give_up(&s->c, code);
    return code < 0 ? code : PvmOk;
}

int pvm_scatter(void *result, void *data, int n, int type, int tag, char *group, int root)
{
    struct scatter s = {.result = result};
    int code = pvmi_collective_begin(&s.c, PVMI_SCATTER, group, n, type, tag, root);

    if (code >= 0 && (!result || (s.c.tree.mine == 0 && !data)))
        code = PvmBadParam;
    if (code >= 0)
        code = s.c.tree.mine == 0 ? give(&s, data) : take(&s);
    return pvmi_collective_end(&s.c, "pvm_scatter", code);
}
