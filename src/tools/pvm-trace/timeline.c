/* timeline.c - see timeline.h. */
#include "timeline.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/visible.h"

enum { DEPTH_MAX = 64, NAME_SHOWN_BYTES = 41 };

#define NO_TRACK UINT32_MAX

/* ---- tracks ---- */

static int by_tid(const void *a, const void *b)
{
    int x = ((const struct track *)a)->task.tid, y = ((const struct track *)b)->task.tid;
    return (x > y) - (x < y);
}

int timeline_find(const struct timeline *t, int tid)
{
    struct track wanted = {.task.tid = tid};
    if (!t->track_count)
        return -1;
    const struct track *found = bsearch(&wanted, t->tracks, t->track_count, sizeof wanted, by_tid);
    return found ? (int)(found - t->tracks) : -1;
}

const char *timeline_label(const struct track *track, char *text, size_t size)
{
    const char *name = track->task.name ? track->task.name : "";
    const char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    bool named = *name && strcmp(name, "-");
    char shown[NAME_SHOWN_BYTES];
    pvmc_visible_bytes(shown, sizeof shown, name, named ? strlen(name) : 0);
    snprintf(text, size, "%s%st%x", shown, named ? " " : "", (unsigned)track->task.tid);
    return text;
}

/* Completes the task's data from its TEV_NEWTASK event. */
static void know_task(const struct event *e, struct trace_task *task)
{
    const struct field *name = event_field(e, TEV_DID_TN);
    if (e->what != TEV_NEWTASK)
        return;
    task->parent = (int)event_number(e, TEV_DID_PT, task->parent);
    if (!task->name && name && name->kind == FIELD_TEXT)
        task->name = name->text;
}

static void add_track(struct timeline *t, int tid)
{
    struct trace_task task = {.tid = tid, .parent = PvmNoParent};
    for (size_t i = 0; i < t->trace->task_count; i++)
        if (t->trace->tasks[i].tid == tid)
            task = t->trace->tasks[i];
    if (!task.host)
        task.host = pvm_tidtohost(tid);
    t->tracks = array_grow(t->tracks, t->track_count, sizeof *t->tracks);
    t->tracks[t->track_count++] = (struct track){.task = task, .start_us = INT64_MAX, .end_us = INT64_MIN};
    qsort(t->tracks, t->track_count, sizeof *t->tracks, by_tid);
}

/* Daemons also send events for tasks that were not spawned and trace no calls, such as the console: they get no track.
 */
static bool makes_track(const struct event *e)
{
    return e->phase != PHASE_POINT || (e->what == TEV_NEWTASK && event_number(e, TEV_DID_TF, 0) >= 0);
}

static void find_tracks(struct timeline *t)
{
    int last = -1;
    for (size_t i = 0; i < t->trace->event_count; i++) {
        const struct event *e = &t->trace->events[i];
        if (e->tid == last || !makes_track(e))
            continue;
        last = e->tid;
        if (timeline_find(t, last) < 0)
            add_track(t, last);
    }
}

/* ---- calls ---- */

struct builder {
    struct timeline *timeline;
    struct track *track;
    int64_t now_us;         /* monotonic, even if the task's clock is not */
    size_t open[DEPTH_MAX]; /* calls */
    int depth;
};

static struct call *new_call(struct builder *b, int what)
{
    struct timeline *t = b->timeline;
    t->calls = array_grow(t->calls, t->call_count, sizeof *t->calls);
    struct call *c = &t->calls[t->call_count++];
    *c = (struct call){.start_us = b->now_us,
                       .end_us = b->now_us,
                       .track = (uint32_t)(b->track - t->tracks),
                       .what = (uint16_t)what,
                       .depth = (uint16_t)b->depth};
    b->track->count++;
    return c;
}

static void enter(struct builder *b, const struct event *e)
{
    new_call(b, e->what)->entry = e;
    if (b->depth < DEPTH_MAX)
        b->open[b->depth++] = b->timeline->call_count - 1;
}

static void leave(struct builder *b, const struct event *e)
{
    int at = b->depth - 1;
    while (at >= 0 && b->timeline->calls[b->open[at]].what != e->what)
        at--;
    if (at < 0) { /* the trace started inside this call */
        new_call(b, e->what)->exit = e;
        return;
    }
    for (int i = at; i < b->depth; i++)
        b->timeline->calls[b->open[i]].end_us = b->now_us;
    b->timeline->calls[b->open[at]].exit = e;
    b->depth = at;
}

static int64_t offset_of(const struct trace *t, int tid)
{
    for (size_t i = 0; i < t->host_count; i++)
        if (t->hosts[i].tid == pvm_tidtohost(tid))
            return t->hosts[i].offset_us;
    return 0;
}

static void live(struct track *track, int64_t time_us)
{
    if (time_us < track->start_us)
        track->start_us = time_us;
    if (time_us > track->end_us)
        track->end_us = time_us;
}

static void take_event(struct builder *b, const struct event *e, int64_t time_us)
{
    live(b->track, time_us);
    if (e->phase == PHASE_POINT) {
        know_task(e, &b->track->task);
        b->track->ended |= e->what == TEV_ENDTASK;
        return;
    }
    if (time_us > b->now_us)
        b->now_us = time_us;
    if (e->phase == PHASE_ENTRY)
        enter(b, e);
    else
        leave(b, e);
}

/* `order` contains the indices of the track's events. */
static void build_track(struct timeline *t, size_t index, const uint32_t *order, size_t count)
{
    struct track *track = &t->tracks[index];
    struct builder b = {.timeline = t, .track = track, .now_us = INT64_MIN};
    int64_t offset_us = offset_of(t->trace, track->task.tid);
    track->first = t->call_count;
    for (size_t i = 0; i < count; i++) {
        const struct event *e = &t->trace->events[order[i]];
        take_event(&b, e, e->time_us + offset_us);
    }
    for (int i = 0; i < b.depth; i++)
        t->calls[b.open[i]].end_us = INT64_MAX; /* shift() sets the end */
}

/* ---- the whole ---- */

/* Indices of events, sorted by track; track i starts at starts[i]. The caller frees both arrays. */
static uint32_t *order_by_track(const struct timeline *t, size_t **starts)
{
    const struct trace *trace = t->trace;
    uint32_t *order = malloc((trace->event_count + 1) * sizeof *order);
    uint32_t *tracks = malloc((trace->event_count + 1) * sizeof *tracks);
    size_t *begin = calloc(t->track_count + 2, sizeof *begin);
    if (!order || !tracks || !begin)
        abort();
    for (size_t i = 0; i < trace->event_count; i++) {
        bool same = i && trace->events[i].tid == trace->events[i - 1].tid;
        tracks[i] = same ? tracks[i - 1] : (uint32_t)timeline_find(t, trace->events[i].tid);
        if (tracks[i] != NO_TRACK)
            begin[tracks[i] + 2]++;
    }
    for (size_t i = 2; i < t->track_count + 2; i++)
        begin[i] += begin[i - 1];
    for (size_t i = 0; i < trace->event_count; i++)
        if (tracks[i] != NO_TRACK)
            order[begin[tracks[i] + 1]++] = (uint32_t)i;
    free(tracks);
    *starts = begin;
    return order;
}

/* Makes times relative to the first event and sets the end of calls that have none. */
static void shift(struct timeline *t)
{
    int64_t first_us = INT64_MAX, last_us = INT64_MIN;
    for (size_t i = 0; i < t->track_count; i++) {
        first_us = t->tracks[i].start_us < first_us ? t->tracks[i].start_us : first_us;
        last_us = t->tracks[i].end_us > last_us ? t->tracks[i].end_us : last_us;
    }
    if (!t->track_count)
        first_us = last_us = 0;
    t->origin_us = first_us;
    t->length_us = last_us - first_us;
    for (size_t i = 0; i < t->track_count; i++) {
        struct track *track = &t->tracks[i];
        if (!track->ended && track->count && t->calls[track->first + track->count - 1].what != TEV_EXIT)
            track->end_us = last_us;
        for (size_t c = track->first; c < track->first + track->count; c++) {
            if (t->calls[c].end_us == INT64_MAX)
                t->calls[c].end_us = track->end_us > t->calls[c].start_us ? track->end_us : t->calls[c].start_us;
            t->calls[c].start_us -= first_us;
            t->calls[c].end_us -= first_us;
        }
        track->start_us -= first_us;
        track->end_us -= first_us;
    }
}

void timeline_make(const struct trace *trace, struct timeline *out)
{
    size_t *starts;
    *out = (struct timeline){.trace = trace};
    find_tracks(out);
    uint32_t *order = order_by_track(out, &starts);
    for (size_t i = 0; i < out->track_count; i++)
        build_track(out, i, order + starts[i], starts[i + 1] - starts[i]);
    free(order);
    free(starts);
    shift(out);
}

void timeline_free(struct timeline *t)
{
    free(t->tracks);
    free(t->calls);
}
