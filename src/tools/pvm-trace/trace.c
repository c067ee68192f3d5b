/* trace.c - see trace.h. */
#include "trace.h"
#include <err.h>
#include <stdlib.h>

enum { EVENTS_MAX = 2000000000 };

struct trace_host *trace_host(struct trace *t, int tid)
{
    for (size_t i = 0; i < t->host_count; i++)
        if (t->hosts[i].tid == tid)
            return &t->hosts[i];
    t->hosts = array_grow(t->hosts, t->host_count, sizeof *t->hosts);
    t->hosts[t->host_count] = (struct trace_host){.tid = tid};
    return &t->hosts[t->host_count++];
}

struct trace_task *trace_task(struct trace *t, int tid)
{
    for (size_t i = t->task_count; i > 0; i--) /* most look-ups are for the newest */
        if (t->tasks[i - 1].tid == tid)
            return &t->tasks[i - 1];
    t->tasks = array_grow(t->tasks, t->task_count, sizeof *t->tasks);
    t->tasks[t->task_count] = (struct trace_task){.tid = tid, .parent = PvmNoParent};
    return &t->tasks[t->task_count++];
}

void trace_add(struct trace *t, const struct event *e)
{
    if (t->event_count == EVENTS_MAX)
        errx(1, "the trace has more than %d events, the limit of pvm-trace", EVENTS_MAX);
    t->events = array_grow(t->events, t->event_count, sizeof *t->events);
    t->events[t->event_count++] = *e;
}

void trace_free(struct trace *t)
{
    free(t->hosts);
    free(t->tasks);
    free(t->events);
    store_free(&t->store);
}
