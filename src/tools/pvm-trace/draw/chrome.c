/* chrome.c - see chrome.h. Times are in microseconds; decimals are allowed. */
#include "chrome.h"
#include <inttypes.h>
#include <stdlib.h>
#include "flight.h"
#include "tools/pvm-trace/record.h"

enum { LABEL_BYTES = 64, COUNTERS = 0 /* process id for counters; no host has this tid */ };

static const char *separator = "";

/* Starts an event; the caller writes the rest and the closing brace. */
static void begin(FILE *f, const char *phase, int process, int track)
{
    fprintf(f, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", separator, phase, process, track);
    separator = ",";
}

static void name_of(FILE *f, const char *kind, int process, int track, const char *name)
{
    begin(f, "M", process, track);
    fprintf(f, ",\"name\":\"%s\",\"args\":{\"name\":", kind);
    record_text(f, name);
    fputs("}}", f);
}

static void write_names(FILE *f, const struct timeline *t)
{
    char label[LABEL_BYTES];
    const struct trace *trace = t->trace;
    name_of(f, "process_name", COUNTERS, 0, "messages in flight");
    for (size_t i = 0; i < trace->host_count; i++) {
        snprintf(label, sizeof label, "host %.40s", trace->hosts[i].name ? trace->hosts[i].name : "");
        name_of(f, "process_name", trace->hosts[i].tid, 0, label);
    }
    for (size_t i = 0; i < t->track_count; i++) {
        const struct trace_task *task = &t->tracks[i].task;
        name_of(f, "thread_name", task->host, task->tid, timeline_label(&t->tracks[i], label, sizeof label));
        begin(f, "M", task->host, task->tid);
        fprintf(f, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%zu}}", i);
    }
}

static void write_call(FILE *f, const struct timeline *t, const struct call *c)
{
    const struct trace_task *task = &t->tracks[c->track].task;
    begin(f, "X", task->host, task->tid);
    fprintf(f, ",\"ts\":%" PRId64 ",\"dur\":%" PRId64 ",\"name\":\"%s\",\"cat\":\"%s\",\"args\":{", c->start_us,
            c->end_us - c->start_us, event_name(c->what), meaning_category_names[meaning_category(c->what)]);
    if (c->entry)
        record_fields(f, c->entry, false);
    if (c->exit && c->exit->fields) {
        fputs(c->entry && c->entry->fields ? ",\"result\":{" : "\"result\":{", f);
        record_fields(f, c->exit, false);
        fputc('}', f);
    }
    fputs("}}", f);
}

/* An arrow starts at the start of the sending call and ends just inside the end of the receiving call. */
static void write_arrow(FILE *f, const struct timeline *t, const struct message *m, size_t number)
{
    const struct trace_task *from = &t->tracks[m->sent->track].task, *to = &t->tracks[m->received->track].task;
    int64_t end_us = pairs_arrival_us(m);
    bool inside = end_us == m->received->end_us && end_us > m->received->start_us && end_us > m->sent->start_us;
    const char *text = ",\"cat\":\"message\",\"name\":\"message\",\"id\":%zu,\"ts\":%" PRId64;
    begin(f, "s", from->host, from->tid);
    fprintf(f, text, number, m->sent->start_us);
    fprintf(f, ",\"args\":{\"tag\":%d,\"bytes\":%" PRId64 "}}", m->tag, m->bytes);
    begin(f, "f", to->host, to->tid);
    fprintf(f, text, number, inside ? end_us - 1 : end_us);
    fputs(inside ? ".999,\"bp\":\"e\"}" : ",\"bp\":\"e\"}", f);
}

static void write_counters(FILE *f, const struct pairs *p)
{
    size_t count;
    struct flight_step *steps = flight_make(p, &count);
    for (size_t i = 0; i < count; i++) {
        begin(f, "C", COUNTERS, 0);
        fprintf(f, ",\"ts\":%" PRId64 ",\"name\":\"bytes in flight\",\"args\":{\"bytes\":%" PRId64 "}}",
                steps[i].time_us, steps[i].bytes);
        begin(f, "C", COUNTERS, 0);
        fprintf(f, ",\"ts\":%" PRId64 ",\"name\":\"messages in flight\",\"args\":{\"messages\":%" PRId64 "}}",
                steps[i].time_us, steps[i].messages);
    }
    free(steps);
}

void chrome_write(FILE *f, const struct timeline *t, const struct pairs *p)
{
    separator = "";
    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"made by\":\"dpvm pvm-trace\"},\"traceEvents\":[", f);
    write_names(f, t);
    for (size_t i = 0; i < t->call_count; i++)
        write_call(f, t, &t->calls[i]);
    for (size_t i = 0; i < p->count; i++)
        if (p->messages[i].sent && p->messages[i].received)
            write_arrow(f, t, &p->messages[i], i);
    write_counters(f, p);
    fputs("\n]}\n", f);
}
