/* tum.c - the experiments of TUM-I9701. Its printed results are in paper_tum.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reproduce/experiment.h"
#include "tum_fore.h"
#include "tum_route.h"
#include "tum_streams.h"
#include "reproduce/tables.h"

enum { SEEDS = 10 };

static const double mega = 1 << 20;

struct work {
    struct report *report;
    struct tum tum;
};

static const char *const host_name[] = {"HP", "IBM", "LACE"};

/* ---- Tables 5.1 and 5.2 ---- */

static const struct {
    const char *column;
    uint32_t bytes;
} columns[] = {{"1 B", 1},     {"16 B", 16},   {"64 B", 64},   {"128 B", 128}, {"256 B", 256},
               {"512 B", 512}, {"1 KB", 1024}, {"4 KB", 4096}, {"8 KB", 8192}};

/* Bytes of a column. If 4 or 8 KB exceed the Fore API's largest PDU, the report measured that PDU instead. */
static uint32_t bytes_of(enum tum_host host, bool api, unsigned column)
{
    if (api && host == TUM_IBM && columns[column].bytes == 4096)
        return 4092;
    return api && columns[column].bytes == 8192 ? 9188 : columns[column].bytes;
}

static void run_latency(struct work *w, enum tum_host host)
{
    static const struct {
        const char *row;
        enum tum_stack stack;
        enum lab_network network;
    } rows[] = {{"API AAL3/4", TUM_API34, LAB_ATM},
                {"API AAL5", TUM_API5, LAB_ATM},
                {"TCP ATM", TUM_TCP, LAB_ATM},
                {"TCP Ethernet", TUM_TCP, LAB_ETHERNET},
                {"UDP ATM", TUM_UDP, LAB_ATM}};
    const char *table = host == TUM_HP ? TUM_TABLE1 : TUM_TABLE2;

    for (unsigned r = 0; r < 5; r++)
        for (unsigned c = 0; c < 9; c++) {
            bool api = r < 2;
            struct tum_run run = {.host = host, .stack = rows[r].stack, .network = rows[r].network};
            uint32_t bytes = bytes_of(host, api, c);
            double us;

            if (api && host == TUM_IBM && c == 8)
                continue; /* above its MTU */
            us = tum_latency_us(&w->tum, &run, bytes);
            report_set(w->report, table, rows[r].row, columns[c].column, us / 1000, 0);
            report_point(w->report, host == TUM_HP ? "latency-hp" : "latency-ibm", rows[r].row, bytes, us / 1000);
            report_paper_point(w->report, host == TUM_HP ? "latency-hp" : "latency-ibm", rows[r].row, bytes,
                               report_printed(w->report, table, rows[r].row, columns[c].column));
        }
}

static void claim_aals(struct work *w)
{
    struct tum_run five = {.host = TUM_HP, .stack = TUM_API5}, three = {.host = TUM_HP, .stack = TUM_API34};
    double small = tum_latency_us(&w->tum, &three, 1024) - tum_latency_us(&w->tum, &five, 1024);
    double large = tum_latency_us(&w->tum, &three, 9188) - tum_latency_us(&w->tum, &five, 9188);

    report_claim(w->report, "H6", small > 0 && large > small, "%.0f us at 1 KB, %.0f at 9188 B; 192 and 209 cells",
                 small, large);
}

/* Steps of one cell at n + 8 = 48 k + 1. */
static void claim_sawtooth(struct work *w)
{
    struct tum_run run = {.host = TUM_IBM, .stack = TUM_API5};
    unsigned steps = 0;
    bool right = true;
    double before = tum_latency_us(&w->tum, &run, 2000);

    for (uint32_t bytes = 2008; bytes <= 2488; bytes += 8) {
        double us = tum_latency_us(&w->tum, &run, bytes);
        bool cell_more = (bytes + 8 + 47) / 48 > (bytes - 8 + 8 + 47) / 48, stepped = us - before > 2.0;

        right = right && cell_more == stepped;
        steps += stepped;
        report_point(w->report, "sawtooth", "IBM, AAL5, MB/s in latency", bytes, bytes / us);
        before = us;
    }
    report_claim(w->report, "H7", right && steps == 10, "%u steps in 480 B, each where a cell is added", steps);
}

/* ---- streams ---- */

/* The receiver's throughput in 2^20 Mbit/s. */
static double tcp_stream(struct work *w, enum tum_host host, enum lab_network network, uint32_t buffer_bytes,
                         uint32_t block_bytes)
{
    struct tum_run run = {.host = host, .stack = TUM_TCP, .network = network, .buffer_bytes = buffer_bytes};

    return tum_stream(&w->tum, &run, block_bytes, 0).receiver;
}

static struct tum_rates paced_datagrams(struct work *w, enum tum_host host)
{
    struct tum_run run = {.host = host, .stack = TUM_UDP};

    return tum_paced_stream(&w->tum, &run, 8192);
}

/* A flood of UDP datagrams to a host that reads them one by one. */
static void claim_pacing(struct work *w)
{
    struct tum_run run = {.host = TUM_HP, .stack = TUM_UDP};
    struct tum_rates flood = tum_stream(&w->tum, &run, 8192, 0), paced = paced_datagrams(w, TUM_HP);

    report_claim(w->report, "H8", flood.percent < 80 && paced.percent >= 90,
                 "HP, UDP of 8 KB: %.0f %% arrive unpaced (%.1f Mbit/s), %.0f %% paced (%.1f Mbit/s)", flood.percent,
                 flood.receiver, paced.percent, paced.receiver);
}

/* Messages as long as the socket buffers and twice as long, compared with the best of the shorter ones. */
static void claim_long_messages(struct work *w)
{
    static const uint32_t buffers[] = {8, 16, 32};
    double best[3] = {0}, equal[3], beyond[3];
    bool falls = true;

    for (unsigned i = 0; i < 3; i++) {
        for (uint32_t kb = 1; kb < buffers[i]; kb *= 2)
            best[i] = fmax(best[i], tcp_stream(w, TUM_HP, LAB_ATM, buffers[i] << 10, kb << 10));
        equal[i] = tcp_stream(w, TUM_HP, LAB_ATM, buffers[i] << 10, buffers[i] << 10);
        beyond[i] = tcp_stream(w, TUM_HP, LAB_ATM, buffers[i] << 10, buffers[i] << 11);
        falls = falls && equal[i] < best[i] && beyond[i] < best[i];
    }
    report_claim(w->report, "H4", falls,
                 "8, 16, 32 KB buffers: %.1f, %.1f, %.1f Mbit/s at best, %.1f, %.1f, %.1f as long, %.1f, %.1f, %.1f "
                 "twice",
                 best[0], best[1], best[2], equal[0], equal[1], equal[2], beyond[0], beyond[1], beyond[2]);
}

static void claim_ethernet(struct work *w)
{
    const double mbits[] = {tcp_stream(w, TUM_HP, LAB_ETHERNET, 32768, 8192),
                            tcp_stream(w, TUM_IBM, LAB_ETHERNET, 32768, 8192)};

    report_claim_numbers(w->report, "H21", true, mbits, "HP %.1f, IBM %.1f Mbit/s with 8 KB", mbits[0], mbits[1]);
}

/* From 8 KB on, two lengths of message differ by less than 5 % with the same buffers. */
static void claim_constant(struct work *w)
{
    static const uint32_t buffers[] = {16384, 32768, 65535};
    double least[3], most[3];
    bool constant = true;

    for (unsigned i = 0; i < 3; i++) {
        least[i] = INFINITY;
        most[i] = 0;
        for (uint32_t bytes = 8192; bytes <= 65536; bytes *= 2) {
            double mbits = tcp_stream(w, TUM_IBM, LAB_ATM, buffers[i], bytes);
            least[i] = fmin(least[i], mbits);
            most[i] = fmax(most[i], mbits);
        }
        constant = constant && least[i] > 0.95 * most[i];
    }
    report_claim(w->report, "H22", constant, "16 KB buffers %.1f to %.1f, 32 KB %.1f to %.1f, 64 KB %.1f to %.1f",
                 least[0], most[0], least[1], most[1], least[2], most[2]);
}

static void run_streams(struct work *w)
{
    struct report *r = w->report;
    double small = tcp_stream(w, TUM_HP, LAB_ATM, 8192, 16384), large = tcp_stream(w, TUM_HP, LAB_ATM, 57344, 16384);
    bool grows = true;
    double before = 0;

    report_set(r, TUM_TESTS, "HP, TCP, 56 KB buffers, 8 KB", "stream", tcp_stream(w, TUM_HP, LAB_ATM, 57344, 8192), 0);
    report_set(r, TUM_TESTS, "HP, TCP, 56 KB buffers, 16 KB", "stream", large, 0);
    report_set(r, TUM_TESTS, "HP, TCP, 8 KB buffers, 16 KB", "stream", small, 0);
    report_set(r, TUM_TESTS, "IBM, TCP, 64 KB buffers, 8 KB", "stream", tcp_stream(w, TUM_IBM, LAB_ATM, 65535, 8192),
               0);
    report_set(r, TUM_TESTS, "HP, UDP, 8 KB, paced", "stream", paced_datagrams(w, TUM_HP).receiver, 0);
    report_set(r, TUM_TESTS, "IBM, UDP, 8 KB, paced", "stream", paced_datagrams(w, TUM_IBM).receiver, 0);
    report_set(r, TUM_TESTS, "HP, TCP, 32 KB buffers, 16 KB", "stream", tcp_stream(w, TUM_HP, LAB_ATM, 32768, 16384),
               0);
    report_set(r, TUM_TESTS, "IBM, TCP, 32 KB buffers, 8 KB", "stream", tcp_stream(w, TUM_IBM, LAB_ATM, 32768, 8192),
               0);
    report_set(r, TUM_TESTS, "IBM, TCP, 64 KB buffers, 16 KB", "stream", tcp_stream(w, TUM_IBM, LAB_ATM, 65535, 16384),
               0);
    claim_ethernet(w);
    claim_constant(w);
    report_paper_point(r, "test2-buffers", "IBM", 64,
                       report_printed(r, TUM_TESTS, "IBM, TCP, 64 KB buffers, 8 KB", "stream"));
    for (uint32_t kb = 4; kb <= 56; kb += 4) {
        double hp = tcp_stream(w, TUM_HP, LAB_ATM, kb << 10, 8192);
        report_point(r, "test2-buffers", "HP", kb, hp);
        report_point(r, "test2-buffers", "IBM", kb, tcp_stream(w, TUM_IBM, LAB_ATM, kb << 10, 8192));
        grows = grows && hp > 0.9 * before;
        before = fmax(hp, before);
    }
    report_claim_numbers(r, "H3", grows, (const double[]){large / small}, "%.2f%s", large / small,
                         grows ? "" : ", but not with each step");
    claim_long_messages(w);
    report_claim(r, "H15", pvma_aal_cells(PVMA_AAL5, 8192 + 28 + 8) == 172, "%.2f",
                 8192 * 8 / (172 * PVMA_CELL_BITS / 149.76e6) / mega);
}

/* ---- PVM ---- */

static double pvm_us(struct work *w, enum tum_host host, enum lab_network network, enum tum_stack stack, uint32_t bytes)
{
    struct tum_run run = {.host = host, .stack = stack, .network = network};

    return tum_latency_us(&w->tum, &run, bytes);
}

static void run_rates(struct work *w, double rate[TUM_HOSTS][12])
{
    static const char *const sizes[] = {"64 B", "128 B", "256 B", "512 B", "1 KB",  "2 KB",
                                        "4 KB", "8 KB",  "16 KB", "32 KB", "64 KB", "128 KB"};

    for (enum tum_host host = TUM_HP; host <= TUM_LACE; host++)
        for (unsigned i = 0; i < 12; i++) {
            rate[host][i] = (64u << i) / pvm_us(w, host, LAB_ATM, TUM_PVM_DIRECT, 64u << i);
            report_set(w->report, TUM_TABLE3, host_name[host], sizes[i], rate[host][i], 0);
            report_point(w->report, "table5-3-pvm-direct", host_name[host], 64u << i, rate[host][i]);
            report_paper_point(w->report, "table5-3-pvm-direct", host_name[host], 64u << i,
                               report_printed(w->report, TUM_TABLE3, host_name[host], sizes[i]));
        }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A run of 100 round trips on the report's Ethernet; the median of ten, since a lost frame costs a second. */
static double pvm_ethernet_us(struct work *w, enum tum_host host, uint32_t bytes)
{
    struct tum_run run = {.host = host, .stack = TUM_PVM_DIRECT, .network = LAB_ETHERNET};
    double loss = report_parameter(w->report, "network", "PVM's Ethernet, frames lost") / 100, us[SEEDS];

    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        us[seed - 1] = tum_lossy_latency_us(&w->tum, &run, bytes, loss, seed);
    qsort(us, SEEDS, sizeof us[0], by_size);
    return (us[SEEDS / 2 - 1] + us[SEEDS / 2]) / 2;
}

static void run_pvm_latency(struct work *w)
{
    static const struct {
        const char *column;
        uint32_t bytes;
    } sizes[] = {{"0 B", 0},     {"1 B", 1},     {"4 B", 4},     {"16 B", 16},
                 {"128 B", 128}, {"1 KB", 1024}, {"4 KB", 4096}, {"16 KB", 16384}};

    for (enum tum_host host = TUM_HP; host <= TUM_LACE; host++)
        for (unsigned i = 0; i < 8; i++) {
            double ms = pvm_us(w, host, LAB_ATM, TUM_PVM_DIRECT, sizes[i].bytes) / 1000;
            char row[32];

            snprintf(row, sizeof row, "%s ATM", host_name[host]);
            report_set(w->report, TUM_TABLE4, row, sizes[i].column, ms, 0);
            report_point(w->report, "table5-4-pvm-latency", row, sizes[i].bytes, ms);
            report_paper_point(w->report, "table5-4-pvm-latency", row, sizes[i].bytes,
                               report_printed(w->report, TUM_TABLE4, row, sizes[i].column));
            if (host == TUM_LACE)
                continue;
            ms = pvm_ethernet_us(w, host, sizes[i].bytes) / 1000;
            snprintf(row, sizeof row, "%s Ethernet", host_name[host]);
            report_set(w->report, TUM_TABLE4, row, sizes[i].column, ms, 0);
            report_point(w->report, "table5-4-pvm-latency", row, sizes[i].bytes, ms);
            report_paper_point(w->report, "table5-4-pvm-latency", row, sizes[i].bytes,
                               report_printed(w->report, TUM_TABLE4, row, sizes[i].column));
        }
}

static void claim_direct(struct work *w, double rate[TUM_HOSTS][12])
{
    struct tum_run tcp = {.host = TUM_HP, .stack = TUM_TCP, .buffer_bytes = 32768};
    double raw[2], raw_small[2], small_atm, small_eth, times4, times16;
    struct report *r = w->report;

    for (enum tum_host host = TUM_HP; host <= TUM_IBM; host++) {
        raw[host] = tcp_stream(w, host, LAB_ATM, 32768, 32768) * mega / 8 / 1e6;
        tcp.host = host;
        raw_small[host] = pvm_us(w, host, LAB_ATM, TUM_PVM_DIRECT, 1) / tum_latency_us(&w->tum, &tcp, 1);
    }
    report_claim_numbers(r, "H5", true,
                         (const double[]){100 * (1 - rate[0][11] / raw[0]), 100 * (1 - rate[1][11] / raw[1]),
                                          raw_small[0], raw_small[1]},
                         "%.1f and %.1f %% of throughput, latency %.1f and %.1f times",
                         100 * (1 - rate[0][11] / raw[0]), 100 * (1 - rate[1][11] / raw[1]), raw_small[0],
                         raw_small[1]);
    small_atm = pvm_us(w, TUM_HP, LAB_ATM, TUM_PVM_DIRECT, 16);
    small_eth = pvm_ethernet_us(w, TUM_HP, 16);
    times4 = pvm_ethernet_us(w, TUM_HP, 4096) / pvm_us(w, TUM_HP, LAB_ATM, TUM_PVM_DIRECT, 4096);
    times16 = pvm_ethernet_us(w, TUM_HP, 16384) / pvm_us(w, TUM_HP, LAB_ATM, TUM_PVM_DIRECT, 16384);
    report_claim_numbers(r, "H10", true, (const double[]){small_eth / small_atm, times4, times16},
                         "HP: %.2f times at 16 B, %.1f at 4 KB, %.1f at 16 KB", small_eth / small_atm, times4, times16);
}

/* Both hosts by each route. */
static void run_times(struct work *w, struct tum_times *times)
{
    for (enum tum_host host = TUM_HP; host <= TUM_IBM; host++)
        for (enum tum_way way = TUM_DIRECT; way < TUM_WAYS; way++)
            for (unsigned i = 0; i < TUM_SIZES; i++) {
                struct tum_run run = {.host = host,
                                      .stack = way == TUM_DIRECT ? TUM_PVM_DIRECT : TUM_PVM_DAEMON,
                                      .daemon_on_api = way == TUM_BY_FORE};
                times->us[host][way][i] = tum_latency_us(&w->tum, &run, tum_size[i]);
            }
}

static void run_route(struct work *w)
{
    static struct tum_times times;
    struct report *r = w->report;
    double ethernet[2], packets[3];

    run_times(w, &times);
    tum_set_route(r, &times, report_set);
    tum_claim_route(r, &times);
    for (enum tum_host host = TUM_HP; host <= TUM_IBM; host++)
        ethernet[host] =
            pvm_us(w, host, LAB_ETHERNET, TUM_PVM_DAEMON, TUM_LONG) / tum_time_us(&times, host, TUM_BY_UDP, TUM_LONG);
    for (unsigned i = 0; i < 3; i++) {
        struct tum_run run = {.host = TUM_HP, .stack = TUM_PVM_DAEMON, .daemon_packet_bytes = 4096u << i};
        packets[i] = TUM_LONG / tum_latency_us(&w->tum, &run, TUM_LONG);
    }
    report_claim_numbers(r, "H11", true, ethernet, "HP %.1f, IBM %.1f times", ethernet[0], ethernet[1]);
    report_claim(r, "H12", packets[1] <= packets[0] && packets[2] <= packets[0],
                 "HP: %.2f, %.2f, %.2f MB/s with 4, 8, 16 KB", packets[0], packets[1], packets[2]);
}

void experiment_tum(struct report *report, enum experiment_part part)
{
    static struct work w;
    static double rate[TUM_HOSTS][12];

    w.report = report;
    tum_fit(&w.tum, report, part == EXPERIMENT_SHORT);
    run_latency(&w, TUM_HP);
    claim_aals(&w);
    claim_sawtooth(&w);
    if (part == EXPERIMENT_SHORT) {
        report->events += w.tum.events;
        return;
    }
    run_latency(&w, TUM_IBM);
    run_streams(&w);
    tum_run_fore(&w.tum, report);
    claim_pacing(&w);
    run_rates(&w, rate);
    run_pvm_latency(&w);
    claim_direct(&w, rate);
    run_route(&w);
    report->events += w.tum.events;
}
