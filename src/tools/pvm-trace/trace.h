/*
 * trace.h - a whole trace in memory: hosts, tasks and their events.
 */
#ifndef TRACE_H
#define TRACE_H

#include "event.h"
#include "store.h"

struct trace_host {
    int tid;
    const char *name, *arch;
    int64_t offset_us; /* added to its times */
};

struct trace_task {
    int tid, parent, host; /* tids */
    const char *name;      /* NULL: not told */
};

struct trace {
    struct trace_host *hosts;
    struct trace_task *tasks;
    struct event *events; /* of each task in its own order */
    size_t host_count, task_count, event_count;
    int64_t damaged_lines; /* that were left out */
    int64_t lost_messages; /* that the collector could not read */
    bool complete;         /* has its end */
    struct store store;    /* of all texts and fields */
};

/* A host or task of that tid, which is added when it is not there yet. Valid until the next is added. */
struct trace_host *trace_host(struct trace *t, int tid);
struct trace_task *trace_task(struct trace *t, int tid);

/* Keeps an event whose fields are in e->field, count of them; they and what they point to must be in t->store. */
void trace_add(struct trace *t, const struct event *e);

void trace_free(struct trace *t);

#endif
