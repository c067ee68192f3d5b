/*
 * reply.h - requests as they came, and what is sent back (../proto.h).
 */
#ifndef REPLY_H
#define REPLY_H

#include <stdbool.h>
#include "../proto.h"
#include "roster.h"

struct request {
    int from, operation, serial, answer_tag;
    char name[PVMI_GROUP_NAME_MAX + 1];
};

/* Answers with a code alone. */
void reply_code(const struct request *r, int code);

/*
 * Answers with a code and a list of the group; its members are named if it is not of the known generation, those that
 * are no members any more in any case. list NULL: answers that memory is out.
 */
void reply_list(const struct request *r, int code, const struct group *g, const struct list *list, int calls,
                int known_generation);

/* Answers all who wait in a meeting, and ends it: a code; after a FREEZE the list, too. */
void reply_meeting(int operation, int code, struct group *g, struct meeting *meeting);

/* Answers with all groups (DUMP). */
void reply_dump(const struct request *r);

/* Tells all members of a group of an event. */
void tell_members(struct group *g, int kind, int value);

#endif
