/*
 * timeline.h - what each task did when: its calls, made of the entries and exits of a trace. Times are in microseconds
 * of one clock, since the first event.
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "trace.h"

enum category {
    CATEGORY_COMPUTE, /* of no call: what is between them */
    CATEGORY_PACK,
    CATEGORY_SEND,
    CATEGORY_RECEIVE,
    CATEGORY_GROUP,
    CATEGORY_OTHER,
    CATEGORY_COUNT,
};

struct call {
    int64_t start_us, end_us;
    const struct event *entry, *exit; /* one may be NULL: the trace began or ended inside */
    uint32_t track;
    uint16_t what;  /* TEV_... */
    uint16_t depth; /* 0: not inside another call (as a message handler's are) */
};

struct track {
    struct trace_task task;
    int64_t start_us, end_us; /* of its life, as far as the trace tells */
    size_t first, count;      /* its calls, by start */
    bool ended;               /* the end was seen */
};

struct timeline {
    struct track *tracks; /* by tid */
    struct call *calls;
    size_t track_count, call_count;
    int64_t origin_us; /* of time 0, since 1970, by the collector's clock */
    int64_t length_us;
    const struct trace *trace;
};

/* The trace must outlive the timeline. */
void timeline_make(const struct trace *t, struct timeline *out);
void timeline_free(struct timeline *t);

enum category timeline_category(int what);
extern const char *const timeline_category_names[CATEGORY_COUNT];

/* Of a track: "name t40002", into text; returns text. */
const char *timeline_label(const struct track *track, char *text, size_t size);

/* Index of the task's track, or -1. */
int timeline_find(const struct timeline *t, int tid);

#endif
