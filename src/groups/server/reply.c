#include "reply.h"
#include "groups/name.h"
#include "pvm3.h"

static void pack(int value)
{
    pvm_pkint(&value, 1, 1);
}

static void begin(int serial, int code)
{
    pvm_initsend(PvmDataDefault);
    pack(serial);
    pack(code);
}

void pvmg_reply_code(const struct request *r, int code)
{
    begin(r->serial, code);
    pvm_send(r->from, r->answer_tag);
}

/* Number and tids of those in the list that are no longer members. */
static void pack_gone(const struct group *g, const struct list *list)
{
    int gone = 0;
    for (int i = 0; i < list->size; i++)
        gone += !pvmg_roster_member(g, list->tids[i]);
    pack(gone);
    for (int i = 0; i < list->size && gone > 0; i++)
        if (!pvmg_roster_member(g, list->tids[i]))
            pack(list->tids[i]);
}

static void pack_list(const struct group *g, const struct list *list, int calls, int known_generation)
{
    int head[PVMG_LIST_INTS] = {
        [PVMG_LIST_ID] = g->id,         [PVMG_LIST_GENERATION] = list->generation,
        [PVMG_LIST_FROZEN] = g->frozen, [PVMG_LIST_BROKEN] = g->broken,
        [PVMG_LIST_CALLS] = calls,      [PVMG_LIST_SIZE] = list->size,
    };

    pvm_pkint(head, PVMG_LIST_INTS, 1);
    if (known_generation != list->generation) {
        pvm_pkint(list->instances, list->size, 1);
        pvm_pkint(list->tids, list->size, 1);
    }
    pack_gone(g, list);
}

void pvmg_reply_list(const struct request *r, int code, const struct group *g, const struct list *list, int calls,
                     int known_generation)
{
    begin(r->serial, list ? code : PvmNoMem);
    if (list)
        pack_list(g, list, calls, known_generation);
    pvm_send(r->from, r->answer_tag);
}

void pvmg_reply_barrier(int operation, int code, struct group *g, struct barrier *barrier)
{
    begin(0, code);
    pvmg_name_pack(g->name);
    if (operation == PVMG_GROUP_FREEZE && code >= 0)
        pack_list(g, g->list, g->calls, 0);
    if (barrier->reached > 0)
        pvm_mcast(barrier->tids, barrier->reached, PVMG_GROUP_ANSWER);
    barrier->reached = 0;
}

static void pack_group(const struct group *g)
{
    int waiting = g->barrier.reached;

    pvmg_name_pack(g->name);
    pack(g->size);
    pack(waiting == 0 ? -1 : g->barrier.whole ? g->size : g->barrier.count);
    pack(waiting);
    for (unsigned i = 0; i < g->span; i++) {
        if (!g->slots[i])
            continue;
        pack((int)i);
        pack(g->slots[i]->tid);
    }
    pvm_pkint(g->barrier.tids, waiting, 1);
}

void pvmg_reply_dump(const struct request *r)
{
    begin(r->serial, pvmg_roster_count());
    for (const struct group *g = pvmg_roster_first(); g; g = g->hh.next)
        pack_group(g);
    pvm_send(r->from, r->answer_tag);
}

void pvmg_tell_members(struct group *g, int kind, int value)
{
    struct list *list = pvmg_roster_list(g);
    int event[] = {PVMG_PACKET_EVENT, g->id, kind, value};
    if (!list)
        return;

    pvm_initsend(PvmDataDefault);
    pvm_pkint(event, 4, 1);
    pvm_setcontext(PVMG_GROUP_CTX_MEMBERS);
    pvm_mcast(list->tids, list->size, PVMG_GROUP_TRAFFIC);
    pvm_setcontext(PVMG_GROUP_CTX_SERVER);
}
