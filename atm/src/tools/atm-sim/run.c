/*
 * run.c - atm-sim run: a network with traffic on its permanent VCs. Each sender keeps its queue full (greedy), sends a
 * PDU when the previous one has come back (echo), or sends at even or random intervals (cbr, poisson).
 */
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/quantity.h"
#include "capture/traffic.h"
#include "capture/series.h"
#include "capture_options.h"
#include "command.h"
#include "network/network.h"

enum { KEY_DIGEST = 256, KEY_COUNTERS, KEY_SPEED, KEY_SERIES, KEY_STEP, KEY_FLOWS };

struct job {
    const char *file;
    uint64_t seed;
    pvma_ps time;
    struct pvma_traffic_options flow;
    bool digest, counters, speed;
    const char *series, *flows; /* files; NULL: none */
    pvma_ps step;               /* of the series */
    struct pvma_capture_options capture;
};

static const struct argp_option options[] = {
    {"load", 'l', "KIND", 0, "On each PVC: greedy (default), echo, cbr, poisson or none", 0},
    {"interval", 'i', "TIME", 0, "cbr, poisson: mean time between the PDUs of a PVC", 0},
    {"size", 's', "BYTES", 0, "Octets of a PDU (default: 1024)", 0},
    {"count", 'n', "PDUS", 0, "PDUs on each PVC (default: as many as the time allows)", 0},
    {"time", 't', "TIME", 0, "Virtual time to run (default: 100ms)", 0},
    {"seed", 'S', "NUMBER", 0, "Seed of all random numbers (default: 1)", 0},
    {"counters", KEY_COUNTERS, NULL, 0, "Show the counters of all layers", 0},
    {"digest", KEY_DIGEST, NULL, 0, "Show the digest of all events: equal runs have equal ones", 0},
    {"speed", KEY_SPEED, NULL, 0, "Show events and cells per second of processor time, on standard error", 0},
    {"flows", KEY_FLOWS, "FILE", 0, "Write the statistics of each PVC as CSV: loss, throughput, latency, jitter", 0},
    {"series", KEY_SERIES, "FILE", 0, "Write the length of each queue in time as CSV", 0},
    {"series-step", KEY_STEP, "TIME", 0, "Time between two lines of a queue (default: 1ms)", 0},
    {0}};

/* ---- command line ---- */

static pvma_ps parse_time(const char *option, const char *text, struct argp_state *state)
{
    pvma_ps time;
    if (pvma_time_parse(text, 1000000 * PVMA_S, &time) || !time)
        argp_error(state, "--%s=%s: give a time, such as 500us, 20ms or 3s", option, text);
    return time;
}

static enum pvma_load parse_load(const char *text, struct argp_state *state)
{
    enum pvma_load load = PVMA_LOAD_NONE;
    if (!pvma_load_find(text, &load))
        argp_error(state, "--load=%s: give greedy, echo, cbr, poisson or none", text);
    return load;
}

static void check(const struct job *job, struct argp_state *state)
{
    bool paced = pvma_load_is_paced(job->flow.kind);
    if (paced != (job->flow.interval != 0))
        argp_error(state, paced ? "this load needs the mean time between PDUs: --interval=TIME"
                                : "--interval is for --load=cbr and --load=poisson");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct job *job = state->input;
    switch (key) {
    case 'l':
        job->flow.kind = parse_load(arg, state);
        return 0;
    case 's':
        job->flow.bytes = (size_t)pvma_argument_number(arg, 0, PVMA_PDU_MAX, "--size", state);
        return 0;
    case 'n':
        job->flow.count = (uint64_t)pvma_argument_number(arg, 1, 1000000000, "--count", state);
        return 0;
    case 't':
        job->time = parse_time("time", arg, state);
        return 0;
    case 'i':
        job->flow.interval = parse_time("interval", arg, state);
        return 0;
    case KEY_STEP:
        job->step = parse_time("series-step", arg, state);
        return 0;
    case KEY_SERIES:
        return job->series = arg, 0;
    case KEY_FLOWS:
        return job->flows = arg, job->flow.record = true, 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &job->capture;
        return 0;
    case 'S':
        job->seed = (uint64_t)pvma_argument_number(arg, 0, INT64_MAX, "--seed", state);
        return 0;
    case KEY_DIGEST:
        return job->digest = true, 0;
    case KEY_COUNTERS:
        return job->counters = true, 0;
    case KEY_SPEED:
        return job->speed = true, 0;
    case ARGP_KEY_ARG:
        if (job->file)
            argp_error(state, "one topology at a time");
        job->file = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which topology? Give a file, or - for standard input");
        return 0;
    case ARGP_KEY_END:
        check(job, state);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* ---- running ---- */

static void show_speed(struct pvma_net *net, double seconds)
{
    struct pvma_net_counters counters;
    pvma_net_count(net, &counters);
    uint64_t events = pvma_sim_event_count(pvma_net_sim(net));
    fprintf(stderr,
            "%.3f s: %.2f million events/s, %.2f million cells over links/s; at most %" PRIu64 " cells in flight\n",
            seconds, (double)events / seconds / 1e6, (double)counters.links.cells / seconds / 1e6,
            pvma_net_cells(net)->most);
}

/* Processor time, because other programs delay a simulation but do not slow it down. */
static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Runs to the end, in steps if there is a series. Steps add no events, so the digest is the same. */
static void simulate(const struct job *job, struct pvma_net *net, struct pvma_series *series)
{
    struct pvma_sim *sim = pvma_net_sim(net);
    pvma_ps step = series ? job->step : job->time;
    for (pvma_ps at = step; at < job->time; at += step) {
        pvma_sim_run_until(sim, at);
        pvma_series_step(series);
    }
    pvma_sim_run_until(sim, job->time);
    if (series)
        pvma_series_step(series);
}

static void show(const struct job *job, struct pvma_net *net, struct pvma_traffic **flows, size_t count)
{
    for (size_t i = 0; i < count && job->flow.kind != PVMA_LOAD_NONE; i++)
        pvma_traffic_print(flows[i], job->time, stdout);
    if (job->counters)
        pvma_net_report(net, stdout);
    if (job->digest)
        printf("digest %016" PRIx64 " events %" PRIu64 "\n", pvma_sim_digest(pvma_net_sim(net)),
               pvma_sim_event_count(pvma_net_sim(net)));
}

/* Returns false after a message if a file is not complete. */
static bool finish(FILE *file, const char *path)
{
    bool bad = file && ferror(file);
    if (file && (fclose(file) || bad))
        return warn("%s", path), false;
    return true;
}

static bool run(const struct job *job, const struct pvma_topology *t, struct pvma_net *net)
{
    FILE *series_file = job->series ? fopen(job->series, "we") : NULL;
    FILE *flows_file = job->flows ? fopen(job->flows, "we") : NULL;
    if ((job->series && !series_file) || (job->flows && !flows_file))
        err(EXIT_FAILURE, "%s", job->series && !series_file ? job->series : job->flows);
    struct pvma_series *series = series_file ? pvma_series_new(net, series_file) : NULL;
    struct pvma_traffic **flows = pvma_new(t->pvc_count * sizeof *flows);
    for (size_t i = 0; i < t->pvc_count; i++)
        flows[i] = pvma_traffic_new(net, i, &job->flow);
    double began = processor_time();
    simulate(job, net, series);
    double seconds = processor_time() - began;
    show(job, net, flows, t->pvc_count);
    if (flows_file)
        pvma_traffic_table(flows, t->pvc_count, job->time, flows_file);
    if (job->speed)
        show_speed(net, seconds);
    if (series)
        pvma_series_free(series);
    for (size_t i = 0; i < t->pvc_count; i++)
        pvma_traffic_free(flows[i]);
    free(flows);
    bool good = finish(series_file, job->series);
    return finish(flows_file, job->flows) && good;
}

/* Captures from the first event on. */
static bool run_captured(const struct job *job, const struct pvma_topology *t, struct pvma_net *net)
{
    struct pvma_capture *capture;
    if (pvma_capture_open(net, &job->capture, &capture))
        return false;
    bool good = run(job, t, net);
    return !pvma_capture_close(capture) && good;
}

int command_run_network(int argc, char **argv)
{
    static const struct argp argp = {options,
                                     parse,
                                     "FILE",
                                     "Run the network of a topology with its sources, and with traffic on its PVCs.",
                                     capture_children,
                                     NULL,
                                     NULL};
    struct job job = {
        .seed = 1, .time = 100 * PVMA_MS, .step = PVMA_MS, .flow = {.kind = PVMA_LOAD_GREEDY, .bytes = 1024}};
    struct pvma_topology t;
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &job);
    if (pvma_topology_load(job.file, &t))
        return EXIT_FAILURE;
    struct pvma_net *net = pvma_net_new(&t, job.seed);
    bool good = net && run_captured(&job, &t, net);
    pvma_net_free(net);
    pvma_topology_free(&t);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
