#include "reply.h"
#include "core/fault/failpoint.h"
#include "groups/name.h"
#include "outbox.h"
#include "pvm3.h"

static void pack(int value)
{
    pvm_pkint(&value, 1, 1);
}

static void send(const struct request *r)
{
    pvmc_failpoint(PVMC_FAILPOINT_GROUP_REPLY);
    pvmg_outbox_send(PVMG_GROUP_CTX_SERVER, &r->from, 1, r->answer_tag);
    pvmc_failpoint_done(PVMC_FAILPOINT_GROUP_REPLY);
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
    send(r);
}

static void note_answer(struct group *g, struct member *m, int serial, int code)
{
    m->waiting = 0;
    m->answered = serial;
    m->answer = code;
    pvmg_roster_changed(g);
}

void pvmg_reply_change(struct group *g, struct member *m, const struct request *r, int code)
{
    note_answer(g, m, r->serial, code);
    pvmg_reply_code(r, code);
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
        [PVMG_LIST_ID] = g->id,           [PVMG_LIST_GENERATION] = list->generation,
        [PVMG_LIST_FROZEN] = g->frozen,   [PVMG_LIST_BROKEN] = g->broken,
        [PVMG_LIST_LOSS] = g->first_loss, [PVMG_LIST_EPOCH] = g->epoch,
        [PVMG_LIST_CALLS] = calls,        [PVMG_LIST_SIZE] = list->size,
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
    send(r);
}

void pvmg_reply_join(struct group *g, struct member *m, const struct request *r)
{
    note_answer(g, m, r->serial, m->instance);
    pvmg_reply_list(r, m->instance, g, pvmg_roster_list(g), m->calls, 0);
}

bool pvmg_reply_again(struct group *g, const struct member *m, const struct request *r)
{
    bool with_list = r->operation == PVMG_GROUP_JOIN || r->operation == PVMG_GROUP_FREEZE;

    if (m->answered != r->serial || !(with_list || r->operation == PVMG_GROUP_BARRIER))
        return false;
    if (with_list && m->answer >= 0)
        pvmg_reply_list(r, m->answer, g, pvmg_roster_list(g), m->calls, 0);
    else
        pvmg_reply_code(r, m->answer);
    return true;
}

void pvmg_reply_barrier(int operation, int code, struct group *g, struct barrier *barrier)
{
    if (barrier->reached == 0)
        return;
    for (int i = 0; i < barrier->reached; i++) {
        struct member *m = pvmg_roster_member(g, barrier->tids[i]);
        if (m)
            note_answer(g, m, m->waiting, code);
    }
    begin(0, code);
    pvmg_name_pack(g->name);
    if (operation == PVMG_GROUP_FREEZE && code >= 0)
        pack_list(g, g->list, g->calls, 0);
    pvmc_failpoint(PVMC_FAILPOINT_GROUP_RELEASE);
    pvmg_outbox_send(PVMG_GROUP_CTX_SERVER, barrier->tids, barrier->reached, PVMG_GROUP_ANSWER);
    pvmc_failpoint_done(PVMC_FAILPOINT_GROUP_RELEASE);
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
    send(r);
}

void pvmg_tell_members(struct group *g, int kind, int value)
{
    struct list *list = pvmg_roster_list(g);
    int event[] = {PVMG_PACKET_EVENT, g->id, kind, value};
    if (!list)
        return;

    pvm_initsend(PvmDataDefault);
    pvm_pkint(event, 4, 1);
    pvmg_outbox_send(PVMG_GROUP_CTX_MEMBERS, list->tids, list->size, PVMG_GROUP_TRAFFIC);
}
