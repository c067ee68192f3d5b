/*
 * spacetime.h - the space-time diagram as it happens: calls that have ended, and messages from their send to their
 * receive. The last ones are kept; when more come than can be shown, the shortest calls are left out and counted.
 *
 * Events of different tasks arrive in any order: a receive may be known before its send. Messages with the same sender,
 * receiver, tag and context are received in the order of sending, as in tools/pvm-trace/pairs.h.
 */
#ifndef WEB_SPACETIME_H
#define WEB_SPACETIME_H

#include "snapshot.h"
#include "tools/pvm-trace/event.h"
#include "traffic.h"

enum { SPACETIME_KEPT = 1 << 15, SPACETIME_BATCH_MAX = 2000, SPACETIME_BATCH_ROOM = 1 << 15 };

struct spacetime_call {
    int tid, what;
    int64_t start_us, end_us;
};

struct spacetime_message {
    int from, to, tag;
    int64_t bytes, sent_us, received_us;
};

struct spacetime {
    struct snapshot *snapshot;
    struct traffic *traffic;
    struct spacetime_call calls[SPACETIME_KEPT], new_calls[SPACETIME_BATCH_ROOM];
    struct spacetime_message messages[SPACETIME_KEPT], new_messages[SPACETIME_BATCH_ROOM];
    int64_t call_count, message_count; /* ever */
    int new_call_count, new_message_count;
    int64_t hidden; /* calls and messages that were left out */
    int64_t events; /* ever */
    struct spacetime_queue *queues;
    struct spacetime_broadcasts *broadcasts;
    int queue_count, waiting_receives;
};

/* An event of a task or daemon, at the time by our clock. */
void spacetime_take(struct spacetime *s, const struct event *e, int64_t time_us);

/* Drops messages that wait for tasks that have ended. */
void spacetime_forget_ended(struct spacetime *s);

/* Adds calls and messages to an object: those since the last time; `all`: those kept, with nothing new. */
void spacetime_tell(struct spacetime *s, json_t *to, bool all);

void spacetime_free(struct spacetime *s);

#endif
