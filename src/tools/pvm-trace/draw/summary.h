/*
 * summary.h - totals of a run: traffic between tasks, and how each task spent its time.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdio.h>
#include "tools/pvm-trace/pairs.h"

/* Totals of one task. */
struct summary_task {
    int64_t life_us;
    int64_t receive_us; /* in receiving calls */
    int64_t group_us;   /* in group calls */
    int64_t library_us; /* in all other calls of PVM */
    int64_t compute_us; /* outside of calls */
    int64_t waiting_us; /* part of receive_us: before the received message was sent, or without a message */
    int64_t sent, received, sent_bytes, received_bytes;
};

struct summary_traffic {
    int64_t messages, bytes;
};

struct summary {
    const struct timeline *timeline;
    const struct pairs *pairs;
    struct summary_task *tasks;      /* one for each track */
    struct summary_traffic *traffic; /* [sender * tracks + receiver] */
    struct summary_traffic total;
};

void summary_make(const struct timeline *t, const struct pairs *p, struct summary *out);
void summary_free(struct summary *s);

void summary_print(FILE *f, const struct summary *s);
void summary_print_json(FILE *f, const struct summary *s);

#endif
