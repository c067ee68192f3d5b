#include "collective.h"
#include <stddef.h>
#include <utlist.h>
#include "item.h"
#include "pvm3.h"
#include "session.h"

enum {
    LARGE_MIN_BYTES = 8192,   /* parts of this size are not carried from member to member */
    KEEP_MAX_BYTES = 1 << 20, /* what is sent through other members is kept up to this size */
};

static int find_group(struct pvmi_collective *c, const char *group, int root)
{
    struct pvmi_group *g;
    int rank, code = pvmi_group_fetch(group, true, &g);

    if (code < 0)
        return code;
    c->group = g;
    c->begun = true;
    rank = pvmi_group_rank_of_instance(g, root);
    if (rank < 0)
        return PvmNoInst;
    c->call.group = g->id;
    c->call.generation = g->generation;
    c->call.number = g->number;
    c->call.root = g->tids[rank];

    bool large = (size_t)c->call.n * pvmi_item_bytes(c->call.type) >= LARGE_MIN_BYTES;
    c->flat = large && c->call.operation != PVMI_REDUCE;
    int radix = c->flat ? g->size : large ? 2 : PVMI_TREE_RADIX;
    return pvmi_tree_make(&c->tree, radix, g->tids, g->size, rank, g->rank);
}

static const char *const call_names[] = {
    [PVMI_REDUCE] = "pvm_reduce", [PVMI_GATHER] = "pvm_gather", [PVMI_SCATTER] = "pvm_scatter"};

int pvmi_collective_begin(struct pvmi_collective *c, int operation, const char *group, int n, int type, int tag,
                          int root)
{
    int code;

    *c = (struct pvmi_collective){.call = {.operation = operation, .n = n, .type = type, .tag = tag}};
    code = pvmi_session_begin(&c->guard, group);
    if (code >= 0 && (n < 1 || tag < 0 || pvmi_item_bytes(type) == 0))
        code = PvmBadParam;
    if (code >= 0)
        code = find_group(c, group, root);
    if (c->begun)
        pvmi_traffic_open();
    return code;
}

int pvmi_collective_end(struct pvmi_collective *c, int code)
{
    if (c->begun) {
        pvmi_traffic_finish(c->group);
        pvmi_traffic_close();
    }
    pvmi_tree_free(&c->tree);
    code = pvmi_session_end(&c->guard, code);
    return code < 0 ? lpvmerr(call_names[c->call.operation], code) : code;
}

int pvmi_collective_tid(const struct pvmi_collective *c, int position)
{
    return c->group->tids[c->tree.ranks[position]];
}

bool pvmi_collective_gone(const struct pvmi_collective *c, int position)
{
    return c->group->gone[c->tree.ranks[position]];
}

int pvmi_collective_position(const struct pvmi_collective *c, int tid)
{
    for (int i = 0; i < c->tree.size; i++)
        if (pvmi_collective_tid(c, i) == tid)
            return i;
    return -1;
}

void pvmi_collective_keep(struct pvmi_collective *c, struct pvmi_parcel *list)
{
    struct pvmi_parcel *p;
    size_t bytes = 0;

    DL_FOREACH (list, p)
        bytes += p->bytes;
    pvmi_group_keep(c->group, list);
    c->group->kept_number = c->call.number;
    if (bytes > KEEP_MAX_BYTES)
        pvmi_group_keep(c->group, NULL);
}
