#include "slots.h"
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, SMALL_SLOTS = 64, SMALL_BYTES = 256, LARGE_SLOTS = 8, LARGE_BYTES = PVMG_SLOTS_PART_MAX + LINE };

/*
 * `state` is 0 when the slot is free, else twice the call's number + 1, and one more when the part is complete. A part
 * of 16 bytes fits into the first line of the processor's cache.
 */
struct slot {
    uint64_t state;
    struct pvmg_call call;
    int kind, start;
    char data[];
};

struct place {
    _Alignas(LINE) uint32_t tid;
    _Alignas(LINE) uint32_t sleeps;
    _Alignas(LINE) char small[SMALL_SLOTS][SMALL_BYTES];
    _Alignas(LINE) char large[LARGE_SLOTS][LARGE_BYTES];
};

struct pvmg_slots_memory {
    _Alignas(LINE) uint32_t waits;
    _Alignas(LINE) struct place places[];
};

_Static_assert(sizeof(struct slot) + PVMG_SLOTS_PART_MAX <= LARGE_BYTES, "the largest part fits");

static struct slot *slot_at(const struct pvmg_slots *s, enum pvmg_slot_ring ring, int place, int index)
{
    struct place *p = &s->memory->places[place];

    return (struct slot *)(ring == PVMG_SLOTS_SMALL ? p->small[index] : p->large[index]);
}

static struct slot *slot_of(const struct pvmg_slots *s, enum pvmg_slot_ring ring, int place, int number)
{
    return slot_at(s, ring, place, pvmg_slots_index(ring, number));
}

static uint64_t state_of(const struct slot *slot)
{
    return __atomic_load_n(&slot->state, __ATOMIC_SEQ_CST); /* after we have said that we sleep, or closed the board */
}

static bool change(struct slot *slot, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(&slot->state, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static uint64_t being_written(int number)
{
    return ((uint64_t)(uint32_t)number + 1) * 2;
}

static uint64_t complete(int number)
{
    return being_written(number) + 1;
}

static size_t bytes_max(enum pvmg_slot_ring ring)
{
    return (ring == PVMG_SLOTS_SMALL ? (size_t)SMALL_BYTES : (size_t)LARGE_BYTES) - sizeof(struct slot);
}

size_t pvmg_slots_bytes(int members)
{
    return members > PVMG_SLOTS_MEMBERS_MAX ? 0
                                            : sizeof(struct pvmg_slots_memory) + (size_t)members * sizeof(struct place);
}

void pvmg_slots_prepare(void *memory, const int *tids, int members)
{
    struct pvmg_slots_memory *m = memory;

    for (int i = 0; i < members && members <= PVMG_SLOTS_MEMBERS_MAX; i++)
        m->places[i].tid = (uint32_t)tids[i];
}

bool pvmg_slots_open(struct pvmg_slots *s, void *memory, int members, int tid)
{
    *s = (struct pvmg_slots){.memory = memory, .mine = -1};
    if (members > PVMG_SLOTS_MEMBERS_MAX)
        return true;
    s->tids = malloc((size_t)members * sizeof(*s->tids));
    s->sent = calloc((size_t)members, sizeof(*s->sent));
    if (!s->tids || !s->sent) {
        pvmg_slots_close(s);
        return false;
    }
    s->count = members;
    for (int i = 0; i < members; i++) {
        s->tids[i] = (int)__atomic_load_n(&s->memory->places[i].tid, __ATOMIC_RELAXED);
        if (s->tids[i] == tid)
            s->mine = i;
    }
    if (s->mine >= 0)
        return true;
    pvmg_slots_close(s);
    return false;
}

void pvmg_slots_close(struct pvmg_slots *s)
{
    free(s->tids);
    free(s->sent);
    *s = (struct pvmg_slots){.mine = -1};
}

enum pvmg_slot_ring pvmg_slots_ring(size_t bytes)
{
    return bytes <= SMALL_BYTES - sizeof(struct slot) ? PVMG_SLOTS_SMALL : PVMG_SLOTS_LARGE;
}

int pvmg_slots_ring_size(enum pvmg_slot_ring ring)
{
    return ring == PVMG_SLOTS_SMALL ? SMALL_SLOTS : LARGE_SLOTS;
}

int pvmg_slots_index(enum pvmg_slot_ring ring, int number)
{
    return (int)((uint32_t)number % (uint32_t)pvmg_slots_ring_size(ring));
}

bool pvmg_slots_is_free(const struct pvmg_slots *s, enum pvmg_slot_ring ring, int place, int number)
{
    return !state_of(slot_of(s, ring, place, number));
}

bool pvmg_slots_put(const struct pvmg_slots *s, int place, int kind, const struct pvmg_call *call, int start,
                    const void *data, size_t bytes)
{
    struct slot *slot = slot_of(s, pvmg_slots_ring(bytes), place, call->number);

    if (!change(slot, 0, being_written(call->number)))
        return false;
    slot->call = *call;
    slot->kind = kind;
    slot->start = start;
    memcpy(slot->data, data, bytes);
    return change(slot, being_written(call->number), complete(call->number));
}

bool pvmg_slots_retract(const struct pvmg_slots *s, enum pvmg_slot_ring ring, int place, int number)
{
    return change(slot_of(s, ring, place, number), complete(number), 0);
}

bool pvmg_slots_has(const struct pvmg_slots *s, enum pvmg_slot_ring ring, int place, int number)
{
    return state_of(slot_of(s, ring, place, number)) == complete(number);
}

bool pvmg_slots_look(const struct pvmg_slots *s, enum pvmg_slot_ring ring, int place, int index, int *number,
                     struct pvmg_slot_part *part)
{
    const struct slot *slot = slot_at(s, ring, place, index);
    uint64_t state = state_of(slot);

    if (!(state & 1))
        return false;
    *number = (int)(uint32_t)(state / 2 - 1);
    *part = (struct pvmg_slot_part){
        .call = slot->call, .kind = slot->kind, .start = slot->start, .data = slot->data, .bytes_max = bytes_max(ring)};
    return true;
}

void pvmg_slots_note_wait(const struct pvmg_slots *s)
{
    __atomic_fetch_add(&s->memory->waits, 1, __ATOMIC_RELAXED);
}

unsigned pvmg_slots_waits(const struct pvmg_slots *s)
{
    return __atomic_load_n(&s->memory->waits, __ATOMIC_RELAXED);
}

void pvmg_slots_sleep(const struct pvmg_slots *s, bool on)
{
    __atomic_store_n(&s->memory->places[s->mine].sleeps, on, __ATOMIC_SEQ_CST);
}

bool pvmg_slots_must_wake(const struct pvmg_slots *s, int place)
{
    uint32_t *sleeps = &s->memory->places[place].sleeps;

    return __atomic_load_n(sleeps, __ATOMIC_SEQ_CST) && __atomic_exchange_n(sleeps, 0, __ATOMIC_SEQ_CST);
}
