/*
 * reply.h - requests and the answers to them (../proto.h).
 */
#ifndef PVMG_REPLY_H
#define PVMG_REPLY_H

#include <stdbool.h>
#include "groups/proto.h"
#include "roster.h"

struct request {
    int from, operation, serial, answer_tag;
    char name[PVMG_GROUP_NAME_MAX + 1];
};

/* Answers with a code only. */
void pvmg_reply_code(const struct request *r, int code);

/* The same for the JOIN, BARRIER or FREEZE of a member that has changed the group: a new server repeats the answer. */
void pvmg_reply_change(struct group *g, struct member *m, const struct request *r, int code);

/* Answers a task that has joined. */
void pvmg_reply_join(struct group *g, struct member *m, const struct request *r);

/* Answers a request of the member that an earlier server has answered, as that one did; false if it has not. */
bool pvmg_reply_again(struct group *g, const struct member *m, const struct request *r);

/*
 * Answers with a code and a list of the group. The members are included if the list's generation is not the known one;
 * those that are no longer members are always named. list NULL: answers PvmNoMem.
 */
void pvmg_reply_list(const struct request *r, int code, const struct group *g, const struct list *list, int calls,
                     int known_generation);

/* Answers all members that wait in a barrier with a code, and for FREEZE with the list; empties the barrier. */
void pvmg_reply_barrier(int operation, int code, struct group *g, struct barrier *barrier);

/* Answers with all groups (DUMP). */
void pvmg_reply_dump(const struct request *r);

/* Sends an event to all members of a group. */
void pvmg_tell_members(struct group *g, int kind, int value);

#endif
