/* thesis5.c - the experiments of chapter 5 of the UPC thesis. Its printed results are in paper_thesis5.c. */
#include <stdio.h>
#include "lab/bottleneck.h"
#include "lab/layout.h"
#include "reproduce/experiment.h"
#include "reproduce/stats.h"
#include "reproduce/tables.h"

enum { LOADS = 9, LOW = 0 /* 0.4 */, COMPARED = 2 /* 0.7 */, HIGH = 3 /* 0.8 */, OVERLOAD = 5 /* 1.1 */ };
enum { ROUNDS = 20, ROUNDS_MORE = 3, PROTOCOLS = 3, PROGRAMS = 3, SEEDS = 4 };

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

/* ---- loads at which programs end, figure 5.13 ---- */

static const pvma_ps round_limit = 60 * PVMA_S; /* of each round, whatever the protocol */

static struct bottleneck_result run_rounds(struct report *r, enum bottleneck_protocol protocol, unsigned load,
                                           unsigned rounds, uint32_t buffer_cells)
{
    struct bottleneck_setup setup = setup_of(BOTTLENECK_PDE1, protocol, load, rounds);

    setup.limit = rounds * round_limit;
    setup.buffer_cells = buffer_cells;
    return run(r, &setup);
}

/* One of the 700 rounds at all loads: at how many of them it ends. */
static unsigned run_loads(struct report *r, enum bottleneck_protocol protocol)
{
    unsigned ended = 0;

    for (unsigned i = 0; i < LOADS; i++) {
        struct bottleneck_result result = run_rounds(r, protocol, i, 1, 200);
        if (!result.ended)
            continue;
        report_point(r, "latency", names[protocol], loads[i].load, result.latency_us / 1e6);
        report_point(r, "loss", names[protocol], loads[i].load, result.loss);
        report_point(r, "time", names[protocol], loads[i].load, result.seconds);
        ended++;
    }
    return ended;
}

/* The first load at which a round of SSCOP does not end; LOADS if there is none. */
static unsigned breaking_load(struct report *r, uint32_t buffer_cells)
{
    for (unsigned i = 0; i < LOADS; i++)
        if (!run_rounds(r, BOTTLENECK_SSCOP, i, 1, buffer_cells).ended)
            return i;
    return LOADS;
}

/* A protocol whose rounds take longer and longer does not end, though each of the first ones does. */
static void run_stability(struct report *r)
{
    struct bottleneck_result at_overload[PROTOCOLS], last[PROTOCOLS];
    unsigned ended[PROTOCOLS];
    bool by_pcaal = true;

    for (unsigned i = 0; i < PROTOCOLS; i++) {
        enum bottleneck_protocol protocol = (enum bottleneck_protocol)i;
        ended[i] = run_loads(r, protocol);
        at_overload[i] = run_rounds(r, protocol, OVERLOAD, ROUNDS_MORE, 200);
        last[i] = run_rounds(r, protocol, LOADS - 1, ROUNDS_MORE, 200);
        if (protocol != BOTTLENECK_SSCOP)
            by_pcaal = by_pcaal && ended[i] == LOADS && at_overload[i].ended && last[i].ended;
    }
    report_claim(r, "S1", !at_overload[0].ended, "%d rounds %s after %.1f s; one ends at %u of the nine loads",
                 ROUNDS_MORE, at_overload[0].ended ? "end" : "have not ended", at_overload[0].seconds, ended[0]);
    report_claim(r, "S2", by_pcaal,
                 "a round ends at %u loads with one item, %u with several; %d rounds at 1.5: %s %.1f s, %s %.1f s",
                 ended[1], ended[2], ROUNDS_MORE, last[1].ended ? "end after" : "not by", last[1].seconds,
                 last[2].ended ? "end after" : "not by", last[2].seconds);
}

static void run_buffers(struct report *r)
{
    unsigned small = breaking_load(r, 200), large = breaking_load(r, 1000);

    report_claim(r, "S8", small < large, "with 200 cells %u of the nine loads come before, with 1000 cells %u", small,
                 large);
}

/* ---- protocols at a load of 0.7 ---- */

/* Of some seeds, which are the same ones for all protocols and parameters. */
struct sample {
    unsigned seeds;
    double latency_s[SEEDS], loss[SEEDS];
};

static void run_protocols(struct report *r, uint32_t buffer_cells, pvma_ps poll, struct sample samples[PROTOCOLS])
{
    unsigned seeds = layout_speed() == 1 ? SEEDS : 1; /* without a network nothing is random */

    for (unsigned i = 0; i < PROTOCOLS; i++) {
        struct bottleneck_setup setup = setup_of(BOTTLENECK_PDE1, (enum bottleneck_protocol)i, COMPARED, ROUNDS);
        setup.buffer_cells = buffer_cells;
        setup.poll_interval = poll;
        samples[i].seeds = seeds;
        for (unsigned k = 0; k < seeds; k++) {
            setup.seed = k + 1;
            struct bottleneck_result result = run(r, &setup);
            samples[i].latency_s[k] = result.latency_us / 1e6;
            samples[i].loss[k] = result.loss;
        }
    }
}

static struct stats stats_of(const double *values, unsigned count)
{
    struct stats stats = {0};

    for (unsigned k = 0; k < count; k++)
        stats_add(&stats, values[k]);
    return stats;
}

static struct stats latency_of(const struct sample *sample)
{
    return stats_of(sample->latency_s, sample->seeds);
}

static double loss_of(const struct sample *sample)
{
    struct stats stats = stats_of(sample->loss, sample->seeds);
    return stats_mean(&stats);
}

/* What a parameter changes, seed by seed. */
static struct stats change_of(const double *before, const double *after, unsigned seeds)
{
    struct stats stats = {0};

    for (unsigned k = 0; k < seeds; k++)
        stats_add(&stats, after[k] - before[k]);
    return stats;
}

static struct stats growth_of(const struct sample *before, const struct sample *after)
{
    return change_of(before->latency_s, after->latency_s, before->seeds);
}

/* Beyond the interval, or within it. */
static bool grows(const struct stats *change)
{
    return stats_mean(change) > stats_interval90(change);
}

static bool is_unchanged(const struct stats *change)
{
    double mean = stats_mean(change), interval = stats_interval90(change);
    return mean <= interval && -mean <= interval;
}

static void judge_latency(struct report *r, const struct sample first[PROTOCOLS])
{
    struct stats latency[PROTOCOLS];
    double mean_s[PROTOCOLS], ratio;

    for (unsigned i = 0; i < PROTOCOLS; i++) {
        latency[i] = latency_of(&first[i]);
        mean_s[i] = stats_mean(&latency[i]);
        if (i != BOTTLENECK_SSCOP)
            report_set(r, THESIS_LATENCY, names[i], "latency", mean_s[i], stats_interval90(&latency[i]));
    }
    ratio = mean_s[1] / mean_s[2];
    report_claim_numbers(r, "S3", true, &ratio, "%.4f s and %.4f s: %.1f times", mean_s[1], mean_s[2], ratio);
    report_claim(r, "S7", mean_s[1] < mean_s[0] && mean_s[2] < mean_s[0],
                 "%.4f s by SSCOP, %.4f s with one item, %.4f s with several", mean_s[0], mean_s[1], mean_s[2]);
}

static void judge_buffers(struct report *r, const struct sample first[PROTOCOLS], const struct sample large[PROTOCOLS])
{
    struct stats one = growth_of(&first[1], &large[1]), several = growth_of(&first[2], &large[2]);
    bool less = true;

    for (unsigned i = 0; i < PROTOCOLS; i++)
        less = less && loss_of(&large[i]) < loss_of(&first[i]);
    report_claim(r, "S4", less,
                 "%.2g, %.2g, %.2g of the cells by SSCOP, one item, several; with 200 cells %.2g, %.2g, %.2g",
                 loss_of(&large[0]), loss_of(&large[1]), loss_of(&large[2]), loss_of(&first[0]), loss_of(&first[1]),
                 loss_of(&first[2]));
    report_claim(r, "S9", grows(&one) && is_unchanged(&several),
                 "by %.4f +-%.4f s with one item, %.4f +-%.4f s with several", stats_mean(&one), stats_interval90(&one),
                 stats_mean(&several), stats_interval90(&several));
}

static void judge_polls(struct report *r, const struct sample first[PROTOCOLS], const struct sample slow[PROTOCOLS])
{
    double one_s[SEEDS], several_s[SEEDS];
    struct stats more, sscop = growth_of(&first[0], &slow[0]);
    bool same = true;

    for (unsigned k = 0; k < first[0].seeds; k++) {
        one_s[k] = slow[1].latency_s[k] - first[1].latency_s[k];
        several_s[k] = slow[2].latency_s[k] - first[2].latency_s[k];
    }
    more = change_of(several_s, one_s, first[0].seeds);
    report_claim(r, "S5", grows(&more), "latency grows by %.3f +-%.3f s more with one item", stats_mean(&more),
                 stats_interval90(&more));
    for (unsigned i = 0; i < PROTOCOLS; i++) {
        struct stats loss = change_of(first[i].loss, slow[i].loss, first[i].seeds);
        same = same && is_unchanged(&loss);
    }
    report_claim(r, "S10", same && grows(&sscop), "loss is %s; SSCOP's latency grows by %.3f +-%.3f s",
                 same ? "the same" : "another one", stats_mean(&sscop), stats_interval90(&sscop));
}

static void compare(struct report *r)
{
    struct sample first[PROTOCOLS], large[PROTOCOLS], slow[PROTOCOLS];

    run_protocols(r, 200, 500 * PVMA_MS, first);
    run_protocols(r, 1000, 500 * PVMA_MS, large);
    run_protocols(r, 200, 1500 * PVMA_MS, slow);
    judge_latency(r, first);
    judge_buffers(r, first, large);
    judge_polls(r, first, slow);
}

/* ---- programs, figures 5.17 and 5.18 ---- */

/* How much more time a program takes at 0.8 than at 0.4, relative to how much more latency its messages have. */
static double growth_of_program(struct report *r, enum bottleneck_program program)
{
    static const unsigned at[] = {LOW, HIGH};
    struct stats seconds[2] = {{0}}, latency_s[2] = {{0}};

    for (unsigned i = 0; i < 2; i++)
        for (unsigned seed = 1; seed <= SEEDS; seed++) {
            struct bottleneck_setup setup = setup_of(program, BOTTLENECK_PCAAL_N, at[i], ROUNDS);
            setup.seed = seed;
            struct bottleneck_result result = run(r, &setup);
            stats_add(&seconds[i], result.seconds);
            stats_add(&latency_s[i], result.latency_us / 1e6);
        }
    return stats_mean(&seconds[1]) / stats_mean(&seconds[0]) * stats_mean(&latency_s[0]) / stats_mean(&latency_s[1]);
}

static void run_programs(struct report *r)
{
    double growth[PROGRAMS], pde1, pde2, solver;
    unsigned ended = 0;

    for (unsigned p = BOTTLENECK_PDE2; p <= BOTTLENECK_SOLVER; p++) {
        struct bottleneck_setup setup = setup_of((enum bottleneck_program)p, BOTTLENECK_PCAAL_N, LOADS - 1, 1);
        struct bottleneck_result result = run(r, &setup);
        ended += result.ended;
    }
    report_claim(r, "S6", ended == 2, "a round of %u of 2 programs ends at 1.5", ended);
    for (unsigned p = 0; p < PROGRAMS; p++)
        growth[p] = growth_of_program(r, (enum bottleneck_program)p);
    pde1 = growth[BOTTLENECK_PDE1];
    pde2 = growth[BOTTLENECK_PDE2];
    solver = growth[BOTTLENECK_SOLVER];
    report_claim(r, "S11", pde1 > solver && solver > pde2,
                 "time grows %.2f times as much as latency in PDE1, %.2f in SOLVER, %.2f in PDE2", pde1, solver, pde2);
}

void experiment_thesis5(struct report *report, enum experiment_part part)
{
    if (part == EXPERIMENT_SHORT)
        return;
    compare(report);
    run_stability(report);
    run_buffers(report);
    run_programs(report);
}
