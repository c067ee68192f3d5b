/* reproduce.c - see reproduce.h. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include "core/clock.h"
#include "report/print.h"
#include "experiment.h"
#include "reproduce.h"
#include "speed.h"

static const struct {
    struct report *report;
    void (*run)(struct report *report, enum experiment_part part);
} experiments[] = {
    {&paper_four_apis, experiment_four_apis},
    {&paper_an2, experiment_an2},
    {&paper_tum, experiment_tum},
    {&paper_thesis, experiment_thesis},
};

enum { COUNT = sizeof experiments / sizeof experiments[0] };

struct options {
    const char *csv, *svg;
    bool list, small, speed;
    bool chosen[COUNT], any;
};

enum { KEY_LIST = 256, KEY_SHORT, KEY_SPEED };

static const struct argp_option option_table[] = {
    {"csv", 'c', "DIR", 0, "write the tables and figures as CSV files into DIR", 0},
    {"svg", 's', "DIR", 0, "draw the figures as SVG files into DIR, by gnuplot", 0},
    {"list", KEY_LIST, NULL, 0, "list the experiments and exit", 0},
    {"speed", KEY_SPEED, NULL, 0, "show the cost of a simulated PVM message on this machine and exit", 0},
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
    case KEY_LIST:
        o->list = true;
        return 0;
    case KEY_SPEED:
        o->speed = true;
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

static int run(unsigned i, const struct options *o)
{
    struct report *report = experiments[i].report;
    int64_t start_us = pvmc_clock_us();
    int status;

    report_begin(report);
    experiments[i].run(report, o->small ? EXPERIMENT_SHORT : EXPERIMENT_ALL);
    report_print(report, stdout);
    fprintf(stderr, "%s: %.1f s, %.2f million events a second\n", report->name,
            (double)(pvmc_clock_us() - start_us) / 1e6,
            (double)report->events / (double)(pvmc_clock_us() - start_us + 1));
    status = write_files(report, o);
    report_free(report);
    return status;
}

static int make_folder(const char *path)
{
    if (!path || mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    fprintf(stderr, "atm-sim: cannot make the folder %s: %m\n", path);
    return -1;
}

int reproduce_main(int argc, char **argv)
{
    struct options o = {0};
    int status = 0;

    argp_parse(&parser, argc, argv, 0, NULL, &o);
    if (o.speed) {
        speed_print(stdout);
        return 0;
    }
    if (make_folder(o.csv) < 0 || make_folder(o.svg) < 0)
        return 1;
    for (unsigned i = 0; i < COUNT; i++) {
        if (o.list)
            printf("%-10s %s\n", experiments[i].report->name, experiments[i].report->title);
        else if (!o.any || o.chosen[i])
            status |= run(i, &o);
    }
    return status ? 1 : 0;
}
