/* main.c - pvm-trace: shows a trace as a picture or summary, or converts it for viewers. */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tools/pvm-trace/draw/chrome.h"
#include "collect.h"
#include "tools/pvm-trace/draw/heatmap.h"
#include "tools/pvm-trace/draw/output.h"
#include "tools/pvm-trace/draw/paje.h"
#include "tools/pvm-trace/draw/perfetto.h"
#include "reader.h"
#include "tools/pvm-trace/draw/summary.h"
#include "tools/pvm-trace/draw/svg.h"

enum { EXIT_USAGE = 2, KEY_FROM = 256, KEY_TO, KEY_WIDTH, KEY_NO_ARROWS, KEY_JSON, KEY_SVG, WIDTH_MAX = 20000 };

struct job {
    const char *verb, *file, *output;
    struct svg_options svg;
    bool json;
    const char *heatmap;
    struct timeline timeline;
    struct pairs pairs;
};

static const char doc[] = "Show what the tasks of a PVM program did and which messages they sent. FILE was written "
                          "with PVM_TRACE=FILE, or by "
                          "PVM's tracer."
                          "\v"
                          "COMMANDs:\n"
                          "  summary  traffic between tasks, and how each task spent its time\n"
                          "  svg      a picture with a lane per task and an arrow per message\n"
                          "  chrome   JSON for ui.perfetto.dev and chrome://tracing\n"
                          "  perfetto the same in Perfetto's own format, a fraction of the size\n"
                          "  paje     Paje format, for ViTE and other viewers\n"
                          "\n"
                          "TIME counts from the first event: 2.5 or 2.5s, 300ms, 50us. See pvm-trace(1).";

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0, "Write the result to FILE (default: standard output)", 0},
    {"from", KEY_FROM, "TIME", 0, "svg: start at this time", 0},
    {"to", KEY_TO, "TIME", 0, "svg: end at this time", 0},
    {"width", KEY_WIDTH, "PIXELS", 0, "svg: length of the time axis (default: 1100)", 0},
    {"no-arrows", KEY_NO_ARROWS, NULL, 0, "svg: omit messages", 0},
    {"json", KEY_JSON, NULL, 0, "summary: print JSON", 0},
    {"svg", KEY_SVG, "FILE", 0, "summary: also write a heat map of the traffic", 0},
    {0}};

/* ---- command line ---- */

static int64_t parse_time_us(const char *text, struct argp_state *state)
{
    static const struct {
        const char *name;
        double us;
    } units[] = {{"", 1e6}, {"s", 1e6}, {"ms", 1e3}, {"us", 1}};
    char *rest;
    double value = strtod(text, &rest);
    for (size_t i = 0; rest != text && value >= 0 && value < 1e9 && i < sizeof units / sizeof units[0]; i++)
        if (!strcmp(rest, units[i].name))
            return (int64_t)(value * units[i].us);
    argp_error(state, "%s is not a time; write 2.5s, 300ms or 50us", text);
    return 0;
}

static int parse_width(const char *text, struct argp_state *state)
{
    char *rest;
    long value = strtol(text, &rest, 10);
    if (*rest || rest == text || value < 100 || value > WIDTH_MAX)
        argp_error(state, "--width=%s: give a number of pixels from 100 to %d", text, WIDTH_MAX);
    return (int)value;
}

static void take_word(struct job *job, char *word, struct argp_state *state)
{
    if (!job->verb)
        job->verb = word;
    else if (!job->file)
        job->file = word;
    else
        argp_error(state, "only one FILE is allowed: %s", word);
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    struct job *job = state->input;
    switch (key) {
    case 'o':
        job->output = arg;
        return 0;
    case KEY_FROM:
        job->svg.from_us = parse_time_us(arg, state);
        return 0;
    case KEY_TO:
        job->svg.to_us = parse_time_us(arg, state);
        return 0;
    case KEY_WIDTH:
        job->svg.width = parse_width(arg, state);
        return 0;
    case KEY_NO_ARROWS:
        job->svg.arrows = false;
        return 0;
    case KEY_JSON:
        job->json = true;
        return 0;
    case KEY_SVG:
        job->heatmap = arg;
        return 0;
    case ARGP_KEY_ARG:
        take_word(job, arg, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- commands: each returns 0, or -1 after a message ---- */

static int write_chrome(struct job *job, FILE *f)
{
    chrome_write(f, &job->timeline, &job->pairs);
    return 0;
}

static int write_perfetto(struct job *job, FILE *f)
{
    perfetto_write(f, &job->timeline, &job->pairs);
    return 0;
}

static int write_paje(struct job *job, FILE *f)
{
    paje_write(f, &job->timeline, &job->pairs);
    return 0;
}

static int write_svg(struct job *job, FILE *f)
{
    if (job->svg.from_us > 0 && job->svg.from_us >= job->timeline.length_us) {
        char length[32];
        warnx("--from: the trace is only %s long", output_time((double)job->timeline.length_us, length, sizeof length));
        return -1;
    }
    if (job->svg.to_us >= 0 && job->svg.to_us <= job->svg.from_us) {
        warnx("--to must be later than --from");
        return -1;
    }
    svg_write(f, &job->timeline, &job->pairs, &job->svg);
    return 0;
}

static int write_heatmap(const char *path, const struct summary *s)
{
    FILE *f = output_open(path);
    if (!f)
        return -1;
    heatmap_write(f, s);
    return output_close(f, path);
}

static int write_summary(struct job *job, FILE *f)
{
    struct summary s;
    summary_make(&job->timeline, &job->pairs, &s);
    if (job->json)
        summary_print_json(f, &s);
    else
        summary_print(f, &s);
    int rc = job->heatmap ? write_heatmap(job->heatmap, &s) : 0;
    summary_free(&s);
    return rc;
}

static const struct {
    const char *name;
    int (*write)(struct job *job, FILE *f);
} verbs[] = {{"summary", write_summary},
             {"svg", write_svg},
             {"chrome", write_chrome},
             {"perfetto", write_perfetto},
             {"paje", write_paje}};

/* Warns of unmatched messages; the summary prints them itself. */
static void tell_oddities(const struct job *job)
{
    size_t odd = job->pairs.unreceived + job->pairs.unsent;
    if (odd && job->verb != verbs[0].name)
        warnx("%zu message%s without an arrow: %zu not received, %zu whose send is not in the trace", odd,
              odd == 1 ? "" : "s", job->pairs.unreceived, job->pairs.unsent);
}

static int run(struct job *job, int (*write)(struct job *job, FILE *f))
{
    struct trace trace = {0};
    int rc = reader_read(job->file, &trace);
    FILE *f = rc ? NULL : output_open(job->output);
    if (f) {
        timeline_make(&trace, &job->timeline);
        pairs_make(&job->timeline, &job->pairs);
        tell_oddities(job);
        rc = write(job, f);
        rc = output_close(f, job->output) || rc;
        pairs_free(&job->pairs);
        timeline_free(&job->timeline);
    }
    trace_free(&trace);
    return !f || rc;
}

/* Started by libpvm; not in the help. */
static int run_collector(int argc, char **argv)
{
    if (argc != 4)
        errx(EXIT_USAGE, "libpvm starts the collector when a program runs with PVM_TRACE=FILE");
    return collect(argv[2], atoi(argv[3]));
}

int main(int argc, char **argv)
{
    struct job job = {.svg = {.to_us = -1, .width = 1100, .arrows = true}};
    struct argp argp = {option_table, take_option, "COMMAND FILE", doc, NULL, NULL, NULL};
    if (argc > 1 && !strcmp(argv[1], "collect"))
        return run_collector(argc, argv);
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &job);
    for (size_t i = 0; job.verb && job.file && i < sizeof verbs / sizeof verbs[0]; i++)
        if (!strcmp(job.verb, verbs[i].name)) {
            job.verb = verbs[i].name;
            return run(&job, verbs[i].write);
        }
    if (!job.verb || !job.file)
        errx(EXIT_USAGE, "give a command and a file, such as: pvm-trace summary FILE");
    errx(EXIT_USAGE, "unknown command %s; the commands are summary, svg, chrome, perfetto and paje", job.verb);
}
