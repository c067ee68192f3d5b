/*
 * scatter.c - pvm_scatter(): each member gets its part of the root's data. The root does not wait for the others.
 */
#include <stdlib.h>
#include <string.h>
#include "libpvm/base/call.h"
#include "collective.h"
#include "handover.h"
#include "pvm3.h"

enum { FIRST_ASK_US = 1000000 }; /* delay until a waiting member asks for its part */

struct scatter {
    struct pvmg_wait wait; /* first, so that callbacks can cast it to this struct */
    struct pvmg_collective c;
    bool root_finished, parent_finished;
    void *result;
};

/* At the root: one packet with the parts of all living members, ours first. */
static struct pvmg_packet *wrap(const struct pvmg_collective *c, const char *data)
{
    struct pvmg_packet *p = pvmg_packet_new(PVMG_PACKET_DOWN, &c->call, 0, 0, c->tree.size);
    if (!p)
        return NULL;

    size_t part = pvmg_packet_part_bytes(p);
    int n = 0;
    for (int i = 0; i < c->tree.size; i++) {
        if (pvmg_collective_gone(c, i))
            continue;
        p->tids[n] = pvmg_collective_tid(c, i);
        memcpy((char *)p->data + (size_t)n++ * part, data + (size_t)c->tree.ranks[i] * part, part);
    }
    p->reach = n;
    p->bytes = (size_t)n * part;
    return p;
}

/* Sends through other members. The packet is kept for retransmission, since one of them may end. */
static int give_down_tree(struct pvmg_collective *c, const char *data)
{
    struct pvmg_packet *p = wrap(c, data);
    if (!p)
        return PvmNoMem;
    pvmg_packet_forward(p);
    pvmg_collective_set_retransmit(c, p);
    return PvmOk;
}

/* Gives straight to each member, from the caller's memory. */
static int give_each(struct pvmg_collective *c, char *data)
{
    int code = PvmOk;

    for (int i = 1; i < c->tree.size && code >= 0; i++) {
        int tid = pvmg_collective_tid(c, i);
        struct pvmg_packet p = {.kind = PVMG_PACKET_DOWN, .call = c->call, .start = i, .reach = 1, .tids = &tid};
        p.data = data + (size_t)c->tree.ranks[i] * pvmg_packet_part_bytes(&p);
        if (!pvmg_collective_gone(c, i) && !pvmg_handover_give(c->group, PVMG_PACKET_DOWN, &c->call, i, tid, p.data)) {
            code = pvmg_packet_send(&p, tid);
            pvmg_handover_note_packet(c->group, tid);
        }
    }
    pvmg_handover_wake(c->group, &c->call);
    return code;
}

/* The root's part of the call; PvmNoTask when some members are gone. */
static int give(struct scatter *s, char *data)
{
    struct pvmg_collective *c = &s->c;
    size_t part = pvmg_packet_part_bytes(&(struct pvmg_packet){.call = c->call});
    int code = c->flat || pvmg_handover_is_possible(c->group, &c->call) ? give_each(c, data) : give_down_tree(c, data);

    if (code < 0)
        return code;
    memcpy(s->result, data + (size_t)c->tree.ranks[0] * part, part);
    for (int i = 0; i < c->tree.size; i++)
        if (pvmg_collective_gone(c, i))
            code = PvmNoTask;
    return code;
}

static int accept(struct scatter *s, struct pvmg_packet *p)
{
    int code = p->code;

    if (!pvmg_call_agrees(&p->call, &s->c.call))
        code = PvmMismatch;
    if (code >= 0)
        memcpy(s->result, p->data, pvmg_packet_part_bytes(p));
    pvmg_packet_free(p);
    return code < 0 ? code : 1;
}

static int ready(struct pvmg_wait *w)
{
    struct scatter *s = (struct scatter *)w;
    struct pvmg_group *g = s->c.group;
    int parent = pvmg_collective_tid(&s->c, pvmg_tree_parent(&s->c.tree, s->c.tree.mine));
    struct pvmg_packet *p;

    while ((p = pvmg_traffic_take(PVMG_PACKET_FINISHED, g, g->number))) {
        s->root_finished |= p->from == s->c.call.root;
        s->parent_finished |= p->from == parent;
        pvmg_packet_free(p);
    }
    pvmg_handover_take(g); /* after FINISHED: who has sent that has put our part before */
    p = pvmg_traffic_take(PVMG_PACKET_DOWN, g, g->number);
    return p ? accept(s, p) : 0;
}

/* Neither the root nor our parent in the tree will send our part. */
static int lost(struct pvmg_wait *w)
{
    const struct scatter *s = (struct scatter *)w;
    bool root = s->root_finished || pvmg_collective_gone(&s->c, 0);
    bool parent = s->parent_finished || pvmg_collective_gone(&s->c, pvmg_tree_parent(&s->c.tree, s->c.tree.mine));

    return root && parent ? PvmNoTask : PvmOk;
}

static void ask(struct pvmg_wait *w)
{
    const struct scatter *s = (struct scatter *)w;
    int parent = pvmg_collective_tid(&s->c, pvmg_tree_parent(&s->c.tree, s->c.tree.mine));

    pvmg_packet_signal(PVMG_PACKET_PROBE, &s->c.call, 0, s->c.call.root);
    if (parent != s->c.call.root)
        pvmg_packet_signal(PVMG_PACKET_PROBE, &s->c.call, 0, parent);
}

/* Tells our subtree that its parts will not arrive. */
static void give_up(const struct pvmg_collective *c, int code)
{
    int mine = c->tree.mine, reach = pvmg_tree_reach(&c->tree, mine);
    struct pvmg_packet *p = pvmg_packet_new(PVMG_PACKET_DOWN, &c->call, code, mine, reach);

    if (!p)
        return;
    for (int i = 0; i < reach; i++)
        p->tids[i] = pvmg_collective_tid(c, mine + i);
    pvmg_packet_forward(p);
    pvmg_packet_free(p);
}

static int take(struct scatter *s)
{
    int code;

    s->wait = (struct pvmg_wait){
        .group = s->c.group, .ready = ready, .lost = lost, .ask = ask, .limit_us = -1, .first_ask_us = FIRST_ASK_US};
    code = pvmg_traffic_wait(&s->wait);
    if (code == PvmNoTask)
        give_up(&s->c, code);
    return code < 0 ? code : PvmOk;
}

static int scatter(void *result, void *data, int n, int type, int tag, const char *group, int root)
{
    struct scatter s = {.result = result};
    int code = pvmg_collective_begin(&s.c, PVMG_SCATTER, group, n, type, tag, root);

    if (code >= 0 && (!result || (s.c.tree.mine == 0 && !data)))
        code = PvmBadParam;
    if (code >= 0)
        code = s.c.tree.mine == 0 ? give(&s, data) : take(&s);
    return pvmg_collective_end(&s.c, code);
}

int pvm_scatter(void *result, void *data, int n, int type, int tag, char *group, int root)
{
    PVMI_BEGIN(TEV_SCATTER, PVMI_STRING(GN, group), PVMI_INT(MC, tag));
    int code = PvmOk;
    if (!pvmg_handover_scatter(result, data, n, type, tag, group, root))
        code = scatter(result, data, n, type, tag, group, root);
    PVMI_END(TEV_SCATTER, PVMI_INT(CC, code));
    return code;
}
