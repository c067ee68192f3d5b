/* summary.c - see summary.h. */
#include "summary.h"
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <jansson.h>
#include "output.h"

enum { LABEL_BYTES = 64, TEXT_BYTES = 32, TRACKS_MAX = 20000, MATRIX_TASKS = 12 };

/* ---- adding up ---- */

static void add_time(struct summary_task *task, const struct call *c)
{
    int64_t us = c->end_us - c->start_us;
    enum category category = meaning_category(c->what);
    if (c->depth > 0) /* its outer call is counted */
        return;
    if (category == CATEGORY_RECEIVE)
        task->receive_us += us;
    else if (category == CATEGORY_GROUP)
        task->group_us += us;
    else
        task->library_us += us;
}

/* Adds the part of a receive before the message was sent. */
static void add_waiting(struct summary_task *task, const struct message *m)
{
    const struct call *c = m->received;
    int64_t until_us = m->sent->start_us < c->end_us ? m->sent->start_us : c->end_us;
    if (meaning_category(c->what) == CATEGORY_RECEIVE && until_us > c->start_us)
        task->waiting_us += until_us - c->start_us;
}

/* Whether a receive found no message or did not return. */
static bool in_vain(const struct call *c)
{
    if (meaning_category(c->what) != CATEGORY_RECEIVE || c->depth > 0)
        return false;
    return !c->exit || (c->what != TEV_PRECV && c->what != TEV_PROBE && event_number(c->exit, TEV_DID_MB, 0) <= 0);
}

static void add_message(struct summary *s, const struct message *m)
{
    const struct timeline *t = s->timeline;
    int from = timeline_find(t, m->source), to = timeline_find(t, m->destination);
    if (m->sent) {
        s->tasks[from].sent++;
        s->tasks[from].sent_bytes += m->bytes;
    }
    if (m->received) {
        s->tasks[to].received++;
        s->tasks[to].received_bytes += m->bytes;
    }
    if (m->sent && m->received)
        add_waiting(&s->tasks[to], m);
    if (from < 0 || to < 0)
        return;
    struct summary_traffic *traffic = &s->traffic[(size_t)from * t->track_count + (size_t)to];
    traffic->messages++;
    traffic->bytes += m->bytes;
    s->total.messages++;
    s->total.bytes += m->bytes;
}

static void add_life(struct summary_task *task, const struct track *track)
{
    task->life_us = track->end_us - track->start_us;
    task->compute_us = task->life_us - task->receive_us - task->group_us - task->library_us;
    if (task->compute_us < 0)
        task->compute_us = 0;
}

void summary_make(const struct timeline *t, const struct pairs *p, struct summary *out)
{
    *out = (struct summary){.timeline = t, .pairs = p};
    if (t->track_count > TRACKS_MAX)
        errx(1, "a summary is limited to %d tasks; the trace has %zu", TRACKS_MAX, t->track_count);
    out->tasks = calloc(t->track_count + 1, sizeof *out->tasks);
    out->traffic = calloc(t->track_count * t->track_count + 1, sizeof *out->traffic);
    if (!out->tasks || !out->traffic)
        errx(1, "out of memory");
    for (size_t i = 0; i < t->call_count; i++) {
        const struct call *c = &t->calls[i];
        add_time(&out->tasks[c->track], c);
        if (in_vain(c))
            out->tasks[c->track].waiting_us += c->end_us - c->start_us;
    }
    for (size_t i = 0; i < p->count; i++)
        add_message(out, &p->messages[i]);
    for (size_t i = 0; i < t->track_count; i++)
        add_life(&out->tasks[i], &t->tracks[i]);
}

void summary_free(struct summary *s)
{
    free(s->tasks);
    free(s->traffic);
}

/* ---- as a table ---- */

static void print_time(FILE *f, int64_t us)
{
    char text[TEXT_BYTES];
    fprintf(f, " %9s", output_time((double)us, text, sizeof text));
}

static void print_tasks(FILE *f, const struct summary *s)
{
    char label[LABEL_BYTES], text[TEXT_BYTES];
    fprintf(f, "%-28s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n", "task", "life", "computing", "library", "group",
            "receiving", "waiting", "sent", "", "received", "");
    for (size_t i = 0; i < s->timeline->track_count; i++) {
        const struct summary_task *t = &s->tasks[i];
        const int64_t times[] = {t->life_us, t->compute_us, t->library_us, t->group_us, t->receive_us, t->waiting_us};
        fprintf(f, "%-28s", timeline_label(&s->timeline->tracks[i], label, sizeof label));
        for (size_t k = 0; k < sizeof times / sizeof times[0]; k++)
            print_time(f, times[k]);
        fprintf(f, " %9" PRId64 " %9s", t->sent, output_bytes((double)t->sent_bytes, text, sizeof text));
        fprintf(f, " %9" PRId64 " %9s\n", t->received, output_bytes((double)t->received_bytes, text, sizeof text));
    }
}

/* Prints a matrix: senders in rows, receivers in columns. */
static void print_matrix(FILE *f, const struct summary *s)
{
    size_t n = s->timeline->track_count;
    char text[TEXT_BYTES];
    fprintf(f, "\nmessages and bytes, from (rows) to (columns)\n%-10s", "");
    for (size_t to = 0; to < n; to++) {
        snprintf(text, sizeof text, "t%x", (unsigned)s->timeline->tracks[to].task.tid);
        fprintf(f, " %16s", text);
    }
    fputc('\n', f);
    for (size_t from = 0; from < n; from++) {
        snprintf(text, sizeof text, "t%x", (unsigned)s->timeline->tracks[from].task.tid);
        fprintf(f, "%-10s", text);
        for (size_t to = 0; to < n; to++) {
            const struct summary_traffic *c = &s->traffic[from * n + to];
            if (c->messages)
                fprintf(f, " %6" PRId64 " %9s", c->messages, output_bytes((double)c->bytes, text, sizeof text));
            else
                fprintf(f, " %16s", "-");
        }
        fputc('\n', f);
    }
}

/* For many tasks: prints only pairs with traffic. */
static void print_list(FILE *f, const struct summary *s)
{
    size_t n = s->timeline->track_count;
    char text[TEXT_BYTES];
    fprintf(f, "\n%-10s %-10s %9s %9s\n", "from", "to", "messages", "bytes");
    for (size_t i = 0; i < n * n; i++)
        if (s->traffic[i].messages)
            fprintf(f, "t%-9x t%-9x %9" PRId64 " %9s\n", (unsigned)s->timeline->tracks[i / n].task.tid,
                    (unsigned)s->timeline->tracks[i % n].task.tid, s->traffic[i].messages,
                    output_bytes((double)s->traffic[i].bytes, text, sizeof text));
}

static void print_oddity(FILE *f, size_t count, const char *what)
{
    if (count)
        fprintf(f, "%zu message%s %s\n", count, count == 1 ? " was" : "s were", what);
}

void summary_print(FILE *f, const struct summary *s)
{
    char time[TEXT_BYTES], bytes[TEXT_BYTES];
    const struct pairs *p = s->pairs;
    fprintf(f, "%zu tasks, %s, %zu calls; %" PRId64 " messages with %s between them\n\n", s->timeline->track_count,
            output_time((double)s->timeline->length_us, time, sizeof time), s->timeline->call_count, s->total.messages,
            output_bytes((double)s->total.bytes, bytes, sizeof bytes));
    print_tasks(f, s);
    if (s->timeline->track_count <= MATRIX_TASKS)
        print_matrix(f, s);
    else
        print_list(f, s);
    if (p->unreceived || p->unsent || p->outside || p->early)
        fputc('\n', f);
    print_oddity(f, p->unreceived, "sent and not received");
    print_oddity(f, p->unsent, "received without a send in the trace");
    print_oddity(f, p->outside, "sent to or by tasks that are not in the trace");
    print_oddity(f, p->early, "received before being sent, by the clocks of the hosts");
    if (!s->timeline->trace->complete)
        fprintf(f, "the trace has no end: the program is still running, or the collector was stopped\n");
}

/* ---- as JSON ---- */

static json_t *task_json(const struct track *track, const struct summary_task *t)
{
    char label[LABEL_BYTES];
    return json_pack("{s:i, s:s, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "tid", track->task.tid,
                     "name", timeline_label(track, label, sizeof label), "host", track->task.host, "parent",
                     track->task.parent, "life_us", (json_int_t)t->life_us, "computing_us", (json_int_t)t->compute_us,
                     "library_us", (json_int_t)t->library_us, "group_us", (json_int_t)t->group_us, "receiving_us",
                     (json_int_t)t->receive_us, "waiting_us", (json_int_t)t->waiting_us, "sent", (json_int_t)t->sent,
                     "sent_bytes", (json_int_t)t->sent_bytes, "received", (json_int_t)t->received, "received_bytes",
                     (json_int_t)t->received_bytes);
}

static json_t *traffic_json(const struct summary *s, size_t i)
{
    size_t n = s->timeline->track_count;
    return json_pack("{s:i, s:i, s:I, s:I}", "from", s->timeline->tracks[i / n].task.tid, "to",
                     s->timeline->tracks[i % n].task.tid, "messages", (json_int_t)s->traffic[i].messages, "bytes",
                     (json_int_t)s->traffic[i].bytes);
}

void summary_print_json(FILE *f, const struct summary *s)
{
    size_t n = s->timeline->track_count;
    json_t *tasks = json_array(), *traffic = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(tasks, task_json(&s->timeline->tracks[i], &s->tasks[i]));
    for (size_t i = 0; i < n * n; i++)
        if (s->traffic[i].messages)
            json_array_append_new(traffic, traffic_json(s, i));
    json_t *all =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o}", "length_us", (json_int_t)s->timeline->length_us,
                  "calls", (json_int_t)s->timeline->call_count, "events", (json_int_t)s->timeline->trace->event_count,
                  "unreceived", (json_int_t)s->pairs->unreceived, "unsent", (json_int_t)s->pairs->unsent, "outside",
                  (json_int_t)s->pairs->outside, "early", (json_int_t)s->pairs->early, "complete",
                  s->timeline->trace->complete, "tasks", tasks, "traffic", traffic);
    json_dumpf(all, f, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    fputc('\n', f);
    json_decref(all);
}
