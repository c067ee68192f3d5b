/* thesis.c - the experiments of the UPC thesis. Its printed results are in paper_thesis.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "reproduce/echo.h"
#include "reproduce/experiment.h"
#include "lab/layout.h"
#include "reproduce/stats.h"
#include "reproduce/tables.h"
#include "thesis.h"

enum { WORKERS = 4, MASTER = 4, TASKS = 5, SEEDS = 4, MESSAGE_MAX = 1 << 18 };

/* ---- validation ---- */

static double trip_ns(struct report *r, const char *profile, uint32_t bytes)
{
    struct pvma_topology topology;
    struct lab_setup setup = {.hosts = 2, .topology = &topology, .seed = 1};
    struct pvma_switch_options options = layout_output_queued(4, 500 * PVMA_NS);
    double us;

    layout_star(&topology, "validation", 2, pvma_profile_find(profile), &options, PVMA_RATE_140, 0);
    us = echo_run(&setup, LAB_FORE5, bytes, 1, 1, &r->events).trip_us;
    layout_free(&topology);
    return us * 1000;
}

static void run_validation(struct report *r)
{
    report_set(r, THESIS_VALIDATION, "chapter 6, round trip", "latency", trip_ns(r, "thesis-ch6", 4), 0);
    report_set(r, THESIS_VALIDATION, "chapter 6, one way", "latency", trip_ns(r, "thesis-ch6", 4) / 2, 0);
    report_set(r, THESIS_VALIDATION, "chapter 5, round trip", "latency", trip_ns(r, "thesis-ch5", 4), 0);
    report_set(r, THESIS_VALIDATION, "chapter 5, one way", "latency", trip_ns(r, "thesis-ch5", 4) / 2, 0);
    report_set(r, THESIS_VALIDATION, "chapter 5, 29 cells, round trip", "latency",
               trip_ns(r, "thesis-ch5-frames", 29 * 48 - 8), 0);
}

/* ---- kernels ---- */

/* Communication in a round. The fifth task, the master, takes part only in GATHER. */
enum pattern {
    LINE,       /* with the neighbours: grids are divided into slabs, without wrap-around */
    ALL_TO_ALL, /* a transposition */
    GATHER,     /* parts go to the master, and the whole comes back */
};

struct kernel {
    const char *name;
    double ideal_s;                /* Table 2.2 */
    double comms_s[4];             /* seconds of communication, Tables 2.2 to 2.4: ideal, loaded, 4 switches, 500 us */
    unsigned messages, mean_bytes; /* Table A.1 */
    enum pattern pattern;
    unsigned long_bytes, long_of; /* one message of `long_of` has long_bytes, the others 8 B; 0: all have the mean */
    unsigned part;                /* one of this many messages is simulated */
};

static const struct kernel kernels[] = {
    {"PDE1", 24.5, {12.0, 12.0, 12.8, 187.0}, 5608, 8180, LINE, 0, 0, 50},
    {"PDE2", 32.8, {8.25, 9.75, 14.5, 81.1}, 8068, 117, LINE, 0, 0, 50},
    {"CG", 5.84, {2.8, 3.03, 2.94, 104.9}, 7116, 1963, GATHER, 15400, 8, 50},
    {"FT", 16.4, {11.3, 13.0, 13.3, 147.2}, 189, 233200, ALL_TO_ALL, 0, 0, 8},
    {"SOLVER", 13.2, {1.4}, 4792, 7108, LINE, 0, 0, 50},
    {"IS", 3.6, {0.9}, 599, 71364, ALL_TO_ALL, 0, 0, 8},
    {"MG", 16.8, {3.8}, 848, 30227, LINE, 0, 0, 50},
};

static const unsigned messages_of_round[] = {[LINE] = 6, [ALL_TO_ALL] = 12, [GATHER] = 8};

enum { ALL_KERNELS = sizeof kernels / sizeof kernels[0], KERNELS = 4 /* of Tables 2.3 and 2.4 */ };

struct condition {
    unsigned switches;
    double load, delay_us; /* of each output; of the hosts, for each cell sent and received */
    unsigned sources;      /* in each switch, sharing the load */
};

struct run {
    struct lab lab;
    const struct kernel *kernel;
    struct pvma_end *ends[TASKS][TASKS];
    double compute_us; /* before each round */
    unsigned rounds, finished;
};

struct task {
    struct run *run;
    unsigned number;
};

static uint32_t bytes_in_round(const struct kernel *k, unsigned round)
{
    if (k->long_of == 0)
        return k->mean_bytes;
    return round % k->long_of == 0 ? k->long_bytes : 8;
}

static bool talks_to(const struct task *t, unsigned other)
{
    switch (t->run->kernel->pattern) {
    case LINE:
        return other < WORKERS && (other == t->number + 1 || other + 1 == t->number);
    case ALL_TO_ALL:
        return other < WORKERS && other != t->number;
    case GATHER:
        break;
    }
    return (other == MASTER) != (t->number == MASTER);
}

static void send_all(const struct task *t, uint32_t bytes)
{
    static uint8_t data[MESSAGE_MAX];

    for (unsigned i = 1; i < TASKS; i++) {
        unsigned other = (t->number + i) % TASKS;
        struct pvma_end *end = t->run->ends[t->number][other];
        if (talks_to(t, other))
            end->send(end, data, bytes);
    }
}

static void receive_all(const struct task *t, uint32_t bytes)
{
    static uint8_t data[MESSAGE_MAX];

    for (unsigned i = 1; i < TASKS; i++) {
        unsigned other = (t->number + i) % TASKS;
        struct pvma_end *end = t->run->ends[t->number][other];
        if (talks_to(t, other))
            end->receive(end, data, bytes);
    }
}

static void finish(struct run *r)
{
    if (++r->finished == WORKERS)
        pvma_sim_stop(r->lab.sim);
}

static void work(void *arg)
{
    struct task *t = arg;
    struct run *r = t->run;

    for (unsigned round = 0; round < r->rounds; round++) {
        lab_compute(&r->lab, t->number, r->compute_us);
        send_all(t, bytes_in_round(r->kernel, round));
        receive_all(t, bytes_in_round(r->kernel, round));
    }
    finish(r);
}

static void collect(void *arg)
{
    struct task *t = arg;

    for (unsigned round = 0; t->run->kernel->pattern == GATHER && round < t->run->rounds; round++) {
        receive_all(t, bytes_in_round(t->run->kernel, round));
        send_all(t, bytes_in_round(t->run->kernel, round));
    }
}

/*
 * ON, and OFF at 10 Mbit/s. Half of the cells go to each output, so its load follows from the mean rate. With ON 84 %
 * of the time, all nine rows of Table 5.4, with peak rates of 150 to 550 Mbit/s, have the loads printed there, 0.4 to
 * 1.5.
 */
static struct pvma_source_options background(double load)
{
    double mean = 2 * load * 155.52e6, off = 10e6, on_share = 0.84;

    return (struct pvma_source_options){.type = PVMA_ONOFF,
                                        .rate_bps = (int64_t)((mean - (1 - on_share) * off) / on_share),
                                        .off_rate_bps = (int64_t)off,
                                        .on_mean = 400 * PVMA_US,
                                        .off_mean = (pvma_ps)(400 * PVMA_US / on_share) - 400 * PVMA_US,
                                        .copy = 0.5};
}

/* A chain of switches, with the tasks' hosts spread over it. */
static void layout_chain(struct pvma_topology *t, const struct pvma_profile *profile, const struct condition *c,
                         unsigned counted_cells)
{
    struct pvma_switch_options options = layout_output_queued(8, PVMA_US);
    unsigned hosts[TASKS], switches[TASKS];
    struct pvma_source_options source = background(c->load / c->sources);
    char name[16];

    if (counted_cells > 0) {
        options.buffer = PVMA_BUFFER_COUNTED;
        options.buffer_cells = counted_cells;
    }
    layout_begin(t, "chain");
    for (unsigned i = 0; i < TASKS; i++) {
        snprintf(name, sizeof name, "h%u", i + 1);
        hosts[i] = layout_host(t, name, profile);
    }
    for (unsigned i = 0; i < c->switches; i++) {
        snprintf(name, sizeof name, "s%u", i + 1);
        switches[i] = layout_switch(t, name, &options);
        if (i > 0)
            layout_link(t, switches[i - 1], switches[i], PVMA_RATE_OC3LINE, 0);
    }
    for (unsigned i = 0; i < TASKS; i++)
        layout_link(t, hosts[i], switches[i % WORKERS * c->switches / WORKERS], PVMA_RATE_OC3LINE, 0);
    for (unsigned i = 0; i < c->switches * c->sources && c->load > 0; i++) {
        snprintf(name, sizeof name, "b%u", i + 1);
        layout_source(t, name, switches[i / c->sources], &source);
    }
}

static struct pvma_profile emulated_host(double delay_us)
{
    struct pvma_profile p = *pvma_profile_find("ideal");

    layout_cost(&p, PVMA_COST_tx_cell, delay_us);
    layout_cost(&p, PVMA_COST_rx_cell, delay_us);
    p.cost[PVMA_COST_rx_fifo] = 1000000;
    return p;
}

struct outcome {
    double seconds; /* virtual time of all messages and the computing between them; < 0: it did not end */
    double excess;  /* share of the tasks' cells that would not have fitted into a switch's counted buffer */
};

/* As in the thesis: the share of the application's cells at each switch, averaged over the switches. */
static double excess_of(struct pvma_net *net, unsigned switches)
{
    struct stats excess = {0};

    for (unsigned i = 0; i < switches; i++) {
        const struct pvma_switch_counters *counters = pvma_switch_counters(pvma_net_switch_at(net, i));
        stats_add(&excess, (double)counters->routed_would_drop / (double)(counters->routed ? counters->routed : 1));
    }
    return stats_mean(&excess);
}

static struct outcome run_counted(struct report *report, const struct kernel *k, const struct condition *c,
                                  double compute_s, unsigned counted_cells, uint64_t seed)
{
    static struct run r;
    struct pvma_profile profile = emulated_host(c->delay_us);
    struct pvma_topology topology;
    struct lab_setup setup = {.hosts = TASKS, .topology = &topology, .seed = seed};
    struct task tasks[TASKS];
    unsigned of_round = messages_of_round[k->pattern], rounds = k->messages / of_round / k->part;
    double whole;
    struct outcome outcome;

    if (k->long_of > 0) /* whole periods, so the long messages have their share */
        rounds -= rounds % k->long_of;
    whole = (double)k->messages / of_round / rounds;
    r = (struct run){.kernel = k, .rounds = rounds, .compute_us = compute_s * 1e6 / whole / rounds};
    layout_chain(&topology, &profile, c, counted_cells);
    lab_open(&r.lab, &setup);
    for (unsigned a = 0; a < TASKS; a++)
        for (unsigned b = a + 1; b < TASKS; b++)
            lab_connect(&r.lab, LAB_FORE5, a, b, &r.ends[a][b], &r.ends[b][a]);
    for (unsigned i = 0; i < TASKS; i++) {
        tasks[i] = (struct task){&r, i};
        lab_start(&r.lab, i == MASTER ? collect : work, &tasks[i]);
    }
    lab_run(&r.lab, 1000);
    outcome.seconds = r.finished == WORKERS ? lab_now_us(&r.lab) / 1e6 * whole : -1;
    outcome.excess = excess_of(r.lab.net, c->switches);
    lab_close(&r.lab, &report->events);
    layout_free(&topology);
    return outcome;
}

static double run_kernel(struct report *report, const struct kernel *k, const struct condition *c, double compute_s,
                         uint64_t seed)
{
    return run_counted(report, k, c, compute_s, 0, seed).seconds;
}

/* Sets a total. What is scored is the communication: the total less the computing in the column "ideal". */
static void set_total(struct report *r, const struct kernel *k, unsigned column, double total_s, double interval_s)
{
    static const char *const columns[] = {"ideal", "loaded", "4 switches", "500 us"};

    report_set(r, THESIS_TOTALS, k->name, columns[column], total_s, interval_s);
    report_beyond(r, THESIS_TOTALS, k->name, columns[column], k->comms_s[column], k->ideal_s - k->comms_s[0]);
}

/* Table 2.2: no host, no load, no computing between the messages. */
static void run_ideal(struct report *r)
{
    static const struct condition ideal = {1, 0, 0, 1};

    for (unsigned i = 0; i < ALL_KERNELS; i++)
        report_set(r, THESIS_IDEAL, kernels[i].name, "messages", run_kernel(r, &kernels[i], &ideal, 0, 1), 0);
}

static void run_table(struct report *r, unsigned seeds)
{
    static const struct condition ideal = {1, 0, 0, 1}, delayed = {1, 0.7, 500, 1};
    static const struct condition conditions[] = {{1, 0.7, 0, 1}, {4, 0.7, 0, 1}};
    unsigned ordered = 0, communicates = 0;

    for (unsigned i = 0; i < KERNELS; i++) {
        const struct kernel *k = &kernels[i];
        double compute_s = k->ideal_s - run_kernel(r, k, &ideal, 0, 1), total[3];

        set_total(r, k, 0, run_kernel(r, k, &ideal, compute_s, 1), 0);
        for (unsigned c = 0; c < 2; c++) {
            struct stats s = {0};
            for (uint64_t seed = 1; seed <= seeds; seed++)
                stats_add(&s, run_kernel(r, k, &conditions[c], compute_s, seed));
            total[c] = stats_mean(&s);
            set_total(r, k, 1 + c, total[c], stats_interval90(&s));
        }
        total[2] = run_kernel(r, k, &delayed, compute_s, 1);
        set_total(r, k, 3, total[2], 0);
        ordered += total[2] - total[0] > fabs(total[1] - total[0]) && total[2] - total[0] > total[0] - k->ideal_s;
        communicates += 1 - (k->ideal_s - k->comms_s[0]) / total[2] > 0.6;
    }
    report_claim(r, "T1", ordered == KERNELS, "%u of %u kernels", ordered, KERNELS);
    report_claim(r, "T5", communicates == KERNELS, "%u of %u kernels", communicates, KERNELS);
}

static void run_delays(struct report *r)
{
    static const double delays_us[] = {0, 125, 250, 500};
    bool grows = true;

    for (unsigned i = 0; i < 2; i++) {
        double before = 0;
        for (unsigned d = 0; d < 4; d++) {
            struct condition c = {1, 0, delays_us[d], 1};
            double seconds = run_kernel(r, &kernels[i], &c, kernels[i].ideal_s, 1);
            report_point(r, "fig2-5-host-delay", kernels[i].name, delays_us[d], seconds);
            grows = grows && seconds > before;
            before = seconds;
        }
    }
    report_claim(r, "T2", grows, "PDE1 and PDE2 at 0, 125, 250, 500 us");
}

/* ---- virtual loss: cells that would not have fitted ---- */

/* PDE1's share of excess cells, with its own messages in the network. */
static double mean_excess(struct report *r, unsigned switches, double load, unsigned seeds)
{
    unsigned cells = (unsigned)report_parameter(r, "background", "buffer for virtual loss");
    struct condition c = {switches, load, 0, 1};
    struct stats excess = {0};

    for (uint64_t seed = 1; seed <= seeds; seed++)
        stats_add(&excess, run_counted(r, &kernels[0], &c, kernels[0].ideal_s / 2, cells, seed).excess);
    return stats_mean(&excess);
}

static void run_loss(struct report *r, unsigned seeds)
{
    double low = mean_excess(r, 1, 0.6, seeds), high = mean_excess(r, 1, 0.7, seeds);
    double low_far = mean_excess(r, 4, 0.6, seeds), high_far = mean_excess(r, 4, 0.7, seeds);
    double factor = high / fmax(low, 1e-9);

    report_point(r, "fig2-4-virtual-loss", "1 switch", 0.6, low);
    report_point(r, "fig2-4-virtual-loss", "1 switch", 0.7, high);
    report_point(r, "fig2-4-virtual-loss", "4 switches", 0.6, low_far);
    report_point(r, "fig2-4-virtual-loss", "4 switches", 0.7, high_far);
    report_claim(r, "T3", factor > 5 && factor < 20, "PDE1: %.2g and %.2g of the cells: %.1f times", low, high, factor);
    report_claim(r, "T6", low_far < low, "PDE1: %.2g with 1 switch, %.2g with 4", low, low_far);
    report_claim(r, "T7", fabs(high_far / fmax(high, 1e-9) - 1) < 0.3, "PDE1: %.2g with 1 switch, %.2g with 4", high,
                 high_far);
}

/* ---- bursts ---- */

/* The thesis's sequence of cells in bursts at even intervals; one second of its five. */
enum { SEQUENCE_CELLS = 500 };

struct bursts {
    struct lab lab;
    struct pvma_end *from, *to;
    uint32_t bytes;
    unsigned count;
    double sent_us[SEQUENCE_CELLS];
    struct stats latency;
};

static void send_bursts(void *arg)
{
    static uint8_t data[MESSAGE_MAX];
    struct bursts *b = arg;

    for (unsigned i = 0; i < b->count; i++) {
        lab_compute(&b->lab, 0, 1e6 / b->count * i - lab_now_us(&b->lab));
        b->sent_us[i] = lab_now_us(&b->lab);
        b->from->send(b->from, data, b->bytes);
    }
}

static void receive_bursts(void *arg)
{
    static uint8_t data[MESSAGE_MAX];
    struct bursts *b = arg;

    for (unsigned i = 0; i < b->count; i++) {
        b->to->receive(b->to, data, b->bytes);
        stats_add(&b->latency, lab_now_us(&b->lab) - b->sent_us[i]);
    }
    pvma_sim_stop(b->lab.sim);
}

/* Mean latency of bursts of `cells` cells through a switch with four sources. */
static double burst_latency_us(struct report *r, double load, unsigned cells, uint64_t seed)
{
    static struct bursts b;
    struct pvma_profile profile = emulated_host(0);
    struct condition c = {1, load, 0, 4};
    struct pvma_topology topology;
    struct lab_setup setup = {.hosts = TASKS, .topology = &topology, .seed = seed};

    b = (struct bursts){.bytes = cells * 48 - 8, .count = SEQUENCE_CELLS / cells};
    layout_chain(&topology, &profile, &c, 0);
    lab_open(&b.lab, &setup);
    lab_connect(&b.lab, LAB_FORE5, 0, 1, &b.from, &b.to);
    lab_start(&b.lab, receive_bursts, &b);
    lab_start(&b.lab, send_bursts, &b);
    lab_run(&b.lab, 100);
    lab_close(&b.lab, &r->events);
    layout_free(&topology);
    return stats_mean(&b.latency);
}

static void run_bursts(struct report *r, unsigned seeds)
{
    static const unsigned sizes[] = {1, 10, 100};
    double mean[2][3], growth[3];

    for (unsigned i = 0; i < 3; i++) {
        struct stats low = {0}, high = {0};
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            stats_add(&low, burst_latency_us(r, 0.7, sizes[i], seed));
            stats_add(&high, burst_latency_us(r, 1.2, sizes[i], seed));
        }
        mean[0][i] = stats_mean(&low);
        mean[1][i] = stats_mean(&high);
        growth[i] = mean[1][i] / mean[0][i];
        report_point(r, "fig2-3-bursts", "load 0.7", sizes[i], mean[0][i]);
        report_point(r, "fig2-3-bursts", "load 1.2", sizes[i], mean[1][i]);
    }
    report_claim(r, "T4", growth[0] > growth[1] && growth[1] > growth[2],
                 "latency grows %.0f, %.0f, %.0f times for 1, 10, 100 cells", growth[0], growth[1], growth[2]);
    report_claim(r, "T4b", mean[0][2] / mean[0][0] > mean[1][2] / mean[1][0],
                 "100 cells take %.1f times as long as 1 at 0.7, %.1f times at 1.2", mean[0][2] / mean[0][0],
                 mean[1][2] / mean[1][0]);
}

void experiment_thesis(struct report *report, enum experiment_part part)
{
    unsigned seeds = layout_speed() == 1 ? SEEDS : 1; /* without a network nothing is random */

    run_validation(report);
    if (part == EXPERIMENT_SHORT)
        return;
    run_ideal(report);
    run_table(report, seeds);
    run_delays(report);
    run_loss(report, seeds);
    run_bursts(report, seeds);
}

/* ---- single runs, see thesis.h ---- */

struct thesis_result thesis_kernel(struct report *report, const struct thesis_run *run)
{
    static const struct condition ideal = {1, 0, 0, 1};
    const struct kernel *k = &kernels[run->kernel];
    struct condition c = {run->switches, run->load, run->delay_us, 1};
    unsigned cells = run->counted_cells ? run->counted_cells
                                        : (unsigned)report_parameter(report, "background", "buffer for virtual loss");
    double compute_s = run->computing_s >= 0 ? run->computing_s : k->ideal_s - run_kernel(report, k, &ideal, 0, 1);
    struct outcome outcome = run_counted(report, k, &c, compute_s, cells, run->seed);

    return (struct thesis_result){.seconds = outcome.seconds,
                                  .communication_s = outcome.seconds - (k->ideal_s - k->comms_s[0]),
                                  .excess = outcome.excess};
}

double thesis_burst_us(struct report *report, double load, unsigned cells, uint64_t seed)
{
    return burst_latency_us(report, load, cells, seed);
}
