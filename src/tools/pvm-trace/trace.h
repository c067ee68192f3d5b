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
    int64_t offset_us; /* to be added to its times */
};

struct trace_task {
    int tid, parent, host; /* tids */
    const char *name;      /* NULL: unknown */
};

struct trace {
    struct trace_host *hosts;
    struct trace_task *tasks;
    struct event *events; /* in order for each task */
    size_t host_count, task_count, event_count;
    int64_t damaged_lines; /* skipped lines */
    int64_t lost_messages; /* messages that the collector could not read */
    bool complete;         /* its last line has been read */
    struct store store;    /* storage of all texts and fields */
};

/* Find or add the host or task with this tid. Valid until the next one is added. */
struct trace_host *trace_host(struct trace *t, int tid);
struct trace_task *trace_task(struct trace *t, int tid);

/* Adds an event. Its fields and what they point to must be in t->store. */
void trace_add(struct trace *t, const struct event *e);

void trace_free(struct trace *t);

#endif
