/*
 * scatter.c - pvm_scatter: each member gets its part of the root's data. The root does not wait for the others; they
 * wait for it.
 */
#include <stdlib.h>
#include <string.h>
#include "../libpvm/call.h"
#include "collective.h"
#include "pvm3.h"

enum { FIRST_ASK_US = 1000000 }; /* after which a waiting member asks what has become of its part */

struct scatter {
    struct pvmi_wait wait; /* first: what it calls back gets its address */
    struct pvmi_collective c;
    bool root_past, parent_past;
    void *result;
};

/* Root: one parcel with the parts of all living members, ours first. */
static struct pvmi_parcel *wrap(const struct pvmi_collective *c, const char *data)
{
    struct pvmi_parcel *p = pvmi_parcel_new(PVMI_WAY_DOWN, &c->call, 0, 0, c->tree.size);
    if (!p)
        return NULL;

    size_t part = pvmi_parcel_part_bytes(p);
    int n = 0;
    for (int i = 0; i < c->tree.size; i++) {
        if (pvmi_collective_gone(c, i))
            continue;
        p->tids[n] = pvmi_collective_tid(c, i);
        memcpy((char *)p->data + (size_t)n++ * part, data + (size_t)c->tree.ranks[i] * part, part);
    }
    p->reach = n;
    p->bytes = (size_t)n * part;
    return p;
}

/* Through other members: what we send is kept, as one of them may be lost. */
static int give_down_tree(struct pvmi_collective *c, const char *data)
{
    struct pvmi_parcel *p = wrap(c, data);
    if (!p)
        return PvmNoMem;
    pvmi_parcel_forward(p);
    pvmi_collective_keep(c, p);
    return PvmOk;
}

/* Straight to each member, from the caller's memory. */
static int give_each(const struct pvmi_collective *c, char *data)
{
    int code = PvmOk;

    for (int i = 1; i < c->tree.size && code >= 0; i++) {
        int tid = pvmi_collective_tid(c, i);
        struct pvmi_parcel p = {.way = PVMI_WAY_DOWN, .call = c->call, .start = i, .reach = 1, .tids = &tid};
        p.data = data + (size_t)c->tree.ranks[i] * pvmi_parcel_part_bytes(&p);
        if (!pvmi_collective_gone(c, i))
            code = pvmi_parcel_send(&p, tid);
    }
    return code;
}

/* Tells the caller, too, when not all could have their parts. */
static int give(struct scatter *s, char *data)
{
    const struct pvmi_collective *c = &s->c;
    size_t part = pvmi_parcel_part_bytes(&(struct pvmi_parcel){.call = c->call});
    int code = c->flat ? give_each(c, data) : give_down_tree(&s->c, data);

    if (code < 0)
        return code;
    memcpy(s->result, data + (size_t)c->tree.ranks[0] * part, part);
    for (int i = 0; i < c->tree.size; i++)
        if (pvmi_collective_gone(c, i))
            code = PvmNoTask;
    return code;
}

static int accept(struct scatter *s, struct pvmi_parcel *p)
{
    int code = p->code;

    if (!pvmi_call_agrees(&p->call, &s->c.call))
        code = PvmMismatch;
    if (code >= 0)
        memcpy(s->result, p->data, pvmi_parcel_part_bytes(p));
    pvmi_parcel_free(p);
    return code < 0 ? code : 1;
}

static int ready(struct pvmi_wait *w)
{
    struct scatter *s = (struct scatter *)w;
    struct pvmi_group *g = s->c.group;
    int parent = pvmi_collective_tid(&s->c, pvmi_tree_parent(&s->c.tree, s->c.tree.mine));
    struct pvmi_parcel *p = pvmi_traffic_take(PVMI_WAY_DOWN, g, g->number);

    if (p)
        return accept(s, p);
    while ((p = pvmi_traffic_take(PVMI_WAY_PAST, g, g->number))) {
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
    bool parent = s->parent_past || pvmi_collective_gone(&s->c, pvmi_tree_parent(&s->c.tree, s->c.tree.mine));

    return root && parent ? PvmNoTask : PvmOk;
}

static void ask(struct pvmi_wait *w)
{
    const struct scatter *s = (struct scatter *)w;
    int parent = pvmi_collective_tid(&s->c, pvmi_tree_parent(&s->c.tree, s->c.tree.mine));

    pvmi_parcel_word(PVMI_WAY_PROBE, &s->c.call, 0, s->c.call.root);
    if (parent != s->c.call.root)
        pvmi_parcel_word(PVMI_WAY_PROBE, &s->c.call, 0, parent);
}

/* Tells those who wait for us to pass their parts on that nothing will come. */
static void give_up(const struct pvmi_collective *c, int code)
{
    int mine = c->tree.mine, reach = pvmi_tree_reach(&c->tree, mine);
    struct pvmi_parcel *p = pvmi_parcel_new(PVMI_WAY_DOWN, &c->call, code, mine, reach);

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

    PVMI_BEGIN(TEV_SCATTER, PVMI_STRING(GN, group), PVMI_INT(MC, tag));
    int code = pvmi_collective_begin(&s.c, PVMI_SCATTER, group, n, type, tag, root);

    if (code >= 0 && (!result || (s.c.tree.mine == 0 && !data)))
        code = PvmBadParam;
    if (code >= 0)
        code = s.c.tree.mine == 0 ? give(&s, data) : take(&s);
    code = pvmi_collective_end(&s.c, code);
    PVMI_END(TEV_SCATTER, PVMI_INT(CC, code));
    return code;
}
