/* thesis6.c - the experiments of chapter 6 of the UPC thesis. Its printed results are in paper_thesis6.c. */
#include <stdio.h>
#include <stdlib.h>
#include "lab/layout.h"
#include "lab/services.h"
#include "reproduce/experiment.h"
#include "reproduce/stats.h"
#include "reproduce/tables.h"

enum {
    TRACES = 2,
    KINDS = 4,
    SEEDS = 4,
    SEEDS_MORE = 16 /* of ECE: how much goes by ABR follows from the ON times, of which a trace meets few */
};
enum { LIGHT, FIRST, FULL, LAST, LOADS }; /* FIRST and LAST are those of the tables, FIRST and FULL of the shares */

static const struct {
    const char *name, *table, *latency, *loss, *share; /* the figures */
    unsigned messages;
    double loads[LOADS];
} traces[TRACES] = {
    {"PDE1", THESIS_TABLE6_5, "latency-pde1", "loss-pde1", "share-pde1", 100, {0.3, 0.7, 1, 1.05}},
    {"PDE2", THESIS_TABLE6_6, "latency-pde2", "loss-pde2", "share-pde2", 2000, {0.3, 0.65, 1, 1.05}},
};

/* Of some traces and backgrounds with the same parameters. */
struct outcome {
    struct stats ubr, abr, total, vbr, share, latency_s, loss;
    uint64_t abr_lost;
    unsigned ended;
};

static void add(struct outcome *o, const struct services_result *result)
{
    stats_add(&o->ubr, result->ubr_came_kbps);
    stats_add(&o->abr, result->abr_came_kbps);
    stats_add(&o->total, result->ubr_came_kbps + result->abr_came_kbps);
    stats_add(&o->vbr, result->vbr_kbps);
    stats_add(&o->share, 100 * result->abr_share);
    stats_add(&o->latency_s, result->latency_us / 1e6);
    stats_add(&o->loss, result->loss);
    o->abr_lost += result->abr_lost;
    o->ended += result->ended;
}

/* Runs a setup, but for the times of its messages and its seed, with the first `seeds` seeds. */
static struct outcome run(struct report *r, unsigned trace, struct services_setup setup, unsigned seeds)
{
    struct outcome outcome = {0};

    setup.rate_bps *= layout_speed();
    if (layout_speed() != 1)
        setup.load = 0;
    for (setup.seed = 1; setup.seed <= seeds; setup.seed++) {
        struct services_message *messages = services_trace((enum services_trace)trace, setup.count, setup.seed);
        setup.messages = messages;
        struct services_result result = services_run(&setup);
        free(messages);
        r->events += result.events;
        add(&outcome, &result);
    }
    return outcome;
}

/* ---- Tables 6.5 and 6.6, figures 6.15 to 6.17 ---- */

static void draw(struct report *r, unsigned trace, unsigned load, enum services_kind kind, const struct outcome *o)
{
    double x = traces[trace].loads[load];

    report_point(r, traces[trace].latency, services_name(kind), x, stats_mean(&o->latency_s));
    if (kind == SERVICES_UBR || kind == SERVICES_SWITCHING)
        report_point(r, traces[trace].loss, services_name(kind), x, stats_mean(&o->loss));
    if (kind >= SERVICES_SWITCHING)
        report_point(r, traces[trace].share, services_name(kind), x, stats_mean(&o->share));
}

static void set(struct report *r, unsigned trace, const char *row, const char *column, const struct stats *s)
{
    report_set(r, traces[trace].table, row, column, stats_mean(s), stats_interval90(s));
}

static void set_bandwidths(struct report *r, unsigned trace, unsigned load, enum services_kind kind,
                           const struct outcome *o)
{
    char row[40];

    snprintf(row, sizeof row, "%g, %s", traces[trace].loads[load], services_name(kind));
    if (kind != SERVICES_ABR)
        set(r, trace, row, "UBR", &o->ubr);
    if (kind != SERVICES_UBR)
        set(r, trace, row, "ABR", &o->abr);
    if (kind >= SERVICES_SWITCHING)
        set(r, trace, row, "VBR", &o->vbr);
}

static void set_share(struct report *r, unsigned trace, unsigned load, enum services_kind kind, const struct outcome *o)
{
    char row[40];

    snprintf(row, sizeof row, "%s, %g, %s", traces[trace].name, traces[trace].loads[load], services_name(kind));
    report_set(r, THESIS_SHARES, row, "share", stats_mean(&o->share), stats_interval90(&o->share));
    report_paper_point(r, traces[trace].share, services_name(kind), traces[trace].loads[load],
                       report_printed(r, THESIS_SHARES, row, "share"));
}

typedef struct outcome outcomes[TRACES][LOADS][KINDS];

/* The loads of the tables and shares need the narrower intervals. */
static unsigned seeds_of(unsigned load, enum services_kind kind)
{
    return load != LIGHT && kind >= SERVICES_SWITCHING ? SEEDS_MORE : SEEDS;
}

static void run_services(struct report *r, outcomes all)
{
    for (unsigned trace = 0; trace < TRACES; trace++)
        for (unsigned load = 0; load < LOADS; load++)
            for (unsigned kind = 0; kind < KINDS; kind++) {
                struct services_setup setup = services_defaults((enum services_kind)kind);
                struct outcome *o = &all[trace][load][kind];
                setup.load = traces[trace].loads[load];
                setup.count = traces[trace].messages;
                *o = run(r, trace, setup, seeds_of(load, (enum services_kind)kind));
                draw(r, trace, load, (enum services_kind)kind, o);
                if (load == FIRST || load == LAST)
                    set_bandwidths(r, trace, load, (enum services_kind)kind, o);
                if (kind >= SERVICES_SWITCHING && (load == FIRST || load == FULL))
                    set_share(r, trace, load, (enum services_kind)kind, o);
            }
}

/* ---- what the tables and figures say ---- */

enum { CASES = 4 /* both programs at both loads of the tables */ };

/* The four services of a case, by enum services_kind. */
static const struct outcome *of_case(outcomes all, unsigned number)
{
    return all[number / 2][number % 2 ? LAST : FIRST];
}

static bool has_order(const struct outcome kinds[KINDS])
{
    double ubr = stats_mean(&kinds[SERVICES_UBR].total), abr = stats_mean(&kinds[SERVICES_ABR].total);
    double switching = stats_mean(&kinds[SERVICES_SWITCHING].total);

    return ubr < abr && abr < switching && switching < stats_mean(&kinds[SERVICES_DUPLICATING].total);
}

static bool has_less_ubr(const struct outcome kinds[KINDS])
{
    const struct outcome *switching = &kinds[SERVICES_SWITCHING], *duplicating = &kinds[SERVICES_DUPLICATING];

    return stats_mean(&switching->ubr) < stats_mean(&duplicating->ubr) &&
           stats_mean(&switching->abr) > stats_mean(&duplicating->abr);
}

static bool has_less_vbr(const struct outcome kinds[KINDS])
{
    return stats_mean(&kinds[SERVICES_SWITCHING].vbr) < stats_mean(&kinds[SERVICES_DUPLICATING].vbr);
}

/* Nearer to `a` than to `b`. */
static bool is_nearer(const struct stats *s, const struct stats *a, const struct stats *b)
{
    double to_a = stats_mean(s) - stats_mean(a), to_b = stats_mean(s) - stats_mean(b);

    return to_a * to_a < to_b * to_b;
}

static bool is_near_abr(const struct outcome kinds[KINDS])
{
    const struct stats *ubr = &kinds[SERVICES_UBR].latency_s, *abr = &kinds[SERVICES_ABR].latency_s;

    return is_nearer(&kinds[SERVICES_SWITCHING].latency_s, abr, ubr) &&
           is_nearer(&kinds[SERVICES_DUPLICATING].latency_s, abr, ubr);
}

static bool loses_less(const struct outcome kinds[KINDS])
{
    return stats_mean(&kinds[SERVICES_SWITCHING].loss) < stats_mean(&kinds[SERVICES_UBR].loss);
}

/* A claim that says the same of each case. */
static void judge_cases(struct report *r, outcomes all, const char *id,
                        bool (*holds)(const struct outcome kinds[KINDS]))
{
    unsigned count = 0;

    for (unsigned i = 0; i < CASES; i++)
        count += holds(of_case(all, i));
    report_claim(r, id, count == CASES, "in %u of %d cases", count, CASES);
}

/* More load, more ABR and less UBR. */
static void judge_load(struct report *r, outcomes all)
{
    unsigned count = 0;

    for (unsigned trace = 0; trace < TRACES; trace++)
        for (unsigned kind = SERVICES_SWITCHING; kind < KINDS; kind++) {
            const struct outcome *first = &all[trace][FIRST][kind], *last = &all[trace][LAST][kind];
            bool more_abr = stats_mean(&last->abr) > stats_mean(&first->abr);
            count += more_abr && stats_mean(&last->ubr) < stats_mean(&first->ubr);
        }
    report_claim(r, "E4", count == CASES, "in %u of %d cases", count, CASES);
}

static void judge_ratios(struct report *r, outcomes all)
{
    double rm[TRACES], vbr[CASES];

    for (unsigned i = 0; i < 2; i++) {
        const struct outcome *kinds = of_case(all, i);
        rm[i] = stats_mean(&kinds[SERVICES_ABR].abr) / stats_mean(&kinds[SERVICES_UBR].ubr);
    }
    report_claim_numbers(r, "E1", true, rm, "%.4f and %.4f", rm[0], rm[1]);
    for (unsigned i = 0; i < CASES; i++) {
        const struct outcome *o = &of_case(all, i)[SERVICES_SWITCHING];
        double abr = stats_mean(&o->abr);
        vbr[i] = abr > 0 ? 100 * stats_mean(&o->vbr) / abr : 0;
    }
    report_claim_numbers(r, "E6", true, vbr, "%.1f, %.1f, %.1f, %.1f %%", vbr[0], vbr[1], vbr[2], vbr[3]);
}

static void judge_loss_of_abr(struct report *r, outcomes all)
{
    unsigned long long lost = 0;
    unsigned ended = 0, runs = 0;

    for (unsigned trace = 0; trace < TRACES; trace++)
        for (unsigned load = 0; load < LOADS; load++)
            for (unsigned kind = 0; kind < KINDS; kind++) {
                lost += all[trace][load][kind].abr_lost;
                ended += all[trace][load][kind].ended;
                runs += seeds_of(load, (enum services_kind)kind);
            }
    report_claim(r, "E9", lost == 0, "%llu cells, in %u runs that ended of %u", lost, ended, runs);
}

/* ---- rates of ABR, at a load of 0.8 ---- */

static struct outcome run_rates(struct report *r, unsigned trace, enum services_kind kind, double peak_mbps,
                                double minimum_mbps)
{
    struct services_setup setup = services_defaults(kind);

    setup.load = 0.8;
    setup.count = traces[trace].messages / 2;
    setup.peak_mbps = peak_mbps;
    setup.minimum_mbps = minimum_mbps;
    return run(r, trace, setup, SEEDS);
}

static bool is_same(const struct stats *a, const struct stats *b)
{
    double difference = stats_mean(a) - stats_mean(b), both = stats_interval90(a) + stats_interval90(b);

    return difference <= both && -difference <= both;
}

/* Of ABR only and switching. */
struct rates {
    struct outcome abr, switching;
};

static struct rates run_both(struct report *r, unsigned trace, double peak_mbps, double minimum_mbps)
{
    return (struct rates){run_rates(r, trace, SERVICES_ABR, peak_mbps, minimum_mbps),
                          run_rates(r, trace, SERVICES_SWITCHING, peak_mbps, minimum_mbps)};
}

static void judge_peaks(struct report *r, const struct rates usual[TRACES])
{
    static const double peaks_mbps[] = {25, 100};
    double latency_s[TRACES][2], share[TRACES][2];
    bool same = true;

    for (unsigned trace = 0; trace < TRACES; trace++)
        for (unsigned i = 0; i < 2; i++) {
            struct rates other = run_both(r, trace, peaks_mbps[i], 0);
            latency_s[trace][i] = stats_mean(&other.abr.latency_s);
            share[trace][i] = stats_mean(&other.switching.share);
            same = same && is_same(&other.abr.latency_s, &usual[trace].abr.latency_s) &&
                   is_same(&other.switching.share, &usual[trace].switching.share);
        }
    report_claim(r, "E10", same,
                 "25 and 100 Mbit/s: PDE1 %.4g and %.4g s, %.0f and %.0f %%; PDE2 %.4g and %.4g s, %.0f and %.0f %%",
                 latency_s[0][0], latency_s[0][1], share[0][0], share[0][1], latency_s[1][0], latency_s[1][1],
                 share[1][0], share[1][1]);
}

static double ratio_of(const struct stats *a, const struct stats *b)
{
    return stats_mean(a) / stats_mean(b);
}

static void judge_minimum(struct report *r, const struct rates usual[TRACES])
{
    double times[TRACES], before[TRACES], after[TRACES];
    bool nearer = true;

    for (unsigned trace = 0; trace < TRACES; trace++) {
        struct rates sure = run_both(r, trace, 50, 35);
        const struct rates *was = &usual[trace];
        times[trace] = ratio_of(&was->abr.latency_s, &sure.abr.latency_s);
        before[trace] = ratio_of(&was->switching.latency_s, &was->abr.latency_s);
        after[trace] = ratio_of(&sure.switching.latency_s, &sure.abr.latency_s);
        nearer = nearer && after[trace] < before[trace] && is_same(&was->switching.share, &sure.switching.share);
    }
    report_claim_numbers(r, "E11", true, times, "%.1f times for PDE1, %.1f for PDE2", times[0], times[1]);
    report_claim(r, "E12", nearer, "%.2f times ABR only's latency, PDE1, and %.2f, PDE2; without it %.2f and %.2f",
                 after[0], after[1], before[0], before[1]);
}

void experiment_thesis6(struct report *report, enum experiment_part part)
{
    static outcomes all;
    struct rates usual[TRACES];

    if (part == EXPERIMENT_SHORT)
        return;
    run_services(report, all);
    judge_cases(report, all, "E2", has_order);
    judge_cases(report, all, "E3", has_less_ubr);
    judge_load(report, all);
    judge_cases(report, all, "E5", has_less_vbr);
    judge_ratios(report, all);
    judge_cases(report, all, "E7", is_near_abr);
    judge_cases(report, all, "E8", loses_less);
    judge_loss_of_abr(report, all);
    for (unsigned trace = 0; trace < TRACES; trace++)
        usual[trace] = run_both(report, trace, 50, 0);
    judge_peaks(report, usual);
    judge_minimum(report, usual);
}
