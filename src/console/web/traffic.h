/*
 * traffic.h - what each pair of tasks has sent: messages seen in traces, and what the tasks themselves count by route
 * (tools/pvm-info/links.h), traced or not.
 */
#ifndef WEB_TRAFFIC_H
#define WEB_TRAFFIC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "core/hash.h"
#include "tools/pvm-info/links.h"

enum { TRAFFIC_PAIRS_MAX = 100000 };

struct traffic_pair {
    struct {
        int from, to;
    } key;
    int64_t messages, bytes; /* by traces */
    int64_t direct_frames, direct_bytes, daemon_frames, daemon_bytes;
    char route[32]; /* "" until a task has told it */
    bool changed;
    UT_hash_handle hh;
};

struct traffic {
    int own_tid; /* whose messages are left out: they are there because somebody looks */
    struct traffic_pair *pairs;
    int count;
    int64_t messages, bytes; /* of all pairs, also of forgotten ones */
    bool full;               /* some pairs are missing */
};

void traffic_sent(struct traffic *t, int from, int to, int64_t bytes);

/* What a task has told of its peers. */
void traffic_told(struct traffic *t, const struct links_report *report);

/* Adds the pairs to an object: all, or those that have changed. */
void traffic_tell(struct traffic *t, json_t *to, bool all);

/* Forgets pairs with a task that is no longer known. */
void traffic_keep(struct traffic *t, bool (*is_known)(int tid, void *arg), void *arg);

void traffic_free(struct traffic *t);

#endif
