/*
 * meaning.h - what an event of a trace means: the kind of its call, and the message that it sends or receives.
 */
#ifndef MEANING_H
#define MEANING_H

#include "event.h"

enum category {
    CATEGORY_COMPUTE, /* the time between calls */
    CATEGORY_PACK,
    CATEGORY_SEND,
    CATEGORY_RECEIVE,
    CATEGORY_GROUP,
    CATEGORY_OTHER,
    CATEGORY_COUNT,
};

enum category meaning_category(int what);
extern const char *const meaning_category_names[CATEGORY_COUNT];

/* The length of the message that the event of a call has sent or received. */
int64_t meaning_bytes(const struct event *e);

/* Whether the event tells of a message that has been received: the exit of a receive, or the entry of a handler. */
bool meaning_receives(const struct event *e);

#endif
