#include "collective.h"
#include <stddef.h>
#include "item.h"
#include "pvm3.h"
#include "session.h"

enum {
    LARGE_MIN_BYTES = 8192,   /* parts of this size are not carried from member to member */
    KEEP_MAX_BYTES = 1 << 20, /* what is sent through other members is kept up to this size */
};

static int find_group(struct pvmi_collective *c, const char *group, int root)
{
    int code = pvmi_group_fetch(group, true, &c->group);

    if (code < 0)
        return code;
    const struct pvmi_members *list = c->group->participants;
    int rank = pvmi_members_rank_of_instance(list, root);
    if (rank < 0)
        return PvmNoInst;
    c->call.group = c->group->id;
    c->call.generation = list->generation;
    c->call.number = c->group->number;
    c->call.root = list->tids[rank];

    bool large = (size_t)c->call.n * pvmi_item_bytes(c->call.type) >= LARGE_MIN_BYTES;
    c->flat = large || c->call.operation != PVMI_SCATTER;
    return pvmi_tree_make(&c->tree, c->flat ? list->size : PVMI_TREE_RADIX, list->tids, list->size, rank, list->rank);
}

int pvmi_collective_begin(struct pvmi_collective *c, int operation, const char *group, int n, int type, int tag,
                          int root)
{
    int code;

    *c = (struct pvmi_collective){.call = {.operation = operation, .n = n, .type = type, .tag = tag}};
    code = pvmi_session_begin(&c->guard, group, 1);
    if (code >= 0 && (n < 1 || tag < 0 || pvmi_item_bytes(type) == 0))
        code = PvmBadParam;
    if (code >= 0)
        code = find_group(c, group, root);
    if (c->group)
        pvmi_traffic_open();
    return code;
}

static const char *const call_names[] = {
    [PVMI_REDUCE] = "pvm_reduce", [PVMI_GATHER] = "pvm_gather", [PVMI_SCATTER] = "pvm_scatter"};

int pvmi_collective_end(struct pvmi_collective *c, int code)
{
    if (c->group) {
        pvmi_traffic_finish(c->group);
        pvmi_traffic_close();
        pvmi_members_unref(c->group->participants);
        c->group->participants = NULL;
        pvmi_group_release(c->group);
    }
    pvmi_tree_free(&c->tree);
    code = pvmi_session_end(&c->guard, code);
    return code < 0 ? lpvmerr(call_names[c->call.operation], code) : code;
}

int pvmi_collective_tid(const struct pvmi_collective *c, int position)
{
    return c->group->participants->tids[c->tree.ranks[position]];
}

bool pvmi_collective_gone(const struct pvmi_collective *c, int position)
{
    return c->group->participants->gone[c->tree.ranks[position]];
}

int pvmi_collective_position(const struct pvmi_collective *c, int tid)
{
    for (int i = 0; i < c->tree.size; i++)
        if (pvmi_collective_tid(c, i) == tid)
            return i;
    return -1;
}

void pvmi_collective_keep(struct pvmi_collective *c, struct pvmi_parcel *p)
{
    bool keep = p->bytes <= KEEP_MAX_BYTES;

    c->group->kept_number = c->call.number;
    pvmi_group_keep(c->group, keep ? p : NULL);
    if (!keep)
        pvmi_parcel_free(p);
}
