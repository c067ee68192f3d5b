/*
 * handover.h - small parts of reduce, gather and scatter that members of one host hand over in shared memory (slots.h)
 * instead of packets.
 *
 * If the participants are known without asking (pvmg_group_participants()), a whole call may consist of that: it then
 * sends no message and saves nothing of the program's state. A call that cannot, or that has to sleep, does its work as
 * usual: it gives parts by slots or packets, whichever is possible, and takes those in slots as if they were packets
 * that have arrived.
 */
#ifndef PVMG_HANDOVER_H
#define PVMG_HANDOVER_H

#include "groups/group.h"

/*
 * The whole call. True: it has succeeded. False: nothing has happened for the caller, who has to do it in the usual
 * way. func NULL: gather.
 */
bool pvmg_handover_collect(void (*func)(int *type, void *x, void *y, int *n, int *info), void *result, void *data,
                           int n, int type, int tag, const char *group, int root);
bool pvmg_handover_scatter(void *result, const void *data, int n, int type, int tag, const char *group, int root);

/* Whether parts of this call can be handed over, in the call under way. */
bool pvmg_handover_is_possible(const struct pvmg_group *g, const struct pvmg_call *call);

/* Gives a part, of the member with this tid or for it (enum pvmg_packet_kind). False: send it as a packet. */
bool pvmg_handover_give(const struct pvmg_group *g, int kind, const struct pvmg_call *call, int start, int tid,
                        const void *data);

/* The part for that task, or of ours to it, has gone as a packet instead. */
void pvmg_handover_note_packet(const struct pvmg_group *g, int tid);

/* Wakes those to whom this task has given parts of the scatter, if they sleep. The members' context is current. */
void pvmg_handover_wake(const struct pvmg_group *g, const struct pvmg_call *call);

/* Before a wait for packets of the group's current call: takes the parts in slots as packets. */
void pvmg_handover_take(struct pvmg_group *g);

/* Takes all parts for this task, from slots that others no longer fill. */
void pvmg_handover_take_all(struct pvmg_group *g);

/* This task no longer waits for parts. */
void pvmg_handover_end(struct pvmg_group *g);

#endif
