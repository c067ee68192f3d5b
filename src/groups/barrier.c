/*
 * barrier.c - pvm_barrier. All members of a frozen group meet among themselves: word of their arrival goes up a tree,
 * and its root releases all. In every other case the server counts.
 */
#include <stdlib.h>
#include "../libpvm/call.h"
#include "group.h"
#include "gserver.h"
#include "pvm3.h"
#include "session.h"
#include "traffic.h"
#include "tree.h"

/* After which a waiting member tells the server, in case that others wait there, with another count. */
enum { FIRST_ASK_US = 100000 };

struct meeting {
    struct pvmi_wait wait; /* first: what it calls back gets its address */
    struct pvmi_group *group;
    struct pvmi_members *list;
    struct pvmi_tree tree;
    int epoch;
    int awaited;  /* children that are not there yet */
    bool watched; /* the server knows that we wait */
};

static int all_below(struct pvmi_wait *w)
{
    struct meeting *m = (struct meeting *)w;
    struct pvmi_parcel *p;

    if (m->group->epoch != m->epoch)
        return PvmMismatch;
    while ((p = pvmi_traffic_take_barrier(PVMI_WAY_ARRIVE, m->group))) {
        pvmi_parcel_free(p);
        m->awaited--;
    }
    return m->awaited <= 0;
}

static int released(struct pvmi_wait *w)
{
    struct meeting *m = (struct meeting *)w;
    struct pvmi_parcel *p;

    if (m->group->epoch != m->epoch)
        return PvmMismatch;
    p = pvmi_traffic_take_barrier(PVMI_WAY_RELEASE, m->group);
    pvmi_parcel_free(p);
    return p != NULL;
}

static int lost(struct pvmi_wait *w)
{
    return w->group->fate;
}

static void watch(struct meeting *m, int on)
{
    pvm_setcontext(PVMI_GROUP_CTX_SERVER);
    pvmi_gserver_send(PVMI_GROUP_WATCH, m->group->name, &on, 1);
    pvm_setcontext(PVMI_GROUP_CTX_MEMBERS);
}

static void ask(struct pvmi_wait *w)
{
    struct meeting *m = (struct meeting *)w;

    if (m->watched)
        return;
    watch(m, 1);
    m->watched = true;
}

static int release_all(struct meeting *m, const struct pvmi_call *call)
{
    struct pvmi_parcel word = {.way = PVMI_WAY_RELEASE, .call = *call};

    return m->tree.size > 1 ? pvmi_parcel_mcast(&word, m->list->tids, m->tree.size) : PvmOk;
}

static int report(struct meeting *m, const struct pvmi_call *call)
{
    int parent = m->list->tids[m->tree.ranks[pvmi_tree_parent(&m->tree, m->tree.mine)]];

    return pvmi_parcel_word(PVMI_WAY_ARRIVE, call, 0, parent);
}

static int meet(struct meeting *m)
{
    struct pvmi_group *g = m->group;
    struct pvmi_call call = {
        .group = g->id, .operation = PVMI_SYNCHRONISE, .generation = g->epoch, .number = g->barrier, .n = 1};
    int code;

    m->wait = (struct pvmi_wait){
        .group = g, .ready = all_below, .lost = lost, .ask = ask, .limit_us = -1, .first_ask_us = FIRST_ASK_US};
    m->epoch = g->epoch;
    m->awaited = pvmi_tree_children(&m->tree, m->tree.mine);
    code = pvmi_traffic_wait(&m->wait);
    if (code < 0)
        return code;
    if (m->tree.mine == 0) {
        code = release_all(m, &call);
    } else {
        code = report(m, &call);
        m->wait.ready = released;
        if (code >= 0)
            code = pvmi_traffic_wait(&m->wait);
    }
    if (code >= 0)
        g->barrier++;
    return code < 0 ? code : PvmOk;
}

static int among_members(struct pvmi_group *g)
{
    struct meeting m = {.group = g, .list = g->members};
    int code = pvmi_tree_make(&m.tree, PVMI_TREE_RADIX, m.list->tids, m.list->size, 0, m.list->rank);

    if (code < 0)
        return code;
    pvmi_members_ref(m.list);
    g->in_barrier = true;
    pvmi_traffic_open();
    code = meet(&m);
    if (m.watched && !g->lost)
        watch(&m, 0);
    pvmi_traffic_close();
    g->in_barrier = false;
    pvmi_tree_free(&m.tree);
    pvmi_members_unref(m.list);
    return code;
}

/* Of a frozen group that we are in. */
static int pass_frozen(struct pvmi_group *g, int count)
{
    if (g->broken)
        return g->broken;
    if (g->missed_mismatch) {
        g->missed_mismatch = false;
        return PvmMismatch;
    }
    if (count == -1 || count == g->members->size)
        return among_members(g);
    g->in_barrier = true;
    int code = pvmi_gserver_ask(PVMI_GROUP_BARRIER, g->name, &count, 1);
    g->in_barrier = false;
    return code;
}

static int pass(const char *group, int count)
{
    struct pvmi_group *g = pvmi_group_frozen(group);
    int code = PvmOk;

    if (!g) {
        code = pvmi_gserver_ask(PVMI_GROUP_BARRIER, group, &count, 1);
        if (code != PVMI_BARRIER_AMONG_MEMBERS)
            return code;
        code = pvmi_group_fetch(group, false, &g); /* it was frozen without our help */
    }
    if (code >= 0)
        code = pass_frozen(g, count);
    if (g)
        pvmi_group_release(g);
    return code;
}

int pvm_barrier(char *group, int count)
{
    struct pvmi_guard guard;

    PVMI_BEGIN(TEV_BARRIER, PVMI_STRING(GN, group), PVMI_INT(GBC, count));
    int code = pvmi_session_begin(&guard, group, 1);
    if (code >= 0)
        code = pass(group, count);
    code = pvmi_session_end(&guard, code);
    PVMI_END(TEV_BARRIER, PVMI_INT(CC, code));
    return code;
}
