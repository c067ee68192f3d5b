/* test_web_kept.c - how much pvm web keeps: lines of output, pairs of tasks, calls, and tasks that have ended. */
#include "console/web/output.h"
#include "console/web/spacetime.h"
#include "console/web/traffic.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/unit.h"

static struct output o;

static json_t *told(void)
{
    json_t *all = json_object(), *lines;
    output_tell(&o, all, true);
    lines = json_incref(json_object_get(all, "output"));
    json_decref(all);
    return lines;
}

static const char *text_of(const json_t *lines, size_t i)
{
    return json_string_value(json_array_get(json_array_get(lines, i), 3));
}

START_TEST(keeps_the_last_5000_lines)
{
    char line[32];
    for (int i = 0; i < 5003; i++) {
        snprintf(line, sizeof line, "line %d\n", i);
        output_take(&o, 1, false, line, strlen(line), i);
    }
    json_t *lines = told();
    ck_assert_int_eq(json_array_size(lines), 5000);
    ck_assert_str_eq(text_of(lines, 0), "line 3");
    ck_assert_str_eq(text_of(lines, 4999), "line 5002");
    json_decref(lines);
    output_free(&o);
}
END_TEST

START_TEST(keeps_1_mib)
{
    static char line[1001];
    memset(line, 'x', 1000);
    line[1000] = '\n';
    for (int i = 0; i < 2000; i++)
        output_take(&o, 1, false, line, sizeof line, i);
    json_t *lines = told();
    ck_assert_int_eq(json_array_size(lines), (1 << 20) / 1000);
    json_decref(lines);
    output_free(&o);
}
END_TEST

/* A task that never prints a newline cannot make it grow. */
START_TEST(divides_a_long_line)
{
    static char endless[5000];
    memset(endless, 'x', sizeof endless);
    output_take(&o, 1, true, endless, sizeof endless, 0);
    json_t *lines = told();
    ck_assert_int_eq(json_array_size(lines), 2);
    ck_assert_int_eq(strlen(text_of(lines, 0)), OUTPUT_LINE_BYTES);
    json_decref(lines);
    output_end(&o, 1, 0);
    lines = told();
    ck_assert_int_eq(json_array_size(lines), 3);
    json_decref(lines);
    output_free(&o);
}
END_TEST

START_TEST(keeps_100000_pairs)
{
    struct traffic t = {.own_tid = -1};
    for (int i = 0; i < 100001; i++)
        traffic_sent(&t, 1, 2 + i, 10);
    ck_assert_int_eq(t.count, 100000);
    json_t *all = json_object();
    traffic_tell(&t, all, true);
    ck_assert_int_eq(json_array_size(json_object_get(all, "pairs")), 100000);
    ck_assert(json_is_true(json_object_get(all, "pairs_full"))); /* and says so */
    json_decref(all);
    traffic_free(&t);
}
END_TEST

static struct snapshot tasks;
static struct spacetime s = {.snapshot = &tasks};

static void call(int64_t start_us, int64_t took_us)
{
    struct event e = {.tid = 0x40001, .what = TEV_RECV, .phase = PHASE_ENTRY};
    spacetime_take(&s, &e, start_us);
    e.phase = PHASE_EXIT;
    spacetime_take(&s, &e, start_us + took_us);
}

static json_t *calls(bool all, int *hidden)
{
    json_t *to = json_object(), *rows;
    spacetime_tell(&s, to, all);
    *hidden = (int)json_integer_value(json_object_get(to, "hidden"));
    rows = json_incref(json_object_get(to, "calls"));
    json_decref(to);
    return rows;
}

START_TEST(leaves_out_the_shortest_calls)
{
    int hidden;
    for (int i = 1; i <= 3000; i++)
        call(i * 10000, i);
    json_t *rows = calls(false, &hidden);
    ck_assert_int_eq(json_array_size(rows), 2000); /* five times a second */
    ck_assert_int_eq(hidden, 1000);
    for (size_t i = 0; i < json_array_size(rows); i++)
        ck_assert_int_gt(json_integer_value(json_array_get(json_array_get(rows, i), 3)), 1000);
    json_decref(rows);
    spacetime_free(&s);
    snapshot_free(&tasks);
}
END_TEST

START_TEST(keeps_the_last_32768_calls)
{
    int hidden;
    json_t *rows;
    for (int batch = 0; batch < 17; batch++) {
        for (int i = 0; i < 2000; i++)
            call(batch * 2000 + i, 1);
        rows = calls(false, &hidden);
        json_decref(rows);
    }
    rows = calls(true, &hidden);
    ck_assert_int_eq(json_array_size(rows), 32768);
    ck_assert_int_eq(json_integer_value(json_array_get(json_array_get(rows, 0), 2)), 17 * 2000 - 32768);
    ck_assert_int_eq(hidden, 0);
    json_decref(rows);
    spacetime_free(&s);
    snapshot_free(&tasks);
}
END_TEST

START_TEST(keeps_1000_tasks_that_have_ended)
{
    for (int i = 1; i <= 1200; i++)
        snapshot_end(&tasks, snapshot_meet(&tasks, 0x40000 + i, i), i);
    snapshot_set_tasks(&tasks, NULL, 0);
    ck_assert_int_eq(tasks.ended, 1000);
    ck_assert_ptr_null(snapshot_task(&tasks, 0x40000 + 200)); /* the first ended first */
    ck_assert_ptr_nonnull(snapshot_task(&tasks, 0x40000 + 201));
    snapshot_free(&tasks);
}
END_TEST

UNIT_MAIN("web_kept", keeps_the_last_5000_lines, keeps_1_mib, divides_a_long_line, keeps_100000_pairs,
          leaves_out_the_shortest_calls, keeps_the_last_32768_calls, keeps_1000_tasks_that_have_ended)
