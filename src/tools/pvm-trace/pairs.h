/*
 * pairs.h - messages: each send is matched to its receive. Messages of one sender, receiver, tag and context are
 * received in the order in which they were sent; a multicast is a message to each of its destinations.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "timeline.h"

struct message {
    int source, destination; /* tids */
    int tag, context;
    int64_t bytes;               /* of its data */
    const struct call *sent;     /* NULL: by a task that was not traced */
    const struct call *received; /* NULL: not in this trace */
};

struct pairs {
    struct message *messages; /* those that were sent, by sender; then received ones without a send */
    size_t count;
    size_t unreceived; /* sent to a traced task, and not received */
    size_t outside;    /* sent to a task that was not traced, or received from one */
    size_t unsent;     /* received from a traced task that has no such send */
    size_t early;      /* received before it was sent: clocks differ by more than was measured */
};

void pairs_make(const struct timeline *t, struct pairs *out);
void pairs_free(struct pairs *p);

/* When a message was received, but not before it was sent. Only for those with both ends. */
int64_t pairs_arrival_us(const struct message *m);

#endif
