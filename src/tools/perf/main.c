/*
 * main.c - pvm-perf: measures messages between tasks. Transports and encodings of a row are measured in turn, so that a
 * disturbance of the machine does not affect only one of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pvm3.h"
#include "member.h"
#include "options.h"
#include "report.h"
#include "team.h"

static struct options options;
static struct team *teams[TRANSPORTS_MAX]; /* one per transport */
static struct team_link links[TRANSPORTS_MAX];
static struct series series[SERIES_MAX]; /* by transport, then by encoding */
static int series_count;
static int rows_done, rows_total;

/* The number of transports to measure; without --transports one, chosen by the environment. */
static int transport_count(void)
{
    return options.transport_count > 0 ? options.transport_count : 1;
}

static const char *transport_name(int i)
{
    const char *set = getenv("PVM_TRANSPORT");
    return options.transport_count > 0 ? options.transports[i] : set && *set ? set : "auto";
}

static void make_series(void)
{
    for (int i = 0; i < transport_count(); i++)
        for (int j = 0; j < options.encodings.count; j++)
            series[series_count++] = (struct series){transport_name(i), options.encodings.values[j], &links[i]};
}

static int members(int tasks)
{
    int fixed = tests[options.test].members;
    return fixed > 0 ? fixed : fixed == 0 ? tasks : tasks + 1;
}

static void start_teams(int tasks)
{
    for (int i = 0; i < transport_count(); i++)
        teams[i] = team_start(&options, options.transport_count > 0 ? options.transports[i] : NULL, members(tasks));
}

static void ask_links(void)
{
    for (int i = 0; i < transport_count(); i++)
        team_ask_link(teams[i], &links[i]);
}

static void end_teams(void)
{
    for (int i = 0; i < transport_count(); i++)
        team_end(teams[i]);
}

static void measure_row(struct report *report, struct row *row)
{
    char what[64];
    for (int i = 0; i < series_count; i++) {
        struct point point = {.test = options.test,
                              .encoding = series[i].encoding,
                              .bytes = row->bytes,
                              .tasks = row->tasks,
                              .queued = row->queued,
                              .samples = options.samples,
                              .time_us = options.time_us,
                              .warmup = options.warmup,
                              .verify = options.verify,
                              .bind = options.bind};
        snprintf(what, sizeof what, "%s %s, %d bytes", series[i].transport, encoding_names[series[i].encoding],
                 row->bytes);
        team_progress(rows_done * series_count + i, rows_total * series_count, what);
        team_measure(teams[i / options.encodings.count], &point, &row->outcomes[i]);
    }
    if (rows_done++ == 0)
        ask_links();
    team_progress(rows_done * series_count, rows_total * series_count, "");
    report_row(report, row);
}

static void measure(struct report *report)
{
    static struct row row;
    rows_total = options.tasks.count * options.queued.count * options.bytes.count;
    for (int i = 0; i < options.tasks.count; i++) {
        row.tasks = options.tasks.values[i];
        start_teams(row.tasks);
        for (int j = 0; j < options.queued.count; j++)
            for (int k = 0; k < options.bytes.count; k++) {
                row.queued = options.queued.values[j];
                row.bytes = options.bytes.values[k];
                measure_row(report, &row);
            }
        ask_links();
        end_teams();
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], MEMBER_OPTION) == 0)
        return member_main();
    options_read(argc, argv, &options);
    make_series();
    team_open();
    struct report *report = report_open(&options, series, series_count);
    measure(report);
    int rc = report_close(report);
    pvm_exit();
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
