/*
 * an2.c - the AN2 paper's programs as real PVM programs: ping-pong, and molecular dynamics between eight Alphas.
 *
 * PVM on TCP is the same library over the same circuits, where a packet costs what a segment of TCP does in the model.
 * PVM's daemons carry messages at the costs of their route.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "papers/an2.h"
#include "reproduce/real.h"

enum { PAIR = 2, HOSTS = 8, SIZES = 8, COSTS_BYTES = 128 };

struct way {
    char costs[COSTS_BYTES];
    struct real_setup setup;
};

enum { DIRECT, TCP, DAEMONS, WAYS };

/* What a packet and its bytes cost at either side. */
static void set_costs(struct way *way, double packet_us, double byte_us)
{
    snprintf(way->costs, sizeof way->costs, "tx_pdu=%.0fns rx_pdu=%.0fns tx_byte=%.0fps rx_byte=%.0fps",
             packet_us * 1e3, packet_us * 1e3, byte_us * 1e6, byte_us * 1e6);
    way->setup.costs = way->costs;
}

static void set_ways(const struct report *report, struct way ways[WAYS])
{
    double pvm_us = report_parameter(report, "Alpha", "libpvm, a message");
    double copy_us = report_parameter(report, "Alpha", "copy and check sum");

    for (unsigned i = 0; i < WAYS; i++)
        ways[i] = (struct way){.setup = {.profile = "alpha-otto-credits",
                                         .model = "an2 credits=64 buffer=64",
                                         .rate = "150.336M",
                                         .hosts = PAIR,
                                         .by_daemons = i == DAEMONS}};
    set_costs(&ways[DIRECT], report_parameter(report, "Alpha", "direct PVM, a PDU") + pvm_us,
              report_parameter(report, "Alpha", "direct PVM, copy"));
    set_costs(&ways[TCP], report_parameter(report, "Alpha", "TCP, a segment") + pvm_us, 2 * copy_us);
}

/* Figure 9. */
static void run_ping_pong(struct report *report, const struct way ways[WAYS])
{
    double ratio[SIZES], trip_us[WAYS] = {0}, longest_us = 0;
    struct real_echo echo[WAYS];
    unsigned best = 0;
    bool below = true;

    for (unsigned k = 0; k < WAYS; k++)
        real_echo(&ways[k].setup, &echo[k]);
    for (unsigned i = 0; i < SIZES; i++) {
        for (unsigned k = 0; k < WAYS; k++)
            trip_us[k] = 2 * real_echo_us(&echo[k], 64u << i);
        ratio[i] = trip_us[TCP] / trip_us[DIRECT];
        longest_us = fmax(longest_us, trip_us[TCP]);
        below = below && ratio[i] > 1.2;
        best = ratio[i] > ratio[best] ? i : best;
    }
    report_claim(report, "N5", below, "%.1f times as long at 64 B, %.1f at 8 KB (by the daemons %.1f and %.1f)",
                 ratio[0], ratio[SIZES - 1], real_echo_us(&echo[DAEMONS], 64) / real_echo_us(&echo[DIRECT], 64),
                 trip_us[DAEMONS] / trip_us[DIRECT]);
    report_claim(report, "N6", best <= 2, "%.2f at 64 B, %.2f at 8 KB, greatest at %u B: %.2f", ratio[0],
                 ratio[SIZES - 1], 64u << best, ratio[best]);
    report_claim(report, "N9", longest_us <= AN2_FIGURE9_AXIS_US, "the longest takes %.0f us", longest_us);
}

/* What exchanges take in a step, without computing. */
static double exchange_s(struct real_setup setup)
{
    static const char command[] = "molecules -u -p 8 -l 24 -n 136 -s 1"; /* halos of 1 MB */
    char text[1024];
    double seconds = 0;
    const char *at;

    setup.hosts = HOSTS;
    real_run(&setup, command, text, sizeof text);
    at = strstr(text, "exchanges ");
    if (!at || sscanf(at, "exchanges %lf s", &seconds) != 1)
        real_fail(command);
    return seconds;
}

/* It computes for seconds of real time, so there is no null model of it. */
static void run_molecules(struct report *report, const struct way ways[WAYS])
{
    double direct_s, tcp_s;

    if (real_is_null())
        return;
    direct_s = exchange_s(ways[DIRECT].setup);
    tcp_s = exchange_s(ways[TCP].setup);
    report_claim(report, "N7", tcp_s > 2 * direct_s,
                 "8 tasks exchange halos in %.3f s, by TCP in %.3f s, %.2f times as long", direct_s, tcp_s,
                 tcp_s / direct_s);
    an2_claim_whole(report, "N8", direct_s, tcp_s);
}

static void run(struct report *report)
{
    struct way ways[WAYS];

    set_ways(report, ways);
    run_ping_pong(report, ways);
    run_molecules(report, ways);
}

const struct real_experiment real_an2 = {NULL, 0, run};
