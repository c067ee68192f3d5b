/* reproduce.c - see reproduce.h. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/argument.h"
#include "report/print.h"
#include "report/stored.h"
#include "experiment.h"
#include "jobs.h"
#include "real.h"
#include "reproduce.h"
#include "speed.h"

static const struct {
    struct report *report;
    void (*run)(struct report *report, enum experiment_part part);
    const struct real_experiment *real; /* NULL: no real programs */
} experiments[] = {
    {&paper_four_apis, experiment_four_apis, &real_four_apis},
    {&paper_an2, experiment_an2, &real_an2},
    {&paper_tum, experiment_tum, &real_tum},
    {&paper_thesis, experiment_thesis, &real_thesis},
    {&paper_thesis5, experiment_thesis5, NULL},
    {&paper_thesis6, experiment_thesis6, NULL},
};

enum { COUNT = sizeof experiments / sizeof experiments[0], JOBS_AT_ONCE_MAX = 256 };

struct options {
    const char *csv, *svg, *check, *record;
    bool list, small, speed, digest;
    bool models;          /* no real programs */
    const char *programs; /* their folder; NULL: beside atm-sim */
    bool chosen[COUNT], any;
    unsigned at_once;
};

enum { KEY_LIST = 256, KEY_SHORT, KEY_SPEED, KEY_DIGEST, KEY_CHECK, KEY_RECORD, KEY_MODELS };

static const struct argp_option option_table[] = {
    {"csv", 'c', "DIR", 0, "write the tables and figures as CSV files into DIR", 0},
    {"svg", 's', "DIR", 0, "draw the figures as SVG files into DIR, by gnuplot", 0},
    {"jobs", 'j', "N", 0, "run at most N experiments at a time; by default, as many as there are processors", 0},
    {"digest", KEY_DIGEST, NULL, 0, "show only the digests of all events: equal runs have equal ones", 0},
    {"check", KEY_CHECK, "FILE", 0, "compare values, claims and digests with those of FILE, and show only differences",
     0},
    {"record", KEY_RECORD, "FILE", 0, "record values, claims and digests in FILE, for --check", 0},
    {"list", KEY_LIST, NULL, 0, "list the experiments and exit", 0},
    {"speed", KEY_SPEED, NULL, 0, "show the cost of a simulated PVM message on this machine and exit", 0},
    {"models", KEY_MODELS, NULL, 0, "without the real PVM programs", 0},
    {"programs", 'p', "DIR", 0, "where these programs are (default: \"examples\" beside atm-sim)", 0},
    {"short", KEY_SHORT, NULL, 0, "run a few rows of each in seconds, for tests", 0},
    {0},
};

static void choose(struct argp_state *state, struct options *o, const char *name)
{
    for (unsigned i = 0; i < COUNT; i++)
        if (strcmp(experiments[i].report->name, name) == 0) {
            o->chosen[i] = o->any = true;
            return;
        }
    argp_error(state, "there is no experiment \"%s\"; --list shows all", name);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case 'c':
        o->csv = text;
        return 0;
    case 's':
        o->svg = text;
        return 0;
    case 'j':
        o->at_once = (unsigned)pvma_argument_number(text, 1, JOBS_AT_ONCE_MAX, "--jobs", state);
        return 0;
    case KEY_DIGEST:
        o->digest = true;
        return 0;
    case KEY_CHECK:
        o->check = text;
        return 0;
    case KEY_RECORD:
        o->record = text;
        return 0;
    case KEY_LIST:
        o->list = true;
        return 0;
    case KEY_SPEED:
        o->speed = true;
        return 0;
    case KEY_MODELS:
        o->models = true;
        return 0;
    case 'p':
        o->programs = text;
        return 0;
    case KEY_SHORT:
        o->small = true;
        return 0;
    case ARGP_KEY_ARG:
        choose(state, o, text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {option_table,
                                   parse,
                                   "[NAME...]",
                                   "Runs the papers' experiments in virtual time and prints the papers' values beside "
                                   "the simulated ones.",
                                   NULL,
                                   NULL,
                                   NULL};

static int write_files(const struct report *report, const struct options *o)
{
    int status = 0;

    if (o->csv)
        status |= report_write_csv(report, o->csv);
    if (o->svg)
        status |= report_write_svg(report, o->svg);
    return status;
}

static bool is_chosen(const struct options *o, unsigned i)
{
    return !o->any || o->chosen[i];
}

/* Whether the experiment's programs can be run. Says why not. */
static bool with_programs(unsigned i, const struct options *o)
{
    char why[8192];

    if (!experiments[i].real || !is_chosen(o, i) || o->models || o->small || o->digest)
        return false;
    if (real_begin(o->programs, why, sizeof why))
        return true;
    fprintf(stderr, "%s: without the rows of real programs: %s\n", experiments[i].report->name, why);
    return false;
}

/* The longest experiments first, so that the last ones to end are short. Returns the number of jobs. */
static unsigned list_jobs(struct job jobs[3 * COUNT], const struct options *o)
{
    unsigned count = 0;

    for (unsigned null = 0; null < 2; null++)
        for (unsigned k = 0; k < COUNT; k++) {
            unsigned i = COUNT - 1 - k;
            if (!is_chosen(o, i) || (null && (o->small || o->digest)))
                continue;
            jobs[count++] = (struct job){.report = experiments[i].report,
                                         .run = experiments[i].run,
                                         .part = o->small ? EXPERIMENT_SHORT : EXPERIMENT_ALL,
                                         .null = null == 1};
        }
    for (unsigned i = 0; i < COUNT; i++)
        if (experiments[i].report->with_programs)
            jobs[count++] = (struct job){.report = experiments[i].report, .programs = experiments[i].real};
    return count;
}

static void begin(unsigned i, const struct options *o)
{
    struct report *report = experiments[i].report;

    report->with_programs = with_programs(i, o);
    if (report->with_programs) {
        report->programs = experiments[i].real->programs;
        report->program_count = experiments[i].real->count;
    }
    report_begin(report);
}

static int show(const struct report *report, const struct options *o)
{
    if (o->digest)
        printf("%-10s digest %016" PRIx64 " events %llu\n", report->name, report->digest, report->events);
    else if (!o->check)
        report_print(report, stdout);
    return write_files(report, o);
}

static int compare(const struct options *o)
{
    const struct report *reports[COUNT];
    unsigned count = 0;
    int status = 0;

    for (unsigned i = 0; i < COUNT; i++)
        if (is_chosen(o, i))
            reports[count++] = experiments[i].report;
    if (o->record)
        status |= stored_write(reports, count, o->record);
    if (o->check)
        status |= stored_check(reports, count, o->check, o->models, stdout);
    return status;
}

static int run(const struct options *o)
{
    struct job jobs[3 * COUNT];
    unsigned count;
    int status;

    for (unsigned i = 0; i < COUNT; i++)
        begin(i, o);
    count = list_jobs(jobs, o);
    status = jobs_run(jobs, count, o->at_once ? o->at_once : (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    for (unsigned i = 0; i < count; i++)
        fprintf(stderr, "%s%s: %.1f s\n", jobs[i].report->name,
                jobs[i].programs ? ", real programs"
                : jobs[i].null   ? ", null model"
                                 : "",
                jobs[i].seconds);
    for (unsigned i = 0; i < COUNT && status == 0; i++)
        if (is_chosen(o, i))
            status |= show(experiments[i].report, o);
    if (status == 0)
        status = compare(o);
    for (unsigned i = 0; i < COUNT; i++)
        report_free(experiments[i].report);
    return status;
}

static int make_folder(const char *path)
{
    if (!path || mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    fprintf(stderr, "atm-sim: cannot make the folder %s: %m\n", path);
    return -1;
}

/* Refuses before the run what would fail after it. */
static int prepare(const struct options *o)
{
    if (make_folder(o->csv) < 0 || make_folder(o->svg) < 0)
        return -1;
    if (o->record && stored_can_write(o->record) < 0)
        return -1;
    return o->check ? stored_can_check(o->check) : 0;
}

int reproduce_main(int argc, char **argv)
{
    struct options o = {0};

    argp_parse(&parser, argc, argv, 0, NULL, &o);
    if (o.speed) {
        speed_print(stdout);
        return 0;
    }
    if (!o.list)
        return prepare(&o) < 0 || run(&o) ? 1 : 0;
    for (unsigned i = 0; i < COUNT; i++)
        printf("%-10s %s\n", experiments[i].report->name, experiments[i].report->title);
    return 0;
}
