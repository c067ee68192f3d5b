/*
 * timeline.h - the calls of each task, built from the entry and exit events of a trace. Times are in microseconds since
 * the first event, by the collector's clock.
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "meaning.h"
#include "trace.h"

struct call {
    int64_t start_us, end_us;
    const struct event *entry, *exit; /* one may be NULL: the trace started or ended inside the call */
    uint32_t track;
    uint16_t what;  /* TEV_... */
    uint16_t depth; /* 0: not nested; calls in message handlers are nested */
};

struct track {
    struct trace_task task;
    int64_t start_us, end_us; /* of its life, as far as known from the trace */
    size_t first, count;      /* its calls, by start */
    bool ended;               /* the trace contains its end */
};

struct timeline {
    struct track *tracks; /* by tid */
    struct call *calls;
    size_t track_count, call_count;
    int64_t origin_us; /* time 0, since 1970, by the collector's clock */
    int64_t length_us;
    const struct trace *trace;
};

/* The trace must outlive the timeline. */
void timeline_make(const struct trace *t, struct timeline *out);
void timeline_free(struct timeline *t);

/* Writes a track's label, such as "name t40002", to text; returns text. */
const char *timeline_label(const struct track *track, char *text, size_t size);

/* Index of the task's track, or -1. */
int timeline_find(const struct timeline *t, int tid);

#endif
