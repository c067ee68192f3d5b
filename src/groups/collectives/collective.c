#include "collective.h"
#include <stddef.h>
#include "datatype.h"
#include "handover.h"
#include "pvm3.h"
#include "groups/session.h"

enum {
    LARGE_MIN_BYTES = 8192,         /* parts of this size are not forwarded through other members */
    RETRANSMIT_MAX_BYTES = 1 << 20, /* largest packet kept for retransmission */
};

static int find_group(struct pvmg_collective *c, const char *group, int root)
{
    int code = pvmg_group_fetch(group, true, &c->group);

    if (code < 0)
        return code;
    const struct pvmg_members *list = c->group->participants;
    int rank = pvmg_members_rank_of_instance(list, root);
    if (rank < 0)
        return PvmNoInst;
    c->call.group = c->group->id;
    c->call.generation = list->generation;
    c->call.number = c->group->number;
    c->call.root = list->tids[rank];

    bool large = (size_t)c->call.n * pvmg_datatype_bytes(c->call.type) >= LARGE_MIN_BYTES;
    c->flat = large || c->call.operation != PVMG_SCATTER;
    return pvmg_tree_make(&c->tree, c->flat ? list->size : PVMG_TREE_RADIX, list->tids, list->size, rank, list->rank);
}

int pvmg_collective_begin(struct pvmg_collective *c, int operation, const char *group, int n, int type, int tag,
                          int root)
{
    int code;

    *c = (struct pvmg_collective){.call = {.operation = operation, .n = n, .type = type, .tag = tag}};
    code = pvmg_session_begin(&c->guard, group, 1);
    if (code >= 0 && (n < 1 || tag < 0 || pvmg_datatype_bytes(type) == 0))
        code = PvmBadParam;
    if (code >= 0)
        code = find_group(c, group, root);
    if (c->group)
        pvmg_traffic_open();
    return code;
}

static const char *const call_names[] = {
    [PVMG_REDUCE] = "pvm_reduce", [PVMG_GATHER] = "pvm_gather", [PVMG_SCATTER] = "pvm_scatter"};

int pvmg_collective_end(struct pvmg_collective *c, int code)
{
    if (c->group) {
        pvmg_handover_end(c->group);
        pvmg_traffic_finish(c->group);
        pvmg_traffic_close();
        pvmg_members_unref(c->group->participants);
        c->group->participants = NULL;
        pvmg_group_release(c->group);
    }
    pvmg_tree_free(&c->tree);
    code = pvmg_session_end(&c->guard, code);
    return code < 0 ? lpvmerr(call_names[c->call.operation], code) : code;
}

int pvmg_collective_tid(const struct pvmg_collective *c, int position)
{
    return c->group->participants->tids[c->tree.ranks[position]];
}

bool pvmg_collective_gone(const struct pvmg_collective *c, int position)
{
    return c->group->participants->gone[c->tree.ranks[position]];
}

int pvmg_collective_position(const struct pvmg_collective *c, int tid)
{
    for (int i = 0; i < c->tree.size; i++)
        if (pvmg_collective_tid(c, i) == tid)
            return i;
    return -1;
}

void pvmg_collective_set_retransmit(struct pvmg_collective *c, struct pvmg_packet *p)
{
    bool keep = p->bytes <= RETRANSMIT_MAX_BYTES;

    c->group->retransmit_number = c->call.number;
    pvmg_group_set_retransmit(c->group, keep ? p : NULL);
    if (!keep)
        pvmg_packet_free(p);
}
