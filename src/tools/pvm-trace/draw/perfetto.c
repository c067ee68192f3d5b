/*
 * perfetto.c - see perfetto.h. The numbers of fields are those of Perfetto's protos/perfetto/trace. Names are interned:
 * written once, in the first packet, and then referred to by number. A reader sorts packets by time; those of the same
 * time keep their order.
 */
#include "perfetto.h"
#include <stdlib.h>
#include "flight.h"
#include "protobuf.h"
#include "tools/pvm-trace/store.h"

enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60,
    INTERNED_CATEGORIES = 1,
    INTERNED_EVENTS = 2,
    INTERNED_ARGUMENTS = 3,
    INTERNED_NUMBER = 1, /* of each of these */
    INTERNED_NAME = 2,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    COUNTER_UNIT = 3,
    EVENT_CATEGORY = 3,
    EVENT_ARGUMENT = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_COUNTER_VALUE = 30,
    EVENT_FLOW = 47,
    EVENT_LAST_OF_FLOW = 48,
    ARGUMENT_NAME = 1,
    ARGUMENT_INT = 4,
    ARGUMENT_DOUBLE = 5,
    ARGUMENT_TEXT = 6,
    ARGUMENT_DICTIONARY = 11,
    ARGUMENT_ARRAY = 12,
};

enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { INCREMENTAL_STATE_CLEARED = 1, NEEDS_INCREMENTAL_STATE = 2, UNIT_COUNT = 2, UNIT_BYTES = 3, OUR_SEQUENCE = 1 };

/* Tracks of tasks and hosts have their tids as numbers, which are positive. */
#define UUID_OF_COUNTERS (UINT64_C(1) << 32)

/* Numbers of interned names begin at 1. Events and fields have those of pvmtev.h plus 1; these come after them. */
enum { NAME_ARRIVAL = TEV_MAX + 2, ARGUMENT_RESULT = TEV_DID_MAX + 2, ARGUMENT_TAG, ARGUMENT_BYTES };

struct writer {
    FILE *file;
    struct protobuf packet; /* the one being written */
    const struct timeline *timeline;
    const struct pairs *pairs;
    size_t *first_sent,
        *next_sent; /* by call, by message: the messages that a call sent; 0 ends, others are one more */
    size_t *first_received, *next_received;
};

/* ---- packets ---- */

static size_t begin_packet(struct writer *w)
{
    size_t packet = protobuf_begin(&w->packet, TRACE_PACKET);
    protobuf_uint(&w->packet, PACKET_SEQUENCE, OUR_SEQUENCE);
    return packet;
}

static void end_packet(struct writer *w, size_t packet)
{
    protobuf_end(&w->packet, packet);
    fwrite(w->packet.bytes, 1, w->packet.used, w->file);
    w->packet.used = 0;
}

struct open_event {
    size_t packet, event;
};

static struct open_event begin_event(struct writer *w, int64_t time_us, enum event_type type, uint64_t track)
{
    struct open_event e = {.packet = begin_packet(w)};
    protobuf_int(&w->packet, PACKET_TIMESTAMP, time_us * 1000);
    protobuf_uint(&w->packet, PACKET_SEQUENCE_FLAGS, NEEDS_INCREMENTAL_STATE);
    e.event = protobuf_begin(&w->packet, PACKET_TRACK_EVENT);
    protobuf_uint(&w->packet, EVENT_TYPE, type);
    protobuf_uint(&w->packet, EVENT_TRACK, track);
    return e;
}

static void end_event(struct writer *w, struct open_event e)
{
    protobuf_end(&w->packet, e.event);
    end_packet(w, e.packet);
}

/* ---- names and tracks ---- */

static void intern(struct writer *w, unsigned kind, unsigned number, const char *name)
{
    size_t entry = protobuf_begin(&w->packet, kind);
    protobuf_uint(&w->packet, INTERNED_NUMBER, number);
    protobuf_text(&w->packet, INTERNED_NAME, name);
    protobuf_end(&w->packet, entry);
}

static void write_names(struct writer *w)
{
    size_t packet = begin_packet(w);
    protobuf_uint(&w->packet, PACKET_SEQUENCE_FLAGS, INCREMENTAL_STATE_CLEARED);
    size_t data = protobuf_begin(&w->packet, PACKET_INTERNED_DATA);
    for (unsigned i = 0; i < CATEGORY_COUNT; i++)
        intern(w, INTERNED_CATEGORIES, i + 1, meaning_category_names[i]);
    for (unsigned i = 0; i <= TEV_MAX; i++)
        intern(w, INTERNED_EVENTS, i + 1, event_name((int)i));
    intern(w, INTERNED_EVENTS, NAME_ARRIVAL, "arrival");
    for (unsigned i = 0; i <= TEV_DID_MAX; i++)
        intern(w, INTERNED_ARGUMENTS, i + 1, event_field_name((int)i));
    intern(w, INTERNED_ARGUMENTS, ARGUMENT_RESULT, "result");
    intern(w, INTERNED_ARGUMENTS, ARGUMENT_TAG, "tag");
    intern(w, INTERNED_ARGUMENTS, ARGUMENT_BYTES, "bytes");
    protobuf_end(&w->packet, data);
    end_packet(w, packet);
}

static void write_host(struct writer *w, const struct trace_host *host)
{
    char name[64];
    snprintf(name, sizeof name, "host %.40s", host->name ? host->name : "");
    size_t packet = begin_packet(w), track = protobuf_begin(&w->packet, PACKET_TRACK_DESCRIPTOR);
    protobuf_uint(&w->packet, TRACK_UUID, (uint64_t)host->tid);
    size_t process = protobuf_begin(&w->packet, TRACK_PROCESS);
    protobuf_int(&w->packet, PROCESS_PID, host->tid);
    protobuf_text(&w->packet, PROCESS_NAME, name);
    protobuf_end(&w->packet, process);
    protobuf_end(&w->packet, track);
    end_packet(w, packet);
}

static void write_task(struct writer *w, const struct track *t)
{
    char label[64];
    size_t packet = begin_packet(w), track = protobuf_begin(&w->packet, PACKET_TRACK_DESCRIPTOR);
    protobuf_uint(&w->packet, TRACK_UUID, (uint64_t)t->task.tid);
    size_t thread = protobuf_begin(&w->packet, TRACK_THREAD);
    protobuf_int(&w->packet, THREAD_PID, t->task.host);
    protobuf_int(&w->packet, THREAD_TID, t->task.tid);
    protobuf_text(&w->packet, THREAD_NAME, timeline_label(t, label, sizeof label));
    protobuf_end(&w->packet, thread);
    protobuf_end(&w->packet, track);
    end_packet(w, packet);
}

static void write_counter_track(struct writer *w, unsigned number, const char *name, unsigned unit)
{
    size_t packet = begin_packet(w), track = protobuf_begin(&w->packet, PACKET_TRACK_DESCRIPTOR);
    protobuf_uint(&w->packet, TRACK_UUID, UUID_OF_COUNTERS + number);
    protobuf_text(&w->packet, TRACK_NAME, name);
    size_t counter = protobuf_begin(&w->packet, TRACK_COUNTER);
    protobuf_uint(&w->packet, COUNTER_UNIT, unit);
    protobuf_end(&w->packet, counter);
    protobuf_end(&w->packet, track);
    end_packet(w, packet);
}

/* ---- arguments ---- */

static void write_item(struct writer *w, const struct field *f, int i)
{
    size_t item = protobuf_begin(&w->packet, ARGUMENT_ARRAY);
    if (f->kind == FIELD_TEXTS)
        protobuf_text(&w->packet, ARGUMENT_TEXT, f->texts[i]);
    else
        protobuf_int(&w->packet, ARGUMENT_INT, f->numbers[i]);
    protobuf_end(&w->packet, item);
}

/* As an argument of an event, or an entry of a dictionary. */
static void write_fields(struct writer *w, unsigned as, const struct event *e)
{
    for (const struct field *f = e->field; f < e->field + e->fields; f++) {
        size_t argument = protobuf_begin(&w->packet, as);
        protobuf_uint(&w->packet, ARGUMENT_NAME, f->id + 1u);
        if (f->kind == FIELD_NUMBER)
            protobuf_int(&w->packet, ARGUMENT_INT, f->number);
        else if (f->kind == FIELD_REAL)
            protobuf_double(&w->packet, ARGUMENT_DOUBLE, f->real);
        else if (f->kind == FIELD_TEXT)
            protobuf_text(&w->packet, ARGUMENT_TEXT, f->text);
        else
            for (int i = 0; i < f->count; i++)
                write_item(w, f, i);
        protobuf_end(&w->packet, argument);
    }
}

static void write_number(struct writer *w, unsigned name, int64_t value)
{
    size_t argument = protobuf_begin(&w->packet, EVENT_ARGUMENT);
    protobuf_uint(&w->packet, ARGUMENT_NAME, name);
    protobuf_int(&w->packet, ARGUMENT_INT, value);
    protobuf_end(&w->packet, argument);
}

static void write_arguments(struct writer *w, const struct call *c)
{
    if (c->entry)
        write_fields(w, EVENT_ARGUMENT, c->entry);
    if (!c->exit || !c->exit->fields)
        return;
    size_t result = protobuf_begin(&w->packet, EVENT_ARGUMENT);
    protobuf_uint(&w->packet, ARGUMENT_NAME, ARGUMENT_RESULT);
    write_fields(w, ARGUMENT_DICTIONARY, c->exit);
    protobuf_end(&w->packet, result);
}

/* ---- calls ---- */

static uint64_t track_of(const struct writer *w, const struct call *c)
{
    return (uint64_t)w->timeline->tracks[c->track].task.tid;
}

static void begin_call(struct writer *w, const struct call *c)
{
    struct open_event e = begin_event(w, c->start_us, SLICE_BEGIN, track_of(w, c));
    protobuf_uint(&w->packet, EVENT_CATEGORY, meaning_category(c->what) + 1u);
    protobuf_uint(&w->packet, EVENT_NAME, c->what + 1u);
    write_arguments(w, c);
    for (size_t m = w->first_sent[c - w->timeline->calls]; m; m = w->next_sent[m - 1])
        protobuf_fixed64(&w->packet, EVENT_FLOW, m);
    end_event(w, e);
}

/* The receiving call may have begun before the send, where no flow can end: it ends in an instant at the arrival. */
static void write_arrival(struct writer *w, const struct call *c, size_t number)
{
    const struct message *m = &w->pairs->messages[number - 1];
    struct open_event e = begin_event(w, pairs_arrival_us(m), INSTANT, track_of(w, c));
    protobuf_uint(&w->packet, EVENT_CATEGORY, CATEGORY_RECEIVE + 1);
    protobuf_uint(&w->packet, EVENT_NAME, NAME_ARRIVAL);
    write_number(w, ARGUMENT_TAG, m->tag);
    write_number(w, ARGUMENT_BYTES, m->bytes);
    protobuf_fixed64(&w->packet, EVENT_LAST_OF_FLOW, number);
    end_event(w, e);
}

static void end_call(struct writer *w, const struct call *c)
{
    for (size_t m = w->first_received[c - w->timeline->calls]; m; m = w->next_received[m - 1])
        write_arrival(w, c, m);
    end_event(w, begin_event(w, c->end_us, SLICE_END, track_of(w, c)));
}

/* An outer call ends after those within it; of two calls that touch, the first ends before the second begins. */
static void write_calls(struct writer *w, const struct track *t)
{
    const struct call **open = NULL;
    size_t depth = 0;
    for (const struct call *c = w->timeline->calls + t->first; c < w->timeline->calls + t->first + t->count; c++) {
        while (depth > c->depth)
            end_call(w, open[--depth]);
        begin_call(w, c);
        open = array_grow(open, depth, sizeof *open);
        open[depth++] = c;
    }
    while (depth)
        end_call(w, open[--depth]);
    free(open);
}

/* ---- messages ---- */

/* Lists the messages of each call, in order. */
static void list_messages(struct writer *w)
{
    size_t calls = w->timeline->call_count, count = w->pairs->count;
    size_t *lists = calloc(2 * calls + 2 * count + 1, sizeof *lists);
    if (!lists)
        store_out_of_memory();
    w->first_sent = lists;
    w->first_received = lists + calls;
    w->next_sent = lists + 2 * calls;
    w->next_received = lists + 2 * calls + count;
    for (size_t i = count; i-- > 0;) {
        const struct message *m = &w->pairs->messages[i];
        if (!m->sent || !m->received)
            continue;
        size_t *sent = &w->first_sent[m->sent - w->timeline->calls];
        size_t *received = &w->first_received[m->received - w->timeline->calls];
        w->next_sent[i] = *sent;
        w->next_received[i] = *received;
        *sent = *received = i + 1;
    }
}

static void write_counter(struct writer *w, int64_t time_us, unsigned number, int64_t value)
{
    struct open_event e = begin_event(w, time_us, COUNTER, UUID_OF_COUNTERS + number);
    protobuf_int(&w->packet, EVENT_COUNTER_VALUE, value);
    end_event(w, e);
}

static void write_counters(struct writer *w)
{
    size_t count;
    struct flight_step *steps = flight_make(w->pairs, &count);
    write_counter_track(w, 0, "bytes in flight", UNIT_BYTES);
    write_counter_track(w, 1, "messages in flight", UNIT_COUNT);
    for (size_t i = 0; i < count; i++) {
        write_counter(w, steps[i].time_us, 0, steps[i].bytes);
        write_counter(w, steps[i].time_us, 1, steps[i].messages);
    }
    free(steps);
}

void perfetto_write(FILE *f, const struct timeline *t, const struct pairs *p)
{
    struct writer w = {.file = f, .timeline = t, .pairs = p};
    list_messages(&w);
    write_names(&w);
    for (size_t i = 0; i < t->trace->host_count; i++)
        write_host(&w, &t->trace->hosts[i]);
    for (size_t i = 0; i < t->track_count; i++)
        write_task(&w, &t->tracks[i]);
    for (size_t i = 0; i < t->track_count; i++)
        write_calls(&w, &t->tracks[i]);
    write_counters(&w);
    free(w.first_sent);
    free(w.packet.bytes);
}
