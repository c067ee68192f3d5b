/*
 * summary.h - a run in figures: who talked to whom, and where each task's time went.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdio.h>
#include "pairs.h"

/* Of one task; all but messages and bytes in microseconds. */
struct summary_task {
    int64_t life_us;
    int64_t receive_us; /* in receiving calls */
    int64_t group_us;   /* in calls for groups */
    int64_t library_us; /* in all other calls of PVM */
    int64_t compute_us; /* the rest: in no call */
    int64_t waiting_us; /* of receive_us: until the message that came was sent, or for one that never came */
    int64_t sent, received, sent_bytes, received_bytes;
};

struct summary_traffic {
    int64_t messages, bytes;
};

struct summary {
    const struct timeline *timeline;
    const struct pairs *pairs;
    struct summary_task *tasks;      /* one for each track */
    struct summary_traffic *traffic; /* [sender * tracks + receiver], what was sent */
    struct summary_traffic total;
};

void summary_make(const struct timeline *t, const struct pairs *p, struct summary *out);
void summary_free(struct summary *s);

void summary_print(FILE *f, const struct summary *s);
void summary_print_json(FILE *f, const struct summary *s);

#endif
