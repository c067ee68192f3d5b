#include "handover.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "datatype.h"
#include "groups/guard.h"
#include "groups/name.h"
#include "groups/session.h"
#include "libpvm/base/gate.h"
#include "pvm3.h"
#include "traffic.h"

enum { RETRY_CALLS = 16 }; /* without a wait for room, after one in vain */

/* A call on its way through slots. */
struct handover {
    struct pvmg_group *group;
    const struct pvmg_board *board;
    struct pvmg_call call;
    size_t bytes; /* of a part */
    enum pvmg_slot_ring ring;
    int root;  /* its place */
    int next;  /* place that is looked at next */
    int ahead; /* room is wanted for so many calls after this one */
    unsigned looks;
};

/* Whether all members of the list can be reached by slots. */
static bool has_slots(const struct pvmg_group *g, const struct pvmg_members *list)
{
    const struct pvmg_slots *s = g->board ? &g->board->slots : NULL;

    return s && s->count && list && s->count == list->size && !pvmg_board_is_closed(g->board) &&
           pvmg_board_is_found(g->board) && memcmp(s->tids, list->tids, (size_t)s->count * sizeof(*s->tids)) == 0;
}

static size_t bytes_of(const struct pvmg_call *call)
{
    return (size_t)call->n * pvmg_datatype_bytes(call->type);
}

static int place_of(const struct pvmg_slots *s, int tid)
{
    for (int i = 0; i < s->count; i++)
        if (s->tids[i] == tid)
            return i;
    return -1;
}

/* ---- giving ---- */

/* Puts a part. A board may close meanwhile: who hears of that looks into all slots once more, and then no longer. */
static bool put(const struct pvmg_board *b, int place, int kind, const struct pvmg_call *call, int start,
                const void *data, size_t bytes)
{
    const struct pvmg_slots *s = &b->slots;

    return pvmg_slots_put(s, place, kind, call, start, data, bytes) &&
           (!pvmg_board_is_closed(b) || !pvmg_slots_retract(s, pvmg_slots_ring(bytes), place, call->number));
}

/*
 * Whether that member finds all that we have sent to it before it finds a part; else the part goes by message, behind
 * the others. Programs look without waiting, after a reduce, for what was sent before it.
 */
static bool keeps_order(const struct pvmg_slots *s, int place)
{
    return place >= 0 && pvmi_gate_sent(s->tids[place]) == s->sent[place];
}

void pvmg_handover_note_packet(const struct pvmg_group *g, int tid)
{
    const struct pvmg_slots *s = g->board ? &g->board->slots : NULL;
    int place = s ? place_of(s, tid) : -1;

    if (place >= 0)
        s->sent[place] = pvmi_gate_sent(tid);
}

/* The members' context is current. */
static void wake(const struct pvmg_call *call, int *tids, int n)
{
    struct pvmg_packet p = {.kind = PVMG_PACKET_WAKE, .call = *call};

    if (n > 0)
        pvmg_packet_mcast(&p, tids, n);
}

void pvmg_handover_wake(const struct pvmg_group *g, const struct pvmg_call *call)
{
    if (!g->board || !g->board->slots.count)
        return;
    const struct pvmg_slots *s = &g->board->slots;
    int *tids = malloc((size_t)s->count * sizeof(*tids)), n = 0;

    for (int i = 0; tids && i < s->count; i++)
        if (i != s->mine && pvmg_slots_must_wake(s, i))
            tids[n++] = s->tids[i];
    wake(call, tids, n);
    free(tids);
}

bool pvmg_handover_is_possible(const struct pvmg_group *g, const struct pvmg_call *call)
{
    return bytes_of(call) <= PVMG_SLOTS_PART_MAX && has_slots(g, g->participants);
}

bool pvmg_handover_give(const struct pvmg_group *g, int kind, const struct pvmg_call *call, int start, int tid,
                        const void *data)
{
    size_t bytes = bytes_of(call);

    if (!pvmg_handover_is_possible(g, call))
        return false;
    const struct pvmg_slots *s = &g->board->slots;
    int root = place_of(s, call->root), to = kind == PVMG_PACKET_DOWN ? place_of(s, tid) : root;
    if (!keeps_order(s, to))
        return false;
    if (kind == PVMG_PACKET_DOWN) /* the root wakes all at the end */
        return put(g->board, to, kind, call, start, data, bytes);
    if (!put(g->board, s->mine, kind, call, start, data, bytes))
        return false;
    if (pvmg_slots_must_wake(s, root))
        wake(call, &s->tids[root], 1);
    return true;
}

/* ---- taking parts as packets ---- */

/* Whether a part is one for us, as far as a stranger's word can be checked. */
static bool is_sound(const struct pvmg_group *g, int place, int number, const struct pvmg_slot_part *part)
{
    const struct pvmg_slots *s = &g->board->slots;
    const struct pvmg_call *c = &part->call;
    bool ours =
        part->kind == PVMG_PACKET_UP ? c->root == s->tids[s->mine] : part->kind == PVMG_PACKET_DOWN && place == s->mine;

    return ours && c->group == g->id && place_of(s, c->root) >= 0 && c->number == number && c->n > 0 &&
           part->start >= 0 && part->start < s->count && pvmg_datatype_bytes(c->type) > 0 &&
           bytes_of(c) <= part->bytes_max;
}

static struct pvmg_packet *packet_of(const struct pvmg_slots *s, int place, const struct pvmg_slot_part *part)
{
    struct pvmg_packet *p = pvmg_packet_new(part->kind, &part->call, 0, part->start, 1);

    if (!p)
        return NULL;
    p->from = part->kind == PVMG_PACKET_UP ? s->tids[place] : part->call.root;
    p->tids[0] = s->tids[place];
    memcpy(p->data, part->data, bytes_of(&part->call));
    return p;
}

static void take(const struct pvmg_group *g, enum pvmg_slot_ring ring, int place, int index)
{
    const struct pvmg_slots *s = &g->board->slots;
    struct pvmg_slot_part part;
    int number;

    if (!pvmg_slots_look(s, ring, place, index, &number, &part) || !is_sound(g, place, number, &part))
        return;
    struct pvmg_packet *p = packet_of(s, place, &part);
    if (p && pvmg_slots_retract(s, ring, place, number))
        pvmg_traffic_deliver(p);
    else
        pvmg_packet_free(p);
}

void pvmg_handover_take_all(struct pvmg_group *g)
{
    const struct pvmg_slots *s = &g->board->slots;

    for (int ring = 0; ring < PVMG_SLOTS_RINGS; ring++)
        for (int place = 0; place < s->count; place++)
            for (int i = 0; i < pvmg_slots_ring_size(ring); i++)
                take(g, ring, place, i);
}

void pvmg_handover_take(struct pvmg_group *g)
{
    if (!g->board || !g->board->slots.count)
        return;
    if (pvmg_board_is_closed(g->board)) {
        pvmg_group_drop_board(g); /* takes them all */
        return;
    }
    const struct pvmg_slots *s = &g->board->slots;
    pvmg_slots_sleep(s, true);
    for (int ring = 0; ring < PVMG_SLOTS_RINGS; ring++)
        for (int place = 0; place < s->count; place++)
            take(g, ring, place, pvmg_slots_index(ring, g->number));
}

void pvmg_handover_end(struct pvmg_group *g)
{
    if (g->board && g->board->slots.count)
        pvmg_slots_sleep(&g->board->slots, false);
}

/* ---- whole calls ---- */

static unsigned come(void *arg)
{
    const struct handover *h = arg;

    return pvmg_slots_waits(&h->board->slots);
}

static unsigned never_rest(void *arg)
{
    struct handover *h = arg;

    return ++h->looks;
}

/* Yields until it is over, as long as that pays off. */
static bool yields(struct handover *h, bool (*is_over)(void *arg), unsigned (*changes)(void *arg))
{
    struct pvmi_gate gate = {.is_open = is_over, .come = changes, .arg = h, .bell = -1};

    pvmg_slots_note_wait(&h->board->slots);
    return pvmi_gate_yield(&gate);
}

/* Waits for parts. False: go on by messages. */
static bool await_parts(struct handover *h, bool (*is_over)(void *arg), int kind)
{
    bool over = is_over(h) || (!pvmg_traffic_has(kind, h->group, h->call.number) && yields(h, is_over, come));

    return over && !pvmg_board_is_closed(h->board);
}

static int next_place(const struct handover *h)
{
    return h->next + (h->next + 1 == h->root ? 2 : 1);
}

static void begin_round(struct handover *h)
{
    h->next = h->root == 0;
}

static bool has_room(struct handover *h, bool (*is_over)(void *arg), int ahead)
{
    begin_round(h);
    h->ahead = ahead;
    return is_over(h);
}

/* Waits until half of the slots are free, so that the two sides do not work on the same one. */
static bool waits_for_room(struct handover *h, bool (*is_over)(void *arg))
{
    h->ahead = pvmg_slots_ring_size(h->ring) / 2;
    return yields(h, is_over, never_rest) || has_room(h, is_over, 0);
}

/*
 * Waits until others have taken what we have put, so that messages do not pile up there: some milliseconds. They may be
 * doing something else, and no member has to wait for that: until they have begun again to take, only every 16th call
 * waits. If none did, a member that takes messages, which is slower than sending them, would never catch up.
 */
static bool await_room(struct handover *h, bool (*is_over)(void *arg))
{
    bool waits = h->group->runs_ahead % RETRY_CALLS == 0;
    bool over = has_room(h, is_over, 0) || (waits && waits_for_room(h, is_over));

    h->group->runs_ahead = over ? 0 : h->group->runs_ahead + 1;
    return over && !pvmg_board_is_closed(h->board);
}

/* At the root: the parts of all others are there, in the order of their places. */
static bool have_come(void *arg)
{
    struct handover *h = arg;
    const struct pvmg_slots *s = &h->board->slots;

    while (h->next < s->count && pvmg_slots_has(s, h->ring, h->next, h->call.number))
        h->next = next_place(h);
    return h->next >= s->count || pvmg_board_is_closed(h->board);
}

/* Whether the slot of this call, and the one that is so far ahead, are free. */
static bool is_free_at(const struct handover *h, int place)
{
    return pvmg_slots_is_free(&h->board->slots, h->ring, place, h->call.number) &&
           pvmg_slots_is_free(&h->board->slots, h->ring, place, h->call.number + h->ahead);
}

/* The same: the slots of all others are free. */
static bool are_free(void *arg)
{
    struct handover *h = arg;
    const struct pvmg_slots *s = &h->board->slots;

    while (h->next < s->count && is_free_at(h, h->next))
        h->next = next_place(h);
    return h->next >= s->count || pvmg_board_is_closed(h->board);
}

static bool is_free(void *arg)
{
    const struct handover *h = arg;
    const struct pvmg_slots *s = &h->board->slots;

    return is_free_at(h, s->mine) || pvmg_board_is_closed(h->board);
}

static bool has_come(void *arg)
{
    const struct handover *h = arg;
    const struct pvmg_slots *s = &h->board->slots;

    return pvmg_slots_has(s, h->ring, s->mine, h->call.number) || pvmg_board_is_closed(h->board);
}

/* Copies the part that has come to a place. False: it is not one of this call. */
static bool copy(const struct handover *h, int place, int kind, void *to)
{
    struct pvmg_slot_part part;
    int number;

    if (!pvmg_slots_look(&h->board->slots, h->ring, place, pvmg_slots_index(h->ring, h->call.number), &number, &part))
        return false;
    if (number != h->call.number || part.kind != kind || !pvmg_call_agrees(&part.call, &h->call))
        return false;
    memcpy(to, part.data, h->bytes);
    return true;
}

static void free_slots(struct handover *h)
{
    const struct pvmg_slots *s = &h->board->slots;

    for (begin_round(h); h->next < s->count; h->next = next_place(h))
        pvmg_slots_retract(s, h->ring, h->next, h->call.number);
}

/* `result`, which may overlap `data`, changes only when all parts are good: else the call begins again. */
static bool gather(struct handover *h, char *result, const char *data)
{
    size_t all = (size_t)h->board->slots.count * h->bytes;
    char few[PVMG_SLOTS_PART_MAX], *parts = all <= sizeof(few) ? few : malloc(all);
    bool good = parts;

    if (parts)
        memcpy(parts + (size_t)h->root * h->bytes, data, h->bytes);
    for (begin_round(h); good && h->next < h->board->slots.count; h->next = next_place(h))
        good = copy(h, h->next, PVMG_PACKET_UP, parts + (size_t)h->next * h->bytes);
    if (good)
        memcpy(result, parts, all);
    if (parts != few)
        free(parts);
    return good;
}

static bool reduce(struct handover *h, void (*func)(int *, void *, void *, int *, int *), void *data)
{
    _Alignas(max_align_t) char sum[PVMG_SLOTS_PART_MAX], part[PVMG_SLOTS_PART_MAX];
    int type = h->call.type, n = h->call.n, info = PvmOk;

    memcpy(sum, data, h->bytes);
    for (begin_round(h); h->next < h->board->slots.count; h->next = next_place(h)) {
        if (!copy(h, h->next, PVMG_PACKET_UP, part))
            return false;
        func(&type, sum, part, &n, &info);
        if (info < 0)
            return false;
    }
    memcpy(data, sum, h->bytes);
    return true;
}

/* Finds the group of a call that may consist of handing over; its number is that of the next call. */
static bool find(struct handover *h, int operation, const char *group, int n, int type, int tag, int root)
{
    if (!pvmg_session_is_idle() || pvmg_name_check(group) < 0)
        return false;
    struct pvmg_group *g = pvmg_group_find(group);
    if (!g || !g->board || g->broken || !pvmi_gate_is_allowed())
        return false;
    if (n < 1 || tag < 0 || pvmg_datatype_bytes(type) == 0)
        return false; /* no call */
    const struct pvmg_members *list = pvmg_group_participants(g);
    if (!list || !has_slots(g, list))
        return false;
    *h = (struct handover){.group = g, .board = g->board, .root = pvmg_members_rank_of_instance(list, root)};
    if (h->root < 0)
        return false;
    h->call = (struct pvmg_call){.group = g->id,
                                 .generation = list->generation,
                                 .number = g->number + 1,
                                 .operation = operation,
                                 .root = g->board->slots.tids[h->root],
                                 .tag = tag,
                                 .type = type,
                                 .n = n};
    h->bytes = bytes_of(&h->call);
    h->ring = pvmg_slots_ring(h->bytes);
    begin_round(h);
    return h->bytes <= PVMG_SLOTS_PART_MAX;
}

/* From here on the program may jump out of the call, which then counts as begun. */
static bool is_root(struct handover *h)
{
    h->group->number = h->call.number;
    return h->board->slots.mine == h->root;
}

/* The end of a call: done, or to be begun again. */
static bool end(struct handover *h, bool done)
{
    if (done)
        pvmg_traffic_finish(h->group);
    else
        h->group->number--;
    return done;
}

static void wake_from_outside(struct handover *h, bool all)
{
    const struct pvmg_slots *s = &h->board->slots;
    struct pvmg_guard guard;
    int first = all ? 0 : h->root, last = all ? s->count - 1 : h->root, sleepers = 0;
    int tids[PVMG_SLOTS_MEMBERS_MAX];

    for (int i = first; i <= last; i++)
        if (i != s->mine && pvmg_slots_must_wake(s, i))
            tids[sleepers++] = s->tids[i];
    if (!sleepers)
        return;
    pvmg_guard_enter(&guard, PVMG_GROUP_CTX_MEMBERS);
    wake(&h->call, tids, sleepers);
    pvmg_guard_leave(&guard);
}

static bool give_root(struct handover *h, const void *data)
{
    const struct pvmg_slots *s = &h->board->slots;
    int position = s->mine < h->root ? s->mine + 1 : s->mine; /* in the tree of the call, see tree.h */

    return keeps_order(s, h->root) && await_room(h, is_free) &&
           put(h->board, s->mine, PVMG_PACKET_UP, &h->call, position, data, h->bytes);
}

static bool collect(void (*func)(int *type, void *x, void *y, int *n, int *info), void *result, void *data, int n,
                    int type, int tag, const char *group, int root)
{
    struct handover h;

    if (!data || !find(&h, func ? PVMG_REDUCE : PVMG_GATHER, group, n, type, tag, root))
        return false;
    if (!is_root(&h)) {
        if (!end(&h, give_root(&h, data)))
            return false;
        wake_from_outside(&h, false);
        return true;
    }
    bool done = (func || result) && await_parts(&h, have_come, PVMG_PACKET_UP) &&
                (func ? reduce(&h, func, data) : gather(&h, result, data));
    if (done)
        free_slots(&h);
    return end(&h, done);
}

/* A call that succeeds hears of nothing else; so it listens now and then, when it counts as made: handlers may jump. */
static bool listen_if(bool done)
{
    if (done)
        pvmi_gate_listen();
    return done;
}

bool pvmg_handover_collect(void (*func)(int *type, void *x, void *y, int *n, int *info), void *result, void *data,
                           int n, int type, int tag, const char *group, int root)
{
    return listen_if(collect(func, result, data, n, type, tag, group, root));
}

static bool give_all(struct handover *h, const char *data)
{
    const struct pvmg_slots *s = &h->board->slots;

    for (begin_round(h); h->next < s->count; h->next = next_place(h))
        if (!keeps_order(s, h->next))
            return false;
    if (!await_room(h, are_free))
        return false;
    for (begin_round(h); h->next < s->count; h->next = next_place(h)) {
        int position = h->next < h->root ? h->next + 1 : h->next;
        if (!put(h->board, h->next, PVMG_PACKET_DOWN, &h->call, position, data + (size_t)h->next * h->bytes, h->bytes))
            return false; /* those who have got their parts drop the packets that follow */
    }
    return true;
}

static bool scatter(void *result, const void *data, int n, int type, int tag, const char *group, int root)
{
    struct handover h;

    if (!result || !find(&h, PVMG_SCATTER, group, n, type, tag, root))
        return false;
    if (!is_root(&h)) {
        int mine = h.board->slots.mine;
        bool taken = await_parts(&h, has_come, PVMG_PACKET_DOWN) && copy(&h, mine, PVMG_PACKET_DOWN, result);
        if (taken)
            pvmg_slots_retract(&h.board->slots, h.ring, mine, h.call.number);
        return end(&h, taken);
    }
    if (!end(&h, data && give_all(&h, data)))
        return false;
    memmove(result, (const char *)data + (size_t)h.root * h.bytes, h.bytes);
    wake_from_outside(&h, true);
    return true;
}

bool pvmg_handover_scatter(void *result, const void *data, int n, int type, int tag, const char *group, int root)
{
    return listen_if(scatter(result, data, n, type, tag, group, root));
}
