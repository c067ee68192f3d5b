/* test_trace.c - pvm-trace: builds calls from events, messages from calls, figures from messages. */
#include "unit.h"
#include <string.h>
#include <unistd.h>
#include "tools/pvm-trace/draw/flight.h"
#include "tools/pvm-trace/draw/output.h"
#include "tools/pvm-trace/reader.h"
#include "tools/pvm-trace/record.h"
#include "tools/pvm-trace/draw/summary.h"

enum { A = 0x40001, B = 0x40002, C = 0x80001 };

static struct trace trace;
static struct timeline timeline;
static struct pairs pairs;

static void begin(void)
{
    trace = (struct trace){0};
}

static void finish(void)
{
    pairs_free(&pairs);
    timeline_free(&timeline);
    trace_free(&trace);
}

/* An event with integers: ids and values, up to id -1. */
static void add(int64_t time_us, int tid, int what, enum phase phase, const int *data)
{
    struct field *fields = store_take(&trace.store, EVENT_FIELDS_MAX * sizeof *fields);
    struct event e = {.time_us = time_us, .tid = tid, .what = (uint16_t)what, .phase = (uint8_t)phase, .field = fields};
    for (; *data >= 0; data += 2)
        fields[e.fields++] = (struct field){.id = (uint8_t)data[0], .kind = FIELD_NUMBER, .number = data[1]};
    trace_add(&trace, &e);
}

#define DATA(...)                                                                                                      \
    (const int[])                                                                                                      \
    {                                                                                                                  \
        __VA_ARGS__, -1                                                                                                \
    }
#define NOTHING                                                                                                        \
    (const int[])                                                                                                      \
    {                                                                                                                  \
        -1                                                                                                             \
    }

static void add_send(int64_t time_us, int from, int to, int tag, int bytes)
{
    add(time_us, from, TEV_SEND, PHASE_ENTRY,
        DATA(TEV_DID_MNB, bytes, TEV_DID_DST, to, TEV_DID_MC, tag, TEV_DID_MCX, 0));
    add(time_us + 5, from, TEV_SEND, PHASE_EXIT, DATA(TEV_DID_CC, 0));
}

static void add_receive(int64_t start_us, int64_t end_us, int to, int from, int tag, int bytes)
{
    add(start_us, to, TEV_RECV, PHASE_ENTRY, DATA(TEV_DID_RST, -1, TEV_DID_RMC, -1));
    add(end_us, to, TEV_RECV, PHASE_EXIT,
        DATA(TEV_DID_MB, 1, TEV_DID_MNB, bytes, TEV_DID_MC, tag, TEV_DID_MCX, 0, TEV_DID_SRC, from));
}

static void make(void)
{
    timeline_make(&trace, &timeline);
    pairs_make(&timeline, &pairs);
}

START_TEST(calls_are_entry_and_exit)
{
    begin();
    add(100, A, TEV_RECV, PHASE_EXIT, NOTHING); /* the trace started inside the call */
    add(110, A, TEV_RECV, PHASE_ENTRY, NOTHING);
    add(120, A, TEV_MHF_INVOKE, PHASE_ENTRY, NOTHING);
    add(130, A, TEV_MHF_INVOKE, PHASE_EXIT, NOTHING);
    add(125, A, TEV_RECV, PHASE_EXIT, NOTHING); /* the clock was set back */
    add(150, A, TEV_SEND, PHASE_ENTRY, NOTHING);
    add(170, B, TEV_PARENT, PHASE_ENTRY, NOTHING);
    make();
    ck_assert_uint_eq(timeline.track_count, 2);
    ck_assert_uint_eq(timeline.call_count, 5);
    const struct call *c = timeline.calls;
    ck_assert(c[0].start_us == 0 && c[0].end_us == 0 && !c[0].entry);
    ck_assert(c[1].start_us == 10 && c[1].end_us == 30 && c[1].depth == 0);
    ck_assert(c[2].start_us == 20 && c[2].end_us == 30 && c[2].depth == 1);
    ck_assert(c[3].start_us == 50 && c[3].end_us == 70 && !c[3].exit); /* until the end */
    ck_assert(c[4].track == 1 && timeline.length_us == 70);
    finish();
}
END_TEST

START_TEST(clocks_of_hosts_are_brought_together)
{
    begin();
    trace_host(&trace, 0x80000)->offset_us = -1000;
    add(100, A, TEV_PARENT, PHASE_ENTRY, NOTHING);
    add(1120, C, TEV_PARENT, PHASE_ENTRY, NOTHING);
    make();
    ck_assert_int_eq(timeline.tracks[1].start_us, 20);
    finish();
}
END_TEST

START_TEST(messages_match_in_order)
{
    begin();
    add_send(100, A, B, 1, 10);
    add_send(110, A, B, 2, 20);
    add_send(120, A, B, 1, 30);
    add_receive(90, 130, B, A, 2, 20);
    add_receive(131, 140, B, A, 1, 10);
    add_receive(141, 150, B, A, 1, 30);
    make();
    ck_assert_uint_eq(pairs.count, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert(pairs.messages[i].sent && pairs.messages[i].received);
        ck_assert_int_eq(pairs.messages[i].bytes, event_number(pairs.messages[i].received->exit, TEV_DID_MNB, 0));
    }
    ck_assert(!pairs.unreceived && !pairs.unsent && !pairs.outside && !pairs.early);
    finish();
}
END_TEST

START_TEST(messages_without_a_partner_are_counted)
{
    begin();
    add_send(100, A, B, 1, 10);         /* never received */
    add_send(110, A, 0x40009, 1, 10);   /* to a task that is not traced */
    add_receive(100, 120, B, A, 7, 10); /* never sent */
    add_receive(120, 130, B, 0x40009, 1, 10);
    add_send(200, B, A, 3, 1);
    add_receive(140, 150, A, B, 3, 1); /* before it was sent */
    add(300, A, TEV_SEND, PHASE_ENTRY, DATA(TEV_DID_DST, B, TEV_DID_MC, 1));
    add(301, A, TEV_SEND, PHASE_EXIT, DATA(TEV_DID_CC, PvmBadParam)); /* did not happen */
    add(302, A, TEV_NRECV, PHASE_ENTRY, NOTHING);
    add(303, A, TEV_NRECV, PHASE_EXIT, DATA(TEV_DID_MB, 0, TEV_DID_SRC, -1)); /* there was none */
    make();
    ck_assert_uint_eq(pairs.unreceived, 1);
    ck_assert_uint_eq(pairs.unsent, 1);
    ck_assert_uint_eq(pairs.outside, 2);
    ck_assert_uint_eq(pairs.early, 1);
    ck_assert_uint_eq(pairs.count, 5);
    finish();
}
END_TEST

START_TEST(a_part_of_a_message_may_arrive_before_the_send)
{
    begin();
    add_send(200, A, B, 1, 10);
    add_receive(110, 120, B, A, 1, 5);
    make();
    ck_assert_uint_eq(pairs.count, 1);
    ck_assert_ptr_ne(pairs.messages[0].received, NULL);
    ck_assert_uint_eq(pairs.early, 0);
    finish();
}
END_TEST

START_TEST(a_multicast_is_a_message_to_each_but_the_sender)
{
    int64_t tids[] = {A, B, C};
    struct field fields[] = {{.id = TEV_DID_MDL, .kind = FIELD_NUMBERS, .count = 3, .numbers = tids},
                             {.id = TEV_DID_MC, .kind = FIELD_NUMBER, .number = 4},
                             {.id = TEV_DID_MNB, .kind = FIELD_NUMBER, .number = 6}};
    struct event e = {.time_us = 100, .tid = A, .what = TEV_MCAST, .phase = PHASE_ENTRY, .fields = 3, .field = fields};
    begin();
    trace_add(&trace, &e);
    add(105, A, TEV_MCAST, PHASE_EXIT, NOTHING);
    add_receive(90, 110, B, A, 4, 6);
    add_receive(90, 120, C, A, 4, 6);
    make();
    ck_assert_uint_eq(pairs.count, 2);
    ck_assert(pairs.messages[0].received && pairs.messages[1].received);
    finish();
}
END_TEST

/* The event of a broadcast does not name its receivers. */
START_TEST(a_broadcast_is_a_message_to_each_that_receives_it)
{
    begin();
    for (int i = 0; i < 2; i++) {
        add(100 + 100 * i, A, TEV_BCAST, PHASE_ENTRY, DATA(TEV_DID_MC, 4, TEV_DID_MCX, 0));
        add(105 + 100 * i, A, TEV_BCAST, PHASE_EXIT, NOTHING);
        add_send(150 + 100 * i, A, B, 4, 1);
    }
    add_receive(90, 110, C, A, 4, 6);
    add_receive(111, 290, C, A, 4, 6);
    for (int i = 0; i < 4; i++)
        add_receive(300 + i, 301 + i, B, A, 4, i % 2 ? 1 : 6);
    make();
    ck_assert_uint_eq(pairs.count, 6);
    for (size_t i = 0; i < pairs.count; i++) {
        ck_assert(pairs.messages[i].sent && pairs.messages[i].received);
        bool to_all = pairs.messages[i].sent->what == TEV_BCAST;
        ck_assert_int_eq(event_number(pairs.messages[i].received->exit, TEV_DID_MNB, 0), to_all ? 6 : 1);
    }
    finish();
}
END_TEST

START_TEST(bytes_under_way_are_summed_and_end_at_zero)
{
    size_t count;
    begin();
    add_send(100, A, B, 1, 10);
    add_send(110, A, B, 1, 20);
    add_receive(90, 110, B, A, 1, 10);
    add_receive(111, 130, B, A, 1, 20);
    make();
    struct flight_step *steps = flight_make(&pairs, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert(steps[0].bytes == 10 && steps[1].bytes == 20 && steps[2].bytes == 0 && steps[2].messages == 0);
    free(steps);
    finish();
}
END_TEST

START_TEST(a_summary_says_where_the_time_went)
{
    struct summary s;
    begin();
    add(0, B, TEV_PARENT, PHASE_ENTRY, NOTHING);
    add(10, B, TEV_PARENT, PHASE_EXIT, NOTHING);
    add_receive(50, 150, B, A, 1, 10);
    add(200, B, TEV_EXIT, PHASE_ENTRY, NOTHING);
    add_send(120, A, B, 1, 10);
    make();
    summary_make(&timeline, &pairs, &s);
    const struct summary_task *b = &s.tasks[1];
    ck_assert(b->life_us == 200 && b->receive_us == 100 && b->waiting_us == 70 && b->library_us == 10);
    ck_assert(b->compute_us == 90 && b->received == 1 && b->received_bytes == 10);
    ck_assert(s.traffic[0 * 2 + 1].messages == 1 && s.traffic[1 * 2 + 0].messages == 0);
    summary_free(&s);
    finish();
}
END_TEST

START_TEST(lines_are_read_as_they_were_written)
{
    char path[] = "/tmp/test_trace.XXXXXX";
    int64_t tids[] = {1, -2};
    const char *texts[] = {"a", "\"b\"\\\n"};
    struct field fields[] = {{.id = TEV_DID_MDL, .kind = FIELD_NUMBERS, .count = 2, .numbers = tids},
                             {.id = TEV_DID_VID, .kind = FIELD_TEXTS, .count = 2, .texts = texts},
                             {.id = TEV_DID_SE, .kind = FIELD_TEXT, .text = "bad \xff utf"},
                             {.id = TEV_DID_STL, .kind = FIELD_NUMBERS, .count = 0},
                             {.id = TEV_DID_PDA, .kind = FIELD_NUMBER, .number = INT64_MAX}};
    struct event e = {
        .time_us = 1234567, .tid = A, .what = TEV_SPAWN, .phase = PHASE_EXIT, .fields = 5, .field = fields};
    FILE *f = fdopen(mkstemp(path), "w");
    record_begin(f, 5);
    record_host(f, 0x40000, "h", "LINUX64", -7);
    record_task(f, A, PvmNoParent, 0x40000, "prog");
    record_event(f, &e);
    record_end(f, 1, 3);
    fclose(f);
    begin();
    ck_assert_int_eq(reader_read(path, &trace), 0);
    unlink(path);
    ck_assert(trace.complete && trace.lost_messages == 3 && trace.hosts[0].offset_us == -7);
    ck_assert_str_eq(trace.tasks[0].name, "prog");
    const struct event *got = trace.events;
    ck_assert(got->time_us == 1234567 && got->tid == A && got->phase == PHASE_EXIT && got->fields == 5);
    ck_assert_int_eq(event_field(got, TEV_DID_MDL)->numbers[1], -2);
    ck_assert_str_eq(event_field(got, TEV_DID_VID)->texts[1], texts[1]);
    ck_assert_str_eq(event_field(got, TEV_DID_SE)->text, "bad ? utf");
    ck_assert_int_eq(event_field(got, TEV_DID_STL)->count, 0);
    ck_assert(event_number(got, TEV_DID_PDA, 0) == INT64_MAX);
    trace_free(&trace);
}
END_TEST

START_TEST(figures_have_three_digits)
{
    static const struct {
        double value;
        const char *bytes, *time;
    } cases[] = {{0, "0 B", "0 us"},
                 {999, "999 B", "999 us"},
                 {1000, "1.00 kB", "1.00 ms"},
                 {12345, "12.3 kB", "12.3 ms"},
                 {999999, "1.00 MB", "1.00 s"},
                 {2.5e9, "2.50 GB", "2500 s"}};
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_str_eq(output_bytes(cases[i].value, text, sizeof text), cases[i].bytes);
        ck_assert_str_eq(output_time(cases[i].value, text, sizeof text), cases[i].time);
    }
}
END_TEST

UNIT_MAIN("trace", calls_are_entry_and_exit, clocks_of_hosts_are_brought_together, messages_match_in_order,
          messages_without_a_partner_are_counted, a_part_of_a_message_may_arrive_before_the_send,
          a_multicast_is_a_message_to_each_but_the_sender, a_broadcast_is_a_message_to_each_that_receives_it,
          bytes_under_way_are_summed_and_end_at_zero, a_summary_says_where_the_time_went,
          lines_are_read_as_they_were_written, figures_have_three_digits)
