#include "reply.h"
#include "../name.h"
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

void reply_code(const struct request *r, int code)
{
    begin(r->serial, code);
    pvm_send(r->from, r->answer_tag);
}

/* The members of a list that have gone since: their number and tids. */
static void pack_gone(const struct group *g, const struct list *list)
{
    int gone = 0;
    for (int i = 0; i < list->size; i++)
        gone += !group_member(g, list->tids[i]);
    pack(gone);
    for (int i = 0; i < list->size && gone > 0; i++)
        if (!group_member(g, list->tids[i]))
            pack(list->tids[i]);
}

static void pack_list(const struct group *g, const struct list *list, int calls, int known_generation)
{
    int head[PVMI_LIST_INTS] = {
        [PVMI_LIST_ID] = g->id,         [PVMI_LIST_GENERATION] = list->generation,
        [PVMI_LIST_FROZEN] = g->frozen, [PVMI_LIST_BROKEN] = g->broken,
        [PVMI_LIST_CALLS] = calls,      [PVMI_LIST_SIZE] = list->size,
    };

    pvm_pkint(head, PVMI_LIST_INTS, 1);
    if (known_generation != list->generation) {
        pvm_pkint(list->instances, list->size, 1);
        pvm_pkint(list->tids, list->size, 1);
    }
    pack_gone(g, list);
}

void reply_list(const struct request *r, int code, const struct group *g, const struct list *list, int calls,
                int known_generation)
{
    begin(r->serial, list ? code : PvmNoMem);
    if (list)
        pack_list(g, list, calls, known_generation);
    pvm_send(r->from, r->answer_tag);
}

void reply_meeting(int operation, int code, struct group *g, struct meeting *meeting)
{
    begin(0, code);
    pvmi_name_pack(g->name);
    if (operation == PVMI_GROUP_FREEZE && code >= 0)
        pack_list(g, g->list, g->calls, 0);
    if (meeting->reached > 0)
        pvm_mcast(meeting->tids, meeting->reached, PVMI_GROUP_ANSWER);
    meeting->reached = 0;
}

static void pack_group(const struct group *g)
{
    int waiting = g->barrier.reached;

    pvmi_name_pack(g->name);
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

void reply_dump(const struct request *r)
{
    begin(r->serial, roster_count());
    for (const struct group *g = roster_first(); g; g = g->hh.next)
        pack_group(g);
    pvm_send(r->from, r->answer_tag);
}

void tell_members(struct group *g, int kind, int value)
{
    struct list *list = group_list(g);
    int event[] = {PVMI_WAY_EVENT, g->id, kind, value};
    if (!list)
        return;

    pvm_initsend(PvmDataDefault);
    pvm_pkint(event, 4, 1);
    pvm_setcontext(PVMI_GROUP_CTX_MEMBERS);
    pvm_mcast(list->tids, list->size, PVMI_GROUP_TRAFFIC);
    pvm_setcontext(PVMI_GROUP_CTX_SERVER);
}
