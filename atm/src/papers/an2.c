/* an2.c - the experiments of the AN2 paper. Its printed results are in paper_an2.c. */
#include <math.h>
#include <stdio.h>
#include "an2.h"
#include "reproduce/echo.h"
#include "reproduce/experiment.h"
#include "lab/layout.h"
#include "reproduce/mesh.h"
#include "reproduce/stats.h"
#include "reproduce/stream.h"
#include "reproduce/udp_echo.h"
#include "reproduce/tables.h"

enum { SESSIONS = 6, SEEDS = 6, FAR_CREDITS = 64, MD_STEPS = 2 };

static const pvma_ps four_km = 20 * PVMA_US;

static struct pvma_profile adapter(unsigned credits)
{
    struct pvma_profile p = layout_profile("OTTO");

    layout_cost(&p, PVMA_COST_tx_cell, 0.2);
    layout_cost(&p, PVMA_COST_rx_cell, 0.2);
    p.cost[PVMA_COST_credits] = credits;
    p.cost[PVMA_COST_turn] = 1; /* VCs take turns cell by cell, as in the switch */
    p.cost[PVMA_COST_mtu] = 9188;
    return p;
}

/* The AN2: with credits, senders wait for them; without, a VC's queue overflows. */
static struct pvma_switch_options an2(unsigned credits, pvma_ps latency)
{
    return (struct pvma_switch_options){.model = PVMA_CROSSBAR,
                                        .ports = 16,
                                        .latency = latency,
                                        .buffer = PVMA_BUFFER_FINITE,
                                        .buffer_cells = credits ? credits : 256,
                                        .credits = credits,
                                        .iterations = 4};
}

/*
 * Switches with the paper's fabric speed: the crossbar's slot is a cell's time on the switch's fastest link, so each
 * switch gets one such link, to a host without traffic.
 */
static void add_switches(struct pvma_topology *t, unsigned count, unsigned numbers[],
                         const struct pvma_switch_options *options, const struct pvma_profile *profile)
{
    char name[16];

    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "s%u", i + 1);
        numbers[i] = layout_switch(t, name, options);
        snprintf(name, sizeof name, "fabric-s%u", i + 1);
        layout_link(t, layout_host(t, name, profile), numbers[i], 800000000, PVMA_NS);
    }
}

static struct pvma_host_costs alpha(const struct report *r)
{
    double segment_us = report_parameter(r, "Alpha", "TCP, a segment");
    double ack_us = report_parameter(r, "Alpha", "acknowledgement"),
           udp_us = report_parameter(r, "Alpha", "UDP, a datagram");
    double copy = report_parameter(r, "Alpha", "copy and check sum"),
           pvm_us = report_parameter(r, "Alpha", "libpvm, a message");

    return (struct pvma_host_costs){.tcp_out = {segment_us, 0},
                                    .tcp_in = {segment_us, 0},
                                    .ack_out = {ack_us, 0},
                                    .ack_in = {ack_us, 0},
                                    .udp_out = {udp_us, copy},
                                    .udp_in = {udp_us, copy},
                                    .pvm_send = {pvm_us, copy},
                                    .pvm_receive = {pvm_us, copy}};
}

static const struct pvma_tcp_settings ttcp = {
    .send_bytes = 65535, .receive_bytes = 65535, .no_delay = true, .update_percent = 35};

/* ---- parking lot ---- */

/*
 *   h1 h2 h3 - s1 ==L1== s2 ==L2== s3 - h7 h8      A h1-h5, B h2-h6, C h3-h7 over both links, D h4-h8
 *                        |
 *                    h4 h5 h6
 */
static void layout_parking(struct pvma_topology *t, const struct pvma_profile *profile)
{
    static const unsigned at[] = {0, 0, 0, 1, 1, 1, 2, 2};
    struct pvma_switch_options options = an2(FAR_CREDITS, 12 * PVMA_US);
    unsigned host, switches[3];

    layout_begin(t, "parking lot");
    host = layout_hosts(t, 8, profile);
    add_switches(t, 3, switches, &options, profile);
    for (unsigned i = 0; i < 8; i++)
        layout_link(t, host + i, switches[at[i]], PVMA_RATE_AN2, four_km);
    layout_link(t, switches[0], switches[1], PVMA_RATE_AN2, four_km);
    layout_link(t, switches[1], switches[2], PVMA_RATE_AN2, four_km);
}

void an2_parking(struct report *r, double mbits[4])
{
    static const unsigned from[] = {0, 1, 2, 3}, to[] = {4, 5, 6, 7};
    struct pvma_profile profile = adapter(FAR_CREDITS);
    struct pvma_topology topology;
    struct lab_setup setup = {.hosts = 8, .topology = &topology, .costs = alpha(r), .seed = 1};
    struct stream streams[4];
    uint64_t before[4];
    static struct lab lab;

    layout_parking(&topology, &profile);
    lab_open(&lab, &setup);
    for (unsigned i = 0; i < 4; i++)
        stream_start(&streams[i], &lab, from[i], to[i], &ttcp, 32768, i * 1000);
    lab_run(&lab, 1.0);
    for (unsigned i = 0; i < 4; i++)
        before[i] = streams[i].received;
    lab_run(&lab, 1.0);
    for (unsigned i = 0; i < 4; i++) {
        mbits[i] = (double)(streams[i].received - before[i]) * 8 / 1e6;
        stream_free(&streams[i]);
    }
    lab_close(&lab, &r->events);
    layout_free(&topology);
}

static void run_parking(struct report *r)
{
    static const char *const names[] = {"session A", "session B", "session C", "session D"};
    double rate[4];

    an2_parking(r, rate);
    for (unsigned i = 0; i < 4; i++)
        report_set(r, AN2_PARKING, names[i], "throughput", rate[i], 0);
    report_claim_numbers(r, "N1", true, (const double[]){rate[1] / rate[0], rate[2] / rate[0], rate[3] / rate[0]},
                         "%.1f, %.1f, %.1f and %.1f Mbit/s", rate[0], rate[1], rate[2], rate[3]);
}

void an2_shares(double mbits[4])
{
    static const uint64_t flows[] = {1, 1, 3, 2};
    double bandwidth = 150.336 * 48 / 53 * (9188 - 8 - 40) / 9188, capacity[] = {bandwidth, bandwidth};

    pvma_fair_shares(flows, 4, capacity, 2, mbits);
}

static void run_shares(struct report *r)
{
    double share[4];

    an2_shares(share);
    report_set(r, "Equations 3 and 4: max-min fair shares", "A, B, C", "share", share[2], 0);
    report_set(r, "Equations 3 and 4: max-min fair shares", "D", "share", share[3], 0);
}

/* ---- congestion ---- */

/* `side` hosts at each of two switches, with one link between the switches. */
static void layout_halves(struct pvma_topology *t, const char *name, unsigned side, unsigned credits, pvma_ps cable,
                          const struct pvma_profile *profile)
{
    struct pvma_switch_options options = an2(credits, 12 * PVMA_US);
    unsigned host, switches[2];

    layout_begin(t, name);
    host = layout_hosts(t, 2 * side, profile);
    add_switches(t, 2, switches, &options, profile);
    for (unsigned i = 0; i < 2 * side; i++)
        layout_link(t, host + i, switches[i / side], PVMA_RATE_AN2, cable);
    layout_link(t, switches[0], switches[1], PVMA_RATE_AN2, cable);
}

struct loss {
    double cells, packets, mbits;
};

static struct loss congest(struct report *r, unsigned sessions, unsigned credits, uint64_t seed)
{
    static struct lab lab;
    struct pvma_profile profile = adapter(credits);
    struct pvma_topology topology;
    struct lab_setup setup = {
        .hosts = 2 * SESSIONS, .topology = &topology, .costs = alpha(r), .ip_mtu = 8192 + 40, .seed = seed};
    struct stream streams[SESSIONS];
    struct pvma_tcp_settings settings = ttcp;
    struct pvma_random starts;
    const struct pvma_switch_counters *counters;
    uint64_t sent = 0, resent = 0, bytes = 0;
    struct loss loss;

    pvma_random_init(&starts, seed, "starts");
    layout_halves(&topology, "congestion", SESSIONS, credits, 500 * PVMA_NS, &profile);
    lab_open(&lab, &setup);
    settings.tick = (pvma_ps)(report_parameter(r, "simulation of figure 11", "TCP timer's tick") * 1e9);
    settings.delay_tick = settings.tick;
    settings.no_fast_retransmit = true;
    for (unsigned i = 0; i < sessions; i++)
        stream_start(&streams[i], &lab, i, SESSIONS + i, &settings, 32768, (double)pvma_random_below(&starts, 20000));
    lab_run(&lab, 1.0);
    for (unsigned i = 0; i < sessions; i++) {
        sent += streams[i].from.counters.segments_sent;
        resent += streams[i].from.counters.resent;
        bytes += streams[i].received;
        stream_free(&streams[i]);
    }
    counters = pvma_switch_counters(pvma_net_switch(lab.net, "s1"));
    loss.cells = 100.0 * (double)counters->dropped / (double)(counters->cells_in ? counters->cells_in : 1);
    loss.packets = 100.0 * (double)resent / (double)(sent ? sent : 1);
    loss.mbits = (double)bytes * 8 / 1e6;
    lab_close(&lab, &r->events);
    layout_free(&topology);
    return loss;
}

static void run_congestion(struct report *r, unsigned seeds)
{
    static const char *const rows[] = {"without credits", "with credits"};
    static const unsigned credits[] = {0, 5};
    struct stats cells[2] = {{0}}, packets[2] = {{0}}, rate[2] = {{0}};

    for (int i = 0; i < 2; i++) {
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            struct loss loss = congest(r, SESSIONS, credits[i], seed);
            stats_add(&cells[i], loss.cells);
            stats_add(&packets[i], loss.packets);
            stats_add(&rate[i], loss.mbits);
        }
        report_point(r, "fig11-loss", "cells", credits[i], stats_mean(&cells[i]));
        report_point(r, "fig11-loss", "packets", credits[i], stats_mean(&packets[i]));
        report_paper_point(r, "fig11-loss", "cells", credits[i], report_printed(r, AN2_CONGESTION, rows[i], "cells"));
        report_paper_point(r, "fig11-loss", "packets", credits[i],
                           report_printed(r, AN2_CONGESTION, rows[i], "packets"));
        report_set(r, AN2_CONGESTION, rows[i], "cells", stats_mean(&cells[i]), stats_interval90(&cells[i]));
        report_set(r, AN2_CONGESTION, rows[i], "packets", stats_mean(&packets[i]), stats_interval90(&packets[i]));
    }
    report_set(r, AN2_CONGESTION, "one session alone", "throughput", congest(r, 1, 0, 1).mbits, 0);
    report_claim_numbers(r, "N2", stats_mean(&cells[0]) > 0,
                         (const double[]){stats_mean(&packets[0]) / fmax(stats_mean(&cells[0]), 1e-9)},
                         "%.1f %% of cells, %.1f %% of packets", stats_mean(&cells[0]), stats_mean(&packets[0]));
    report_claim(r, "N3", stats_mean(&cells[1]) == 0 && stats_mean(&rate[1]) > stats_mean(&rate[0]),
                 "%.1f Mbit/s instead of %.1f", stats_mean(&rate[1]), stats_mean(&rate[0]));
}

/* ---- UDP echo under load ---- */

enum { ECHO_ROUNDS = 200 };

/* h1 to h4 at one switch, h5 to h8 at the other, as in figure 6. h1 and h5 run the echo, the others stream. */
static void layout_fan(struct pvma_topology *t, const struct pvma_profile *profile)
{
    layout_halves(t, "fan", 4, FAR_CREDITS, four_km, profile);
}

static struct stats echo_under(struct report *r, uint32_t bytes, unsigned streams_count)
{
    static struct udp_echo e;
    struct pvma_profile profile = adapter(FAR_CREDITS);
    struct pvma_topology topology;
    struct lab_setup setup = {.hosts = 8, .topology = &topology, .costs = alpha(r), .seed = 1};
    struct stream streams[3];

    e = (struct udp_echo){.server_host = 4,
                          .bytes = bytes,
                          .rounds = ECHO_ROUNDS,
                          .begin_us = 200000, /* after the streams have started */
                          .pause_us = 137};   /* so that rounds and streams do not run in phase */
    layout_fan(&topology, &profile);
    udp_echo_open(&e, &setup);
    for (unsigned i = 0; i < streams_count; i++)
        stream_start(&streams[i], &e.lab, i + 1, i + 5, &ttcp, 32768, i * 1000);
    udp_echo_run(&e, 20);
    for (unsigned i = 0; i < streams_count; i++)
        stream_free(&streams[i]);
    udp_echo_close(&e, &r->events);
    layout_free(&topology);
    return e.trips;
}

/*
 * The theoretical bound of equation 1: the unloaded round trip, plus one cell of each stream for each cell of the
 * packet, on the path that they share.
 */
static double bound_us(double unloaded_us, uint32_t bytes, unsigned streams)
{
    double cell_us = PVMA_CELL_BITS / 150.336;

    return unloaded_us + streams * pvma_aal_cells(PVMA_AAL5, bytes + 36) * cell_us;
}

static void run_echo(struct report *r)
{
    static const uint32_t sizes[] = {64, 128, 256, 512, 1024, 2048};
    static const char *const curves[] = {"no TTCP", "1 TTCP", "2 TTCP", "3 TTCP"};
    bool grows = true;
    double least = INFINITY, most = 0;

    for (unsigned i = 0; i < 6; i++) {
        double unloaded_us = 0, before_us = 0;
        for (unsigned n = 0; n <= 3; n++) {
            struct stats s = echo_under(r, sizes[i], n);
            double mean_us = stats_mean(&s), ratio;
            char row[32];

            unloaded_us = n == 0 ? mean_us : unloaded_us;
            ratio = mean_us / bound_us(unloaded_us, sizes[i], n);
            report_point(r, "fig7-echo", curves[n], sizes[i], mean_us);
            grows = grows && mean_us >= before_us;
            least = fmin(least, ratio);
            most = fmax(most, ratio);
            before_us = mean_us;
            snprintf(row, sizeof row, "%u B, %u TTCP", sizes[i], n);
            if (n >= 2 && (sizes[i] == 64 || sizes[i] == 512 || sizes[i] == 2048))
                report_set(r, AN2_ECHO, row, "ratio", ratio, stats_interval90(&s) / mean_us * ratio);
        }
    }
    report_claim_numbers(r, "N4", grows, (const double[]){least, most}, "%.2f to %.2f of the bound", least, most);
}

/* ---- PVM ---- */

/* The setup of eight Alphas; the caller frees the topology. */
static struct lab_setup pvm_setup(struct report *r, enum lab_stack stack, struct pvma_profile *profile,
                                  struct pvma_topology *topology)
{
    struct lab_setup setup = {.hosts = 8, .topology = topology, .costs = alpha(r), .tcp = ttcp, .seed = 1};

    *profile = adapter(FAR_CREDITS);
    setup.pvm_fragment_bytes = (uint32_t)report_parameter(r, "Alpha", "PVM fragment, data");
    if (stack == LAB_FORE5) { /* PVM directly on the adapter: libpvm, the driver and one copy */
        double us =
            report_parameter(r, "Alpha", "direct PVM, a PDU") + report_parameter(r, "Alpha", "libpvm, a message");
        layout_cost(profile, PVMA_COST_tx_pdu, us);
        layout_cost(profile, PVMA_COST_rx_pdu, us);
        layout_cost(profile, PVMA_COST_tx_byte, report_parameter(r, "Alpha", "direct PVM, copy"));
        layout_cost(profile, PVMA_COST_rx_byte, report_parameter(r, "Alpha", "direct PVM, copy"));
    }
    setup.costs.tcp_out.byte_us = setup.costs.tcp_in.byte_us = report_parameter(r, "Alpha", "copy and check sum");
    layout_fan(topology, profile);
    return setup;
}

static double pvm_trip(struct report *r, enum lab_stack stack, uint32_t bytes)
{
    struct pvma_profile profile;
    struct pvma_topology topology;
    struct lab_setup setup = pvm_setup(r, stack, &profile, &topology);
    struct echo_result result = echo_run(&setup, stack, bytes, bytes > 65536 ? 1 : 4, 2, &r->events);

    layout_free(&topology);
    return result.trip_us;
}

double an2_molecules_s(struct report *r, enum lab_stack stack)
{
    struct pvma_profile profile;
    struct pvma_topology topology;
    struct mesh_setup setup = {.stack = stack, .nodes = 8, .iterations = MD_STEPS, .halo_bytes = 1 << 20};
    double s;

    setup.lab = pvm_setup(r, stack, &profile, &topology);
    s = mesh_molecules(&setup, &r->events);
    layout_free(&topology);
    return s / MD_STEPS;
}

void an2_claim_whole(struct report *r, const char *id, double direct_s, double tcp_s)
{
    double step_s = report_parameter(r, "Alpha", "molecules, a step");
    double gain = 1 - (step_s + direct_s) / (step_s + tcp_s);

    report_claim(r, id, gain < AN2_LITTLE, "%.1f %% of a step with %.0f s of computing; 10 %% with %.1f s", gain * 100,
                 step_s, (tcp_s - direct_s) / AN2_LITTLE - tcp_s);
}

static void run_pvm(struct report *r)
{
    double ratio[8], tcp_s, direct_s;
    unsigned best = 0;
    double longest_us = 0;
    bool below = true;

    for (unsigned i = 0; i < 8; i++) {
        uint32_t bytes = 64u << i;
        double tcp_us = pvm_trip(r, LAB_PVM_DIRECT, bytes), direct_us = pvm_trip(r, LAB_FORE5, bytes);

        ratio[i] = tcp_us / direct_us;
        report_point(r, "fig9-pvm-roundtrip", "PVM on TCP/ATM", bytes, tcp_us);
        report_point(r, "fig9-pvm-roundtrip", "PVM on ATM", bytes, direct_us);
        longest_us = fmax(longest_us, tcp_us);
        below = below && ratio[i] > 1.2; /* beyond the 20 % within which two are alike */
        best = ratio[i] > ratio[best] ? i : best;
    }
    report_claim(r, "N5", below, "%.1f times as long at 64 B, %.1f at 8 KB", ratio[0], ratio[7]);
    report_claim(r, "N6", best <= 2, "%.2f at 64 B, %.2f at 8 KB, greatest at %u B: %.2f", ratio[0], ratio[7],
                 64u << best, ratio[best]);
    tcp_s = an2_molecules_s(r, LAB_PVM_DIRECT);
    direct_s = an2_molecules_s(r, LAB_FORE5);
    report_claim(r, "N7", tcp_s > 2 * direct_s,
                 "8 hosts exchange halos in %.3f s, by TCP in %.3f s, %.2f times as long", direct_s, tcp_s,
                 tcp_s / direct_s);
    an2_claim_whole(r, "N8", direct_s, tcp_s);
    report_claim(r, "N9", longest_us <= AN2_FIGURE9_AXIS_US, "the longest takes %.0f us", longest_us);
}

void experiment_an2(struct report *report, enum experiment_part part)
{
    run_shares(report);
    if (part == EXPERIMENT_SHORT) {
        run_congestion(report, 2);
        return;
    }
    run_parking(report);
    run_congestion(report, layout_speed() == 1 ? SEEDS : 1); /* without a network nothing is random */
    run_echo(report);
    run_pvm(report);
}

/* ---- single runs, see an2.h ---- */

struct an2_echo an2_echo(struct report *report, uint32_t bytes, unsigned streams)
{
    struct stats alone = echo_under(report, bytes, 0), s = streams ? echo_under(report, bytes, streams) : alone;
    double trip_us = stats_mean(&s);

    return (struct an2_echo){trip_us, trip_us / bound_us(stats_mean(&alone), bytes, streams)};
}

double an2_pvm_us(struct report *report, enum lab_stack stack, uint32_t bytes)
{
    return pvm_trip(report, stack, bytes);
}

struct an2_loss an2_congestion(struct report *report, unsigned sessions, unsigned credits, uint64_t seed)
{
    struct loss loss = congest(report, sessions, credits, seed);

    return (struct an2_loss){loss.cells, loss.packets, loss.mbits};
}
