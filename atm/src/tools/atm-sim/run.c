/*
 * run.c - atm-sim run: a network with traffic on its permanent VCs. Each sender keeps its queue full (greedy), or sends
 * a PDU when the previous one has come back (echo).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "command.h"
#include "flow.h"
#include "network/network.h"
#include "base/quantity.h"

enum { KEY_DIGEST = 256, KEY_COUNTERS, KEY_SPEED };

struct job {
    const char *file;
    uint64_t seed;
    pvma_ps time;
    struct flow_options flow;
    bool digest, counters, speed;
};

static const struct argp_option options[] = {
    {"load", 'l', "KIND", 0, "On each PVC: greedy (default), echo or none", 0},
    {"size", 's', "BYTES", 0, "Octets of a PDU (default: 1024)", 0},
    {"count", 'n', "PDUS", 0, "PDUs on each PVC (default: as many as the time allows)", 0},
    {"time", 't', "TIME", 0, "Virtual time to run (default: 100ms)", 0},
    {"seed", 'S', "NUMBER", 0, "Seed of all random numbers (default: 1)", 0},
    {"counters", KEY_COUNTERS, NULL, 0, "Show the counters of all layers", 0},
    {"digest", KEY_DIGEST, NULL, 0, "Show the digest of all events: equal runs have equal ones", 0},
    {"speed", KEY_SPEED, NULL, 0, "Show events and cells per second of processor time, on standard error", 0},
    {0}};

/* ---- command line ---- */

static pvma_ps parse_time(const char *text, struct argp_state *state)
{
    pvma_ps time;
    if (pvma_time_parse(text, 1000000 * PVMA_S, &time) || !time)
        argp_error(state, "--time=%s: give a time, such as 500us, 20ms or 3s", text);
    return time;
}

static enum flow_kind parse_load(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"none", "greedy", "echo"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i]))
            return (enum flow_kind)i;
    argp_error(state, "--load=%s: give greedy, echo or none", text);
    return FLOW_NONE;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct job *job = state->input;
    switch (key) {
    case 'l':
        job->flow.kind = parse_load(arg, state);
        return 0;
    case 's':
        job->flow.bytes = (size_t)command_number(arg, 0, PVMA_PDU_MAX, "--size", state);
        return 0;
    case 'n':
        job->flow.count = (uint64_t)command_number(arg, 1, 1000000000, "--count", state);
        return 0;
    case 't':
        job->time = parse_time(arg, state);
        return 0;
    case 'S':
        job->seed = (uint64_t)command_number(arg, 0, INT64_MAX, "--seed", state);
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

static void run(const struct job *job, const struct pvma_topology *t, struct pvma_net *net)
{
    struct flow **flows = pvma_new(t->pvc_count * sizeof *flows);
    for (size_t i = 0; i < t->pvc_count; i++)
        flows[i] = flow_new(net, i, &job->flow);
    double began = processor_time();
    pvma_sim_run_until(pvma_net_sim(net), job->time);
    double seconds = processor_time() - began;
    for (size_t i = 0; i < t->pvc_count && job->flow.kind != FLOW_NONE; i++)
        flow_print(flows[i], job->time, stdout);
    if (job->counters)
        pvma_net_report(net, stdout);
    if (job->digest)
        printf("digest %016" PRIx64 " events %" PRIu64 "\n", pvma_sim_digest(pvma_net_sim(net)),
               pvma_sim_event_count(pvma_net_sim(net)));
    if (job->speed)
        show_speed(net, seconds);
    for (size_t i = 0; i < t->pvc_count; i++)
        free(flows[i]);
    free(flows);
}

int command_run_network(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, "FILE", "Run the network of a topology with its sources, and with traffic on its PVCs.",
        NULL,    NULL,  NULL};
    struct job job = {.seed = 1, .time = 100 * PVMA_MS, .flow = {.kind = FLOW_GREEDY, .bytes = 1024}};
    struct pvma_topology t;
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &job);
    if (pvma_topology_load(job.file, &t))
        return EXIT_FAILURE;
    struct pvma_net *net = pvma_net_new(&t, job.seed);
    if (net)
        run(&job, &t, net);
    pvma_net_free(net);
    pvma_topology_free(&t);
    return net ? EXIT_SUCCESS : EXIT_FAILURE;
}
