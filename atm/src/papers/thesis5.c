/* thesis5.c - the experiments of chapter 5 of the UPC thesis. Its printed results are in paper_thesis5.c. */
#include <stdio.h>
#include "lab/bottleneck.h"
#include "lab/layout.h"
#include "reproduce/experiment.h"
#include "reproduce/stats.h"
#include "reproduce/tables.h"

enum { LOADS = 9, COMPARED = 2 /* 0.7 */, OVERLOAD = 5 /* 1.1 */, ROUNDS = 20, PROTOCOLS = 3, SEEDS = 4 };

/* Table 5.4. */
static const struct {
    double on_mbps, load;
} loads[LOADS] = {{150, 0.4}, {200, 0.5}, {250, 0.7}, {300, 0.8}, {350, 0.9},
                  {400, 1.1}, {450, 1.2}, {500, 1.4}, {550, 1.5}};

static const char *const names[PROTOCOLS] = {"SSCOP", "one item a cell", "several items a cell"};

static struct bottleneck_setup setup_of(enum bottleneck_program program, enum bottleneck_protocol protocol,
                                        unsigned load, unsigned rounds)
{
    struct bottleneck_setup setup = bottleneck_defaults(program, protocol);

    setup.rounds = rounds;
    setup.rate_bps *= layout_speed();
    setup.on_mbps = layout_speed() == 1 ? loads[load].on_mbps : 0;
    return setup;
}

static struct bottleneck_result run(struct report *r, const struct bottleneck_setup *setup)
{
    struct bottleneck_result result = bottleneck_run(setup);

    r->events += result.events;
    return result;
}

/* All nine loads, one of the 700 rounds: at how many of them it ends. */
static unsigned run_loads(struct report *r, enum bottleneck_protocol protocol, double times_s[LOADS])
{
    unsigned ended = 0;

    for (unsigned i = 0; i < LOADS; i++) {
        struct bottleneck_setup setup = setup_of(BOTTLENECK_PDE1, protocol, i, 1);
        struct bottleneck_result result = run(r, &setup);
        report_point(r, "latency", names[protocol], loads[i].load, result.latency_us / 1e6);
        report_point(r, "loss", names[protocol], loads[i].load, result.loss);
        report_point(r, "time", names[protocol], loads[i].load, result.seconds);
        times_s[i] = result.seconds;
        ended += result.ended;
    }
    return ended;
}

/* A load at which SSCOP does not end is the last, since each costs all of the limit. */
static void run_stability(struct report *r)
{
    double one_s[LOADS], several_s[LOADS], until = 0;
    unsigned one = run_loads(r, BOTTLENECK_PCAAL_1, one_s), several = run_loads(r, BOTTLENECK_PCAAL_N, several_s);
    bool stopped = false;

    for (unsigned i = 0; i <= OVERLOAD && !stopped; i++) {
        struct bottleneck_setup setup = setup_of(BOTTLENECK_PDE1, BOTTLENECK_SSCOP, i, ROUNDS);
        setup.limit = 20 * PVMA_S;
        struct bottleneck_result result = run(r, &setup);
        stopped = !result.ended;
        if (stopped)
            break;
        report_point(r, "latency", names[BOTTLENECK_SSCOP], loads[i].load, result.latency_us / 1e6);
        report_point(r, "loss", names[BOTTLENECK_SSCOP], loads[i].load, result.loss);
        until = loads[i].load;
    }
    report_claim(r, "S1", stopped, "%u rounds end within 20 s up to a load of %.1f", ROUNDS, until);
    report_claim(r, "S2", one == LOADS && several == LOADS,
                 "a round ends at %u loads with one item, %u with several; at %.1f after %.1f and %.1f s", one, several,
                 loads[LOADS - 1].load, one_s[LOADS - 1], several_s[LOADS - 1]);
}

struct means {
    double latency_s, interval_s, loss;
};

/* The three protocols at a load of 0.7, means of some seeds. */
static void run_protocols(struct report *r, uint32_t buffer_cells, pvma_ps poll, struct means means[PROTOCOLS])
{
    unsigned seeds = layout_speed() == 1 ? SEEDS : 1; /* without a network nothing is random */

    for (unsigned i = 0; i < PROTOCOLS; i++) {
        struct bottleneck_setup setup = setup_of(BOTTLENECK_PDE1, (enum bottleneck_protocol)i, COMPARED, ROUNDS);
        struct stats latency = {0}, loss = {0};
        setup.buffer_cells = buffer_cells;
        setup.poll_interval = poll;
        for (setup.seed = 1; setup.seed <= seeds; setup.seed++) {
            struct bottleneck_result result = run(r, &setup);
            stats_add(&latency, result.latency_us / 1e6);
            stats_add(&loss, result.loss);
        }
        means[i] = (struct means){stats_mean(&latency), stats_interval90(&latency), stats_mean(&loss)};
    }
}

static void compare(struct report *r)
{
    struct means first[PROTOCOLS], buffers[PROTOCOLS], polls[PROTOCOLS];
    double ratio, one, several;

    run_protocols(r, 200, 500 * PVMA_MS, first);
    run_protocols(r, 1000, 500 * PVMA_MS, buffers);
    run_protocols(r, 200, 1500 * PVMA_MS, polls);
    for (unsigned i = BOTTLENECK_PCAAL_1; i < PROTOCOLS; i++)
        report_set(r, THESIS_LATENCY, names[i], "latency", first[i].latency_s, first[i].interval_s);
    ratio = first[1].latency_s / first[2].latency_s;
    report_claim_numbers(r, "S3", true, &ratio, "%.4f s and %.4f s: %.1f times", first[1].latency_s, first[2].latency_s,
                         ratio);
    report_claim(r, "S4",
                 buffers[0].loss < first[0].loss && buffers[1].loss < first[1].loss && buffers[2].loss < first[2].loss,
                 "%.2g, %.2g, %.2g of the cells by SSCOP, one item, several; with 200 cells %.2g, %.2g, %.2g",
                 buffers[0].loss, buffers[1].loss, buffers[2].loss, first[0].loss, first[1].loss, first[2].loss);
    one = polls[1].latency_s - first[1].latency_s;
    several = polls[2].latency_s - first[2].latency_s;
    report_claim(r, "S5", one > several, "latency grows by %.3f s with one item, by %.3f s with several", one, several);
}

static void run_programs(struct report *r)
{
    unsigned ended = 0;

    for (unsigned p = BOTTLENECK_PDE2; p <= BOTTLENECK_SOLVER; p++) {
        struct bottleneck_setup setup = setup_of((enum bottleneck_program)p, BOTTLENECK_PCAAL_N, LOADS - 1, 1);
        struct bottleneck_result result = run(r, &setup);
        ended += result.ended;
    }
    report_claim(r, "S6", ended == 2, "a round of %u of 2 programs ends at 1.5", ended);
}

void experiment_thesis5(struct report *report, enum experiment_part part)
{
    if (part == EXPERIMENT_SHORT)
        return;
    compare(report);
    run_stability(report);
    run_programs(report);
}
