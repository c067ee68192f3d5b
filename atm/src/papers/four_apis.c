/* four_apis.c - the experiments of the four-APIs paper. Its printed results are in paper_four_apis.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "reproduce/echo.h"
#include "reproduce/experiment.h"
#include "lab/layout.h"
#include "reproduce/mesh.h"
#include "reproduce/stats.h"
#include "suns_programs.h"
#include "reproduce/tables.h"

/* The running experiment. */
struct work {
    struct report *report;
    struct suns suns;
};

/* ---- echo ---- */

struct curve {
    struct report *report;
    const char *throughput, *time, *name; /* figures and curve; NULL: none */
};

static void draw(void *arg, double bytes, double trip_us)
{
    const struct curve *c = arg;

    if (c->throughput)
        report_point(c->report, c->throughput, c->name, bytes, 2 * bytes / trip_us);
    if (c->time && bytes <= 16384)
        report_point(c->report, c->time, c->name, bytes, trip_us / 1000);
}

struct bench {
    enum lab_network network;
    enum lab_stack stack;
    enum suns_layout layout;
    const struct pvma_profile *profile; /* of the adapter; NULL: the one under IP */
    double cpu;                         /* factor on costs; 0: 1 */
    uint32_t buffer_bytes;              /* of sockets; 0: 32768 */
    bool nagle;
};

/* A setup; the caller frees its topology. */
static struct lab_setup setup_of(const struct work *w, const struct bench *b, struct pvma_topology *topology,
                                 unsigned hosts)
{
    struct lab_setup setup = suns_setup(&w->suns, b->network, hosts, topology);

    if (b->cpu > 0)
        setup.costs = suns_scaled(&setup.costs, b->cpu);
    if (b->buffer_bytes > 0)
        setup.tcp.send_bytes = setup.tcp.receive_bytes = b->buffer_bytes;
    setup.tcp.no_delay = !b->nagle;
    suns_network(topology, b->layout, hosts, b->profile ? b->profile : &w->suns.adapter);
    return setup;
}

static struct echo_metrics measure(struct work *w, const struct bench *b, const char *throughput, const char *time,
                                   const char *name)
{
    struct curve curve = {w->report, throughput, time, name};
    struct pvma_topology topology;
    struct lab_setup setup = setup_of(w, b, &topology, 2);
    struct echo_metrics m = echo_measure(&setup, b->stack, name ? draw : NULL, &curve, &w->report->events);

    layout_free(&topology);
    return m;
}

static double trip_us(struct work *w, const struct bench *b, uint32_t bytes)
{
    struct pvma_topology topology;
    struct lab_setup setup = setup_of(w, b, &topology, 2);
    struct echo_result r = echo_run(&setup, b->stack, bytes, 8, 4, &w->report->events);

    layout_free(&topology);
    return r.trip_us;
}

static void set_row(struct work *w, const char *table, const char *row, struct echo_metrics m)
{
    report_set(w->report, table, row, "r_max", m.r_max, 0);
    report_set(w->report, table, row, "t_0", m.t_zero, 0);
    report_set(w->report, table, row, "n_1/2", m.n_half, 0);
}

/* The papers print no curves but what characterises them: the half of r_max at n_1/2, and twice t_0, which is a one-way
 * time, for 4 bytes. */
static void mark_printed(struct work *w, const char *throughput, const char *time, const char *table, const char *row,
                         const char *curve)
{
    struct report *r = w->report;

    report_paper_point(r, throughput, curve, report_printed(r, table, row, "n_1/2"),
                       report_printed(r, table, row, "r_max") / 2);
    report_paper_point(r, time, curve, 4, 2 * report_printed(r, table, row, "t_0") / 1000);
}

/* Whether this run is the null model. */
static bool is_null(void)
{
    return layout_speed() != 1;
}

static void run_table1(struct work *w)
{
    static const char f11a[] = "fig11a-throughput", f11b[] = "fig11b-roundtrip";
    struct report *r = w->report;
    struct echo_metrics a34 =
        measure(w, &(struct bench){.stack = LAB_FORE34, .profile = &w->suns.aal34}, f11a, f11b, "ATM AAL3/4");
    struct echo_metrics a5 =
        measure(w, &(struct bench){.stack = LAB_FORE5, .profile = &w->suns.aal5}, f11a, f11b, "ATM AAL5");
    struct echo_metrics tcp = measure(w, &(struct bench){.stack = LAB_TCP}, f11a, f11b, "stream socket");
    struct echo_metrics pvm = measure(w, &(struct bench){.stack = LAB_PVM_DIRECT}, f11a, f11b, "PVM advise");
    struct echo_metrics rpc = measure(w, &(struct bench){.stack = LAB_RPC}, f11a, f11b, "Sun RPC/XDR");

    set_row(w, FOUR_APIS_TABLE1, "ATM AAL3/4", a34);
    set_row(w, FOUR_APIS_TABLE1, "ATM AAL5", a5);
    set_row(w, FOUR_APIS_TABLE1, "stream socket TCP", tcp);
    set_row(w, FOUR_APIS_TABLE1, "PVM advise", pvm);
    set_row(w, FOUR_APIS_TABLE1, "Sun RPC/XDR", rpc);
    mark_printed(w, f11a, f11b, FOUR_APIS_TABLE1, "ATM AAL3/4", "ATM AAL3/4");
    mark_printed(w, f11a, f11b, FOUR_APIS_TABLE1, "ATM AAL5", "ATM AAL5");
    mark_printed(w, f11a, f11b, FOUR_APIS_TABLE1, "stream socket TCP", "stream socket");
    mark_printed(w, f11a, f11b, FOUR_APIS_TABLE1, "PVM advise", "PVM advise");
    mark_printed(w, f11a, f11b, FOUR_APIS_TABLE1, "Sun RPC/XDR", "Sun RPC/XDR");
    report_claim(r, "A1",
                 a5.t_zero < a34.t_zero && a34.t_zero < tcp.t_zero && tcp.t_zero < pvm.t_zero &&
                     pvm.t_zero < rpc.t_zero,
                 "%.0f, %.0f, %.0f, %.0f, %.0f us", a5.t_zero, a34.t_zero, tcp.t_zero, pvm.t_zero, rpc.t_zero);
    report_claim(r, "A2",
                 pvm.t_zero >= 3 * a5.t_zero && rpc.t_zero >= 3 * a5.t_zero && pvm.r_max < a5.r_max / 2 &&
                     rpc.r_max < a5.r_max / 2,
                 "%.1f and %.1f times; %.0f and %.0f %%", pvm.t_zero / a5.t_zero, rpc.t_zero / a5.t_zero,
                 100 * pvm.r_max / a5.r_max, 100 * rpc.r_max / a5.r_max);
    report_claim(r, "A3",
                 fabs(a5.r_max / a34.r_max - 1) < 0.1 && tcp.r_max < 0.6 * a5.r_max && pvm.r_max < tcp.r_max &&
                     rpc.r_max < tcp.r_max,
                 "%.2f, %.2f, %.2f, %.2f, %.2f MB/s", a5.r_max, a34.r_max, tcp.r_max, pvm.r_max, rpc.r_max);
}

/* The smallest size at which the ATM socket is faster than Ethernet's. */
static double crossing(struct work *w)
{
    for (uint32_t bytes = 16; bytes <= 4096; bytes += 16)
        if (trip_us(w, &(struct bench){.network = LAB_ETHERNET, .stack = LAB_TCP}, bytes) >
            trip_us(w, &(struct bench){.network = LAB_ATM, .stack = LAB_TCP}, bytes))
            return bytes;
    return INFINITY;
}

static void run_table2(struct work *w)
{
    static const char f12a[] = "fig12a-throughput", f12b[] = "fig12b-roundtrip";
    struct echo_metrics fddi = measure(w, &(struct bench){.network = LAB_FDDI, .stack = LAB_TCP}, f12a, f12b, "FDDI");
    struct echo_metrics ethernet =
        measure(w, &(struct bench){.network = LAB_ETHERNET, .stack = LAB_TCP}, f12a, f12b, "Ethernet");
    struct echo_metrics atm = measure(w, &(struct bench){.stack = LAB_TCP}, f12a, f12b, "ATM");
    double bytes = crossing(w);

    set_row(w, FOUR_APIS_TABLE2, "FDDI", fddi);
    set_row(w, FOUR_APIS_TABLE2, "Ethernet", ethernet);
    mark_printed(w, f12a, f12b, FOUR_APIS_TABLE2, "FDDI", "FDDI");
    mark_printed(w, f12a, f12b, FOUR_APIS_TABLE2, "Ethernet", "Ethernet");
    mark_printed(w, f12a, f12b, FOUR_APIS_TABLE1, "stream socket TCP", "ATM");
    report_claim_numbers(w->report, "A4", ethernet.t_zero < fddi.t_zero && ethernet.t_zero < atm.t_zero,
                         (const double[]){atm.r_max, fddi.r_max, atm.r_max / ethernet.r_max},
                         "ATM %.2f, FDDI %.2f, Ethernet %.2f MB/s", atm.r_max, fddi.r_max, ethernet.r_max);
    report_claim_numbers(w->report, "A4b", true, &bytes, "ATM is faster from %.0f B", bytes);
}

static void run_tables3_and_4(struct work *w)
{
    struct echo_metrics sba100 =
        measure(w, &(struct bench){.stack = LAB_FORE5, .profile = &w->suns.sparc1_100}, NULL, NULL, NULL);
    struct echo_metrics sba200 =
        measure(w, &(struct bench){.stack = LAB_FORE5, .profile = &w->suns.sparc1_200}, NULL, NULL, NULL);
    struct bench direct = {.stack = LAB_FORE5, .layout = SUNS_DIRECT, .profile = &w->suns.sparc1_100};

    set_row(w, FOUR_APIS_TABLE4, "SPARC 1, SBA-100", sba100);
    set_row(w, FOUR_APIS_TABLE4, "SPARC 1, SBA-200", sba200);
    report_claim(w->report, "A11", sba200.r_max > 2 * sba100.r_max, "%.2f and %.2f MB/s", sba200.r_max, sba100.r_max);
    set_row(w, FOUR_APIS_TABLE3, "SPARC 1, SBA-100", measure(w, &direct, NULL, NULL, NULL));
    direct.profile = &w->suns.sparc1_200;
    set_row(w, FOUR_APIS_TABLE3, "SPARC 1, SBA-200", measure(w, &direct, NULL, NULL, NULL));
    direct.profile = &w->suns.aal5;
    set_row(w, FOUR_APIS_TABLE3, "Sun 4/690, SBA-200", measure(w, &direct, NULL, NULL, NULL));
    direct.profile = &w->suns.sparc2;
    set_row(w, FOUR_APIS_TABLE3, "SPARC 2, SBA-200", measure(w, &direct, NULL, NULL, NULL));
}

/* ---- section 3.2: the timing abnormality ---- */

enum { GRID = 96, SIZES = 16384 / GRID };

static void mark_sizes(struct work *w, const struct bench *b, const char *name, bool slow[SIZES])
{
    struct bench quick = *b;

    quick.nagle = false;
    for (unsigned i = 0; i < SIZES; i++) {
        double with = trip_us(w, b, 4 + i * GRID), without = trip_us(w, &quick, 4 + i * GRID);
        slow[i] = with > 2 * without + 50000;
        if (name) {
            report_point(w->report, "fig8b-roundtrip", name, 4 + i * GRID, with / 1000);
            report_point(w->report, "fig8b-roundtrip", "NODELAY", 4 + i * GRID, without / 1000);
        }
    }
}

/* Sets a row to the n-th range of slow sizes. */
static void set_range(struct work *w, const bool slow[SIZES], unsigned n, const char *row)
{
    unsigned from = 0, to;

    for (;; from = to) {
        if (from == SIZES)
            return; /* there are not as many */
        while (from < SIZES && !slow[from])
            from++;
        for (to = from; to < SIZES && slow[to];)
            to++;
        if (n-- == 0)
            break;
    }
    report_set(w->report, FOUR_APIS_RANGES, row, "from", 4 + from * GRID, 0);
    report_set(w->report, FOUR_APIS_RANGES, row, "to", 4 + to * GRID, 0);
}

static void run_abnormality(struct work *w)
{
    struct bench b = {.stack = LAB_TCP, .nagle = true};
    bool slow[SIZES];

    mark_sizes(w, &b, "ATM without NODELAY", slow);
    b.network = LAB_FDDI;
    mark_sizes(w, &b, NULL, slow);
    set_range(w, slow, 0, "FDDI");
    b.network = LAB_ETHERNET;
    mark_sizes(w, &b, NULL, slow);
    set_range(w, slow, 0, "Ethernet, first");
    set_range(w, slow, 1, "Ethernet, second");
    set_range(w, slow, 2, "Ethernet, third");
}

static void run_nodelay_claims(struct work *w)
{
    struct bench b = {.stack = LAB_TCP};
    double nodelay_us = trip_us(w, &b, 8192), small_us, large_us, larger_us;

    b.nagle = true;
    small_us = trip_us(w, &b, 8192);
    large_us = trip_us(w, &b, 65536);
    larger_us = trip_us(w, &b, 32768);
    report_claim(w->report, "A5", nodelay_us < small_us / 10, "8 KB: %.1f ms with, %.0f ms without", nodelay_us / 1e3,
                 small_us / 1e3);
    report_claim(w->report, "A6", 2 * 8192 / small_us < 4096 / trip_us(w, &b, 4096), "8 KB: %.2f MB/s; 4 KB: %.2f MB/s",
                 2 * 8192 / small_us, 2 * 4096 / trip_us(w, &b, 4096));
    report_claim(w->report, "A7", 65536 / large_us < 32768 / larger_us, "64 KB: %.2f MB/s; 32 KB: %.2f MB/s",
                 2 * 65536 / large_us, 2 * 32768 / larger_us);
}

/* ---- figures 8a, 9, 10 ---- */

static void run_buffers(struct work *w)
{
    static const uint32_t sizes[] = {16384, 32768, 52224};
    static const struct {
        const char *name;
        double factor;
    } hosts[] = {{"Sun 4/690", 1}, {"SPARC 2", 469.0 / 858}, {"SPARC 1", 742.0 / 869}};
    bool grows = true;
    double rates[3][3];

    for (unsigned h = 0; h < 3; h++)
        for (unsigned i = 0; i < 3; i++) {
            struct bench b = {.stack = LAB_TCP, .cpu = hosts[h].factor, .buffer_bytes = sizes[i]};
            static const char *const names[] = {"16 KB buffers", "32 KB buffers", "51 KB buffers"};
            rates[h][i] = measure(w, &b, "fig8a-throughput", NULL, h == 0 ? names[i] : NULL).r_max;
            report_point(w->report, "fig9-buffers", hosts[h].name, sizes[i] / 1024.0, rates[h][i]);
            grows = grows && (i == 0 || rates[h][i] > rates[h][i - 1]);
        }
    report_claim(w->report, "A8", grows, "16, 32, 51 KB: 4/690 %.2f %.2f %.2f, SPARC 2 %.2f %.2f %.2f MB/s",
                 rates[0][0], rates[0][1], rates[0][2], rates[1][0], rates[1][1], rates[1][2]);
}

static void run_pvm_modes(struct work *w)
{
    struct bench normal = {.stack = LAB_PVM_DAEMON}, advise = {.stack = LAB_PVM_DIRECT};
    const struct pvma_price *pack = &w->suns.costs.pvm_send;
    double least = INFINITY, packing_us, sending_us;

    for (uint32_t bytes = 4; bytes <= 1 << 17; bytes *= 2) {
        double n = trip_us(w, &normal, bytes), a = trip_us(w, &advise, bytes);
        report_point(w->report, "fig10-pvm-modes", "PVM normal", bytes, n / 1000);
        report_point(w->report, "fig10-pvm-modes", "PVM advise", bytes, a / 1000);
        report_point(w->report, "fig10-pvm-modes", "packing alone", bytes,
                     2 * (pack->fixed_us + pack->byte_us * bytes) / 1000);
        least = fmin(least, n / a);
    }
    packing_us = 2 * (pack->fixed_us + pack->byte_us * 65536);
    sending_us = trip_us(w, &advise, 65536) - packing_us;
    report_claim(w->report, "A9", least >= 2, "normal takes at least %.1f times as long, 4 B to 128 KB", least);
    report_claim(w->report, "A10", packing_us < sending_us, "64 KB: packing %.1f, sending %.1f ms", packing_us / 1000,
                 sending_us / 1000);
}

/* ---- applications ---- */

struct row {
    const char *name;
    struct bench bench;
    double background;
};

static struct suns_program program_of(const struct row *row, unsigned n)
{
    return (struct suns_program){.stack = row->bench.stack, .background = row->background, .n = n, .computes = true};
}

/* A run of one of the programs on SPARC 2. */
static double run_program(struct work *w, const struct row *row, const struct suns_program *program, uint64_t seed,
                          double (*run)(const struct suns *, const struct lab_setup *, const struct suns_program *,
                                        unsigned long long *))
{
    struct bench b = row->bench;
    struct pvma_topology topology;
    struct lab_setup lab;
    double s;

    b.cpu = report_parameter(w->report, "SPARC 2", "CPU, as to 4/690");
    if (b.stack == LAB_FORE5)
        b.profile = &w->suns.sparc2;
    lab = setup_of(w, &b, &topology, 4);
    lab.seed = seed;
    s = run(&w->suns, &lab, program, &w->report->events);
    layout_free(&topology);
    return s;
}

static const struct row rows[] = {
    {"Fore API", {.stack = LAB_FORE5}, 0},
    {"BSD socket, ATM", {.stack = LAB_TCP}, 0},
    {"PVM, ATM", {.stack = LAB_PVM_DIRECT}, 0},
    {"BSD socket, Ethernet silent", {.network = LAB_ETHERNET, .stack = LAB_TCP}, 0},
    {"BSD socket, Ethernet 30 %", {.network = LAB_ETHERNET, .stack = LAB_TCP}, 0.3},
    {"PVM, Ethernet silent", {.network = LAB_ETHERNET, .stack = LAB_PVM_DIRECT}, 0},
    {"PVM, Ethernet 30 %", {.network = LAB_ETHERNET, .stack = LAB_PVM_DIRECT}, 0.3},
};

enum { ROWS = sizeof rows / sizeof rows[0], SEEDS = 10, SILENT = 3 /* the row that the sniffer is compared with */ };

/* Background traffic is random, so its rows are means. */
static unsigned seeds_of(const struct row *row)
{
    return row->background > 0 ? SEEDS : 1;
}

/* Without a network nothing but computing and the start takes time. The score is about what is beyond computing. */
static double set_matmul(struct work *w, const struct row *row, unsigned n, const char *column, double sequential_s)
{
    double printed = report_printed(w->report, FOUR_APIS_TABLE5, row->name, column);
    struct suns_program program = program_of(row, n);
    struct stats s = {0};

    program.sequential_s = sequential_s;
    report_beyond(w->report, FOUR_APIS_TABLE5, row->name, column, printed - sequential_s / 4, sequential_s / 4);
    if (is_null())
        stats_add(&s, suns_matmul_alone_s(&w->suns, &program));
    for (uint64_t seed = 1; seed <= seeds_of(row) && !is_null(); seed++)
        stats_add(&s, run_program(w, row, &program, seed, suns_matmul_s));
    report_set(w->report, FOUR_APIS_TABLE5, row->name, column, stats_mean(&s), stats_interval90(&s));
    report_point(w->report, "table5-matmul", row->name, n, sequential_s / stats_mean(&s));
    report_paper_point(w->report, "table5-matmul", row->name, n, sequential_s / printed);
    return stats_mean(&s);
}

static double set_pde(struct work *w, const struct row *row, unsigned n, const char *column, unsigned iterations)
{
    double printed = report_printed(w->report, FOUR_APIS_TABLE6, row->name, column), computing_s;
    struct suns_program program = program_of(row, n);
    struct stats s = {0};

    program.iterations = iterations;
    computing_s = suns_pde_computing_s(&w->suns, &program);
    report_beyond(w->report, FOUR_APIS_TABLE6, row->name, column, printed - computing_s, computing_s);
    if (is_null())
        stats_add(&s, suns_pde_alone_s(&w->suns, &program));
    for (uint64_t seed = 1; seed <= seeds_of(row) && !is_null(); seed++)
        stats_add(&s, run_program(w, row, &program, seed, suns_pde_s));
    report_set(w->report, FOUR_APIS_TABLE6, row->name, column, stats_mean(&s), stats_interval90(&s));
    if (iterations == n) {
        report_point(w->report, "table6-pde", row->name, n, (stats_mean(&s) - computing_s) / iterations * 1000);
        report_paper_point(w->report, "table6-pde", row->name, n, (printed - computing_s) / iterations * 1000);
    }
    return stats_mean(&s);
}

static void run_matmul(struct work *w)
{
    static const struct {
        unsigned n;
        const char *column;
        double sequential_s; /* Table 5, first row */
    } sizes[] = {{32, "32 x 32", .0988}, {128, "128 x 128", 6.6205}, {256, "256 x 256", 64.0001}};
    double slowest = 0, fore_s = 0, best_s = INFINITY;

    for (unsigned r = 0; r < ROWS; r++)
        for (unsigned i = 0; i < 3; i++) {
            double s = set_matmul(w, &rows[r], sizes[i].n, sizes[i].column, sizes[i].sequential_s);
            if (i < 2)
                continue;
            fore_s = r == 0 ? s : fore_s;
            slowest = fmax(slowest, s);
            best_s = fmin(best_s, s);
        }
    report_claim_numbers(
        w->report, "A12", best_s == fore_s, (const double[]){100 * (slowest / fore_s - 1), 64.0001 / fore_s},
        "%.2f to %.2f s, %.1f %%; speedup %.2f", best_s, slowest, 100 * (slowest / fore_s - 1), 64.0001 / fore_s);
}

static void run_pde(struct work *w)
{
    static const unsigned sizes[] = {16, 64, 256};
    static const char *const columns[3][2] = {{"16, N", "16, 2N"}, {"64, N", "64, 2N"}, {"256, N", "256, 2N"}};
    double times[ROWS][3];
    bool ordered = true;

    for (unsigned r = 0; r < ROWS; r++)
        for (unsigned i = 0; i < 3; i++) {
            if (rows[r].bench.stack != LAB_FORE5 && rows[r].bench.network == LAB_ATM)
                continue; /* not in the paper */
            times[r][i] = set_pde(w, &rows[r], sizes[i], columns[i][0], sizes[i]);
            if (i > 0 && r == SILENT && !is_null())
                report_set(w->report, FOUR_APIS_LOAD, i == 1 ? "64 x 64" : "256 x 256", "load",
                           100 * mesh_ethernet_load(), 0);
            set_pde(w, &rows[r], sizes[i], columns[i][1], 2 * sizes[i]);
        }
    for (unsigned i = 0; i < 3; i++)
        ordered = ordered && times[0][i] < times[3][i] && times[3][i] < times[5][i] && times[3][i] < times[4][i] &&
                  times[5][i] < times[6][i];
    report_claim(w->report, "A13", ordered, "64: Fore %.2f, sockets %.2f (loaded %.2f), PVM %.2f (loaded %.2f) s",
                 times[0][1], times[3][1], times[4][1], times[5][1], times[6][1]);
    report_claim_numbers(w->report, "A14", true, (const double[]){330.706 / times[0][2]}, "%.3f",
                         330.706 / times[0][2]);
}

void experiment_four_apis(struct report *report, enum experiment_part part)
{
    static struct work w;

    w.report = report;
    if (part == EXPERIMENT_SHORT) {
        suns_fit_fore(&w.suns, report);
        run_tables3_and_4(&w);
        return;
    }
    suns_fit(&w.suns, report);
    run_table1(&w);
    run_table2(&w);
    run_tables3_and_4(&w);
    run_abnormality(&w);
    run_nodelay_claims(&w);
    run_buffers(&w);
    run_pvm_modes(&w);
    run_matmul(&w);
    run_pde(&w);
    report->events += w.suns.events;
}
