/*
 * slots.h - memory in which the members of a group that are all on one host pass each other small parts of collective
 * calls. Each member has a ring of slots, a slot for each call: the member writes there what it gives in a reduce or
 * gather, and the root what it gives the member in a scatter. Another ring has fewer and larger slots.
 *
 * A slot only takes the place of a packet (packet.h). If it is busy, because the receiver is as many calls behind as
 * the ring has slots, or the board (board.h) is closed, the part goes by message.
 *
 * Other processes write here, so nothing read from here is used before it is checked.
 */
#ifndef PVMG_SLOTS_H
#define PVMG_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "groups/collectives/packet.h"

#define PVMG_SLOTS_PART_MAX    4096 /* bytes of the largest part */
#define PVMG_SLOTS_MEMBERS_MAX 1024 /* larger groups have no slots */

struct pvmg_slots_memory;

struct pvmg_slots {
    struct pvmg_slots_memory *memory; /* shared */
    int *tids;                        /* of the members, in the order of the group's list: their places; our own copy */
    uint32_t *sent;                   /* for each place: pvmi_gate_sent() when it last got a packet instead of a part */
    int count;                        /* 0: there are no slots */
    int mine;                         /* place of this task, or -1 */
};

enum pvmg_slot_ring { PVMG_SLOTS_SMALL, PVMG_SLOTS_LARGE, PVMG_SLOTS_RINGS };

/* What is in a slot. The values are those of another process. */
struct pvmg_slot_part {
    struct pvmg_call call;
    int kind, start; /* as in a packet */
    const void *data;
    size_t bytes_max; /* of the slot */
};

/* Bytes of the memory for a group of this size. */
size_t pvmg_slots_bytes(int members);

/* The server writes into new memory, all 0, who the members are. */
void pvmg_slots_prepare(void *memory, const int *tids, int members);

/* The view of task `tid` of that memory, which stays the caller's. False: it is not a member, or memory ran out. */
bool pvmg_slots_open(struct pvmg_slots *s, void *memory, int members, int tid);
void pvmg_slots_close(struct pvmg_slots *s);

/* The ring for parts of so many bytes, at most PVMG_SLOTS_PART_MAX. */
enum pvmg_slot_ring pvmg_slots_ring(size_t bytes);

/* Whether the slot of a call is free to be written. */
bool pvmg_slots_is_free(const struct pvmg_slots *s, enum pvmg_slot_ring ring, int place, int number);

/* Writes the part of a call. False: the slot is busy. */
bool pvmg_slots_put(const struct pvmg_slots *s, int place, int kind, const struct pvmg_call *call, int start,
                    const void *data, size_t bytes);

/* Takes back what we have put. False: it has been taken. */
bool pvmg_slots_retract(const struct pvmg_slots *s, enum pvmg_slot_ring ring, int place, int number);

/* Whether the slot has the part of this call. */
bool pvmg_slots_has(const struct pvmg_slots *s, enum pvmg_slot_ring ring, int place, int number);

/* The part of the slot with this index; *number is its call's. False: it is empty. */
bool pvmg_slots_look(const struct pvmg_slots *s, enum pvmg_slot_ring ring, int place, int index, int *number,
                     struct pvmg_slot_part *part);
int pvmg_slots_index(enum pvmg_slot_ring ring, int number);
int pvmg_slots_ring_size(enum pvmg_slot_ring ring);

/* This task has done what it can for now; a number that changes while others do the same, because they run. */
void pvmg_slots_note_wait(const struct pvmg_slots *s);
unsigned pvmg_slots_waits(const struct pvmg_slots *s);

/* This task is about to sleep, or no longer: who puts something for it then has to wake it. Look again in between. */
void pvmg_slots_sleep(const struct pvmg_slots *s, bool on);

/* Whether the member sleeps; true once. */
bool pvmg_slots_must_wake(const struct pvmg_slots *s, int place);

#endif
