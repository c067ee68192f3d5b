/*
 * pairs.h - messages: matches each send to its receive. Messages with the same sender, receiver, tag and context are
 * received in the order of sending; a multicast counts as one message to each destination. A message of
 * pvm_initsendto() takes its place in that order by its pvm_send(), because no event tells when its first bytes left:
 * if another one like it was sent meanwhile, the two may be taken for each other.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "timeline.h"

struct message {
    int source, destination; /* tids */
    int tag, context;
    int64_t bytes;               /* length of the data */
    const struct call *sent;     /* NULL: the send is not in the trace */
    const struct call *received; /* NULL: the receive is not in the trace */
};

struct pairs {
    struct message *messages; /* sent messages by sender, then received ones without a send */
    size_t count;
    size_t unreceived; /* sent to a traced task, but not received */
    size_t outside;    /* sent to or received from a task that was not traced */
    size_t unsent;     /* received from a traced task without a matching send */
    size_t early;      /* received whole before it was sent: the clocks differ by more than was measured */
};

void pairs_make(const struct timeline *t, struct pairs *out);
void pairs_free(struct pairs *p);

/*
 * When a message was received; always after the beginning of its send, although the clocks of two hosts agree only
 * roughly. Only for messages with both ends.
 */
int64_t pairs_arrival_us(const struct message *m);

#endif
