/* paje.c - see paje.h. Records must be in order of time, so all are created first and then sorted. */
#include "paje.h"
#include <stdlib.h>
#include "core/visible.h"
#include "flight.h"
#include "palette.h"
#include "tools/pvm-trace/store.h"

enum { LABEL_BYTES = 64 };

/* Record numbers, defined in the header below. */
enum paje {
    DEFINE_CONTAINER,
    DEFINE_STATE,
    DEFINE_LINK,
    DEFINE_VARIABLE,
    DEFINE_VALUE,
    CREATE,
    DESTROY,
    PUSH,
    POP,
    START_LINK,
    END_LINK,
    SET_VARIABLE,
};

static const char header[] = "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n"
                             "%EndEventDef\n"
                             "%EventDef PajeDefineStateType 1\n% Alias string\n% Type string\n% Name string\n"
                             "%EndEventDef\n"
                             "%EventDef PajeDefineLinkType 2\n% Alias string\n% Type string\n"
                             "% StartContainerType string\n% EndContainerType string\n% Name string\n%EndEventDef\n"
                             "%EventDef PajeDefineVariableType 3\n% Alias string\n% Type string\n% Name string\n"
                             "% Color color\n%EndEventDef\n"
                             "%EventDef PajeDefineEntityValue 4\n% Alias string\n% Type string\n% Name string\n"
                             "% Color color\n%EndEventDef\n"
                             "%EventDef PajeCreateContainer 5\n% Time date\n% Alias string\n% Type string\n"
                             "% Container string\n% Name string\n%EndEventDef\n"
                             "%EventDef PajeDestroyContainer 6\n% Time date\n% Type string\n% Name string\n"
                             "%EndEventDef\n"
                             "%EventDef PajePushState 7\n% Time date\n% Type string\n% Container string\n"
                             "% Value string\n%EndEventDef\n"
                             "%EventDef PajePopState 8\n% Time date\n% Type string\n% Container string\n%EndEventDef\n"
                             "%EventDef PajeStartLink 9\n% Time date\n% Type string\n% Container string\n"
                             "% StartContainer string\n% Value string\n% Key string\n% Size int\n% Tag int\n"
                             "%EndEventDef\n"
                             "%EventDef PajeEndLink 10\n% Time date\n% Type string\n% Container string\n"
                             "% EndContainer string\n% Value string\n% Key string\n%EndEventDef\n"
                             "%EventDef PajeSetVariable 11\n% Time date\n% Type string\n% Container string\n"
                             "% Value double\n%EndEventDef\n";

/* One line with a time. Lines with equal times stay in the order of creation. */
struct line {
    int64_t time_us;
    size_t number;
    enum paje kind;
    const void *about; /* a track, call, message or step */
};

struct lines {
    struct line *lines;
    size_t count;
};

static void add(struct lines *l, int64_t time_us, enum paje kind, const void *about)
{
    l->lines = array_grow(l->lines, l->count, sizeof *l->lines);
    l->lines[l->count] = (struct line){time_us, l->count, kind, about};
    l->count++;
}

static int by_time(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->time_us != y->time_us)
        return x->time_us > y->time_us ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Closes open calls, innermost first, before the next call starts. */
static void add_calls(struct lines *l, const struct timeline *t, const struct track *track)
{
    const struct call *open[65];
    int depth = 0;
    add(l, track->start_us, CREATE, track);
    for (size_t i = track->first; i < track->first + track->count; i++) {
        const struct call *c = &t->calls[i];
        for (; depth > 0 && depth > c->depth; depth--)
            add(l, open[depth - 1]->end_us, POP, open[depth - 1]);
        add(l, c->start_us, PUSH, c);
        open[depth++] = c;
    }
    for (; depth > 0; depth--)
        add(l, open[depth - 1]->end_us, POP, open[depth - 1]);
}

/* The format cannot escape quotes in texts. */
static void write_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (text = PVMC_VISIBLE(text); *text; text++)
        fputc(*text == '"' || *text == '\t' ? '?' : *text, f);
    fputc('"', f);
}

static void define(FILE *f, const struct timeline *t)
{
    fputs("0 M 0 \"virtual machine\"\n0 H M host\n0 T H task\n1 S T call\n2 L M T T message\n"
          "3 B M \"bytes in flight\" \"0.2 0.2 0.2\"\n3 N M \"messages in flight\" \"0.5 0.5 0.5\"\n"
          "4 m L message \"0 0 0\"\n",
          f);
    for (int what = 0; what <= TEV_MAX; what++) {
        unsigned color = palette_calls[meaning_category(what)];
        fprintf(f, "4 s%d S %s \"%.3f %.3f %.3f\"\n", what, event_name(what), (color >> 16) / 255.0,
                (color >> 8 & 255) / 255.0, (color & 255) / 255.0);
    }
    fputs("5 0.000000 machine M 0 \"virtual machine\"\n", f);
    for (size_t i = 0; i < t->trace->host_count; i++) {
        fprintf(f, "5 0.000000 h%x H machine ", (unsigned)t->trace->hosts[i].tid);
        write_text(f, t->trace->hosts[i].name);
        fputc('\n', f);
    }
}

/* Defines hosts that the trace does not name. */
static void define_nameless_hosts(FILE *f, const struct timeline *t)
{
    for (size_t i = 0; i < t->track_count; i++) {
        int host = t->tracks[i].task.host;
        bool known = false;
        for (size_t h = 0; h < t->trace->host_count; h++)
            known |= t->trace->hosts[h].tid == host;
        for (size_t before = 0; before < i; before++)
            known |= t->tracks[before].task.host == host;
        if (!known)
            fprintf(f, "5 0.000000 h%x H machine \"host %x\"\n", (unsigned)host, (unsigned)host);
    }
}

static void write_line(FILE *f, const struct timeline *t, const struct pairs *p, const struct line *l)
{
    char label[LABEL_BYTES];
    const struct call *c = l->about;
    const struct message *m = l->about;
    const struct track *track = l->about;
    const struct flight_step *step = l->about;
    fprintf(f, "%d %lld.%06d ", l->kind, (long long)(l->time_us / 1000000), (int)(l->time_us % 1000000));
    switch (l->kind) {
    case CREATE:
        fprintf(f, "t%x T h%x ", (unsigned)track->task.tid, (unsigned)track->task.host);
        write_text(f, timeline_label(track, label, sizeof label));
        fputc('\n', f);
        break;
    case DESTROY:
        fprintf(f, "T t%x\n", (unsigned)track->task.tid);
        break;
    case PUSH:
        fprintf(f, "S t%x s%d\n", (unsigned)t->tracks[c->track].task.tid, c->what);
        break;
    case POP:
        fprintf(f, "S t%x\n", (unsigned)t->tracks[c->track].task.tid);
        break;
    case START_LINK:
        fprintf(f, "L machine t%x m k%zu %lld %d\n", (unsigned)m->source, (size_t)(m - p->messages),
                (long long)m->bytes, m->tag);
        break;
    case END_LINK:
        fprintf(f, "L machine t%x m k%zu\n", (unsigned)m->destination, (size_t)(m - p->messages));
        break;
    default: /* SET_VARIABLE */
        fprintf(f, "B machine %lld\n%d %lld.%06d N machine %lld\n", (long long)step->bytes, SET_VARIABLE,
                (long long)(l->time_us / 1000000), (int)(l->time_us % 1000000), (long long)step->messages);
    }
}

void paje_write(FILE *f, const struct timeline *t, const struct pairs *p)
{
    struct lines l = {0};
    size_t steps_count;
    struct flight_step *steps = flight_make(p, &steps_count);
    for (size_t i = 0; i < t->track_count; i++)
        add_calls(&l, t, &t->tracks[i]);
    for (size_t i = 0; i < p->count; i++) {
        if (!p->messages[i].sent || !p->messages[i].received)
            continue;
        add(&l, p->messages[i].sent->start_us, START_LINK, &p->messages[i]);
        add(&l, pairs_arrival_us(&p->messages[i]), END_LINK, &p->messages[i]);
    }
    for (size_t i = 0; i < steps_count; i++)
        add(&l, steps[i].time_us, SET_VARIABLE, &steps[i]);
    for (size_t i = 0; i < t->track_count; i++)
        add(&l, t->tracks[i].end_us, DESTROY, &t->tracks[i]);
    if (l.count)
        qsort(l.lines, l.count, sizeof *l.lines, by_time);
    fputs(header, f);
    define(f, t);
    define_nameless_hosts(f, t);
    for (size_t i = 0; i < l.count; i++)
        write_line(f, t, p, &l.lines[i]);
    free(l.lines);
    free(steps);
}
