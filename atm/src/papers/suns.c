/* suns.c - see suns.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "reproduce/echo.h"
#include "reproduce/fit.h"
#include "lab/layout.h"
#include "suns.h"

enum { FORE_MTU = 4092, CELLS_OF_MTU = 86, LARGE = 1 << 18, FORE_QUEUE = 4 };

static const int64_t taxi_bps = PVMA_RATE_TAXI100;
static const double taxi_cell_us = 4.24;

static double share_of_fixed(const struct suns *s)
{
    return report_parameter(s->report, "hosts", "sender's share of fixed");
}

/* Splits a cost of both sides by the share that all hosts use. */
static void cut(const struct suns *s, double fixed_us, struct pvma_price *out, struct pvma_price *in)
{
    out->fixed_us = fixed_us * share_of_fixed(s);
    in->fixed_us = fixed_us - out->fixed_us;
}

void suns_network(struct pvma_topology *t, enum suns_layout layout, unsigned hosts, const struct pvma_profile *profile)
{
    struct pvma_switch_options asx100 = layout_output_queued(16, 10 * PVMA_US);

    if (layout == SUNS_SWITCH) {
        layout_star(t, "suns", hosts, profile, &asx100, taxi_bps, 100 * PVMA_NS);
        return;
    }
    layout_begin(t, "suns");
    layout_hosts(t, 2, profile);
    layout_link(t, 0, 1, taxi_bps, 100 * PVMA_NS);
}

/* ---- Fore API ---- */

/*
 * The costs of a PDU from t_0 and r_max: the fixed ones are t_0 less the wire. The slower side needs 4092 B / r_max for
 * a whole PDU; the part that is not fixed is charged per byte, `share` of it to the sender. If the host segments
 * (SBA-100), the copy between user and kernel costs as much per byte as on the same host with an SBA-200, `copies_as`,
 * and the rest is charged per cell.
 */
static struct pvma_profile fore_profile(const struct suns *s, const char *name, const char *table, const char *row,
                                        double share, const struct pvma_profile *copies_as)
{
    struct pvma_profile p = layout_profile(name);
    double t_zero = report_printed(s->report, table, row, "t_0");
    double stage_us = FORE_MTU / report_printed(s->report, table, row, "r_max");
    bool direct = strcmp(table, "Table 3") == 0;
    struct pvma_price out, in;
    double bytes_us, out_us, in_us;

    cut(s, t_zero - (direct ? taxi_cell_us + 0.1 : 2 * taxi_cell_us + 10.2), &out, &in);
    bytes_us = fmin((stage_us - out.fixed_us) / share, (stage_us - in.fixed_us) / (1 - share));
    out_us = bytes_us * share;
    in_us = bytes_us - out_us;
    p.cost[PVMA_COST_mtu] = FORE_MTU;
    p.cost[PVMA_COST_tx_queue] = FORE_QUEUE;
    p.cost[PVMA_COST_sar] = copies_as != NULL;
    if (copies_as) { /* t_0 includes the cost of a cell, too */
        double copy_us = FORE_MTU * (double)copies_as->cost[PVMA_COST_tx_byte] / (double)PVMA_US;
        double cell_us = (out_us - copy_us) / (CELLS_OF_MTU - 1);

        out_us = in_us = copy_us;
        layout_cost(&p, PVMA_COST_tx_cell, cell_us);
        layout_cost(&p, PVMA_COST_rx_cell, cell_us);
        out.fixed_us -= cell_us;
        in.fixed_us -= cell_us;
    }
    layout_cost(&p, PVMA_COST_tx_byte, out_us / FORE_MTU);
    layout_cost(&p, PVMA_COST_rx_byte, in_us / FORE_MTU);
    layout_cost(&p, PVMA_COST_tx_pdu, out.fixed_us);
    layout_cost(&p, PVMA_COST_rx_pdu, in.fixed_us);
    return p;
}

void suns_fit_fore(struct suns *s, const struct report *report)
{
    double even = report_parameter(report, "hosts", "sender's share of per byte");
    double aal5 = report_parameter(report, "hosts", "the same, AAL5 on 4/690");

    *s = (struct suns){.report = report};
    s->aal34 = fore_profile(s, "4/690 AAL3/4", "Table 1", "ATM AAL3/4", even, NULL);
    s->aal5 = fore_profile(s, "4/690 AAL5", "Table 1", "ATM AAL5", aal5, NULL);
    s->sparc1_200 = fore_profile(s, "SPARC 1, SBA-200", "Table 4", "SPARC 1, SBA-200", even, NULL);
    s->sparc1_100 = fore_profile(s, "SPARC 1, SBA-100", "Table 4", "SPARC 1, SBA-100", even, &s->sparc1_200);
    s->sparc2 = fore_profile(s, "SPARC 2, SBA-200", "Table 3", "SPARC 2, SBA-200", even, NULL);
    s->adapter = layout_profile("adapter under IP");
}

/* ---- IP and above ---- */

struct lab_setup suns_setup(const struct suns *s, enum lab_network network, unsigned hosts,
                            struct pvma_topology *topology)
{
    struct lab_setup setup = {.network = network,
                              .hosts = hosts,
                              .costs = s->costs,
                              .tcp = pvma_tcp_sunos,
                              .pvm_fragment_bytes = (uint32_t)report_parameter(s->report, "PVM", "fragment, data"),
                              .topology = topology,
                              .seed = 1};

    cut(s, s->driver_us[network], &setup.costs.frame_out, &setup.costs.frame_in);
    return setup;
}

struct pvma_host_costs suns_scaled(const struct pvma_host_costs *costs, double factor)
{
    struct pvma_host_costs scaled = *costs;
    struct pvma_price *price = (struct pvma_price *)&scaled; /* the struct consists of prices only */

    for (size_t i = 0; i < sizeof scaled / sizeof *price; i++)
        price[i] = pvma_price_scaled(price[i], factor);
    return scaled;
}

/* A simulation that a fit repeats. */
struct trial {
    struct suns *suns;
    enum lab_network network;
    enum lab_stack stack;
    struct pvma_price *out, *in; /* the costs whose byte price is fitted */
};

static double echo_trip(struct trial *t, uint32_t bytes, unsigned warm_up)
{
    struct pvma_topology topology;
    struct lab_setup setup = suns_setup(t->suns, t->network, 2, &topology);
    struct echo_result r;

    suns_network(&topology, SUNS_SWITCH, 2, &t->suns->adapter);
    r = echo_run(&setup, t->stack, bytes, warm_up, 1, &t->suns->events);
    layout_free(&topology);
    return r.trip_us;
}

static double slowness(void *arg, double byte_us)
{
    struct trial *t = arg;

    t->out->byte_us = t->in->byte_us = byte_us;
    return echo_trip(t, LARGE, 1);
}

/* Fits the byte prices so that large messages reach the printed r_max. */
static void fit_bytes(struct trial *t, double r_max)
{
    double byte_us = fit_growing(0, 1, 2 * LARGE / r_max, slowness, t);

    t->out->byte_us = t->in->byte_us = byte_us;
}

/* The difference between the printed t_0 and half a round trip of 4 bytes. */
static double lacking_us(struct trial *t, double t_zero)
{
    return t_zero - echo_trip(t, 4, 8) / 2;
}

static void fit_driver(struct suns *s, enum lab_network network, double t_zero)
{
    struct trial trial = {.suns = s, .network = network, .stack = LAB_TCP};

    s->driver_us[network] = 0;
    s->driver_us[network] = lacking_us(&trial, t_zero);
}

static void fit_tcp(struct suns *s)
{
    struct trial trial = {
        .suns = s, .network = LAB_ATM, .stack = LAB_TCP, .out = &s->costs.tcp_out, .in = &s->costs.tcp_in};
    double fixed_us = report_parameter(s->report, "TCP", "fixed without driver");
    double ack = report_parameter(s->report, "TCP", "acknowledgement's share");

    cut(s, fixed_us, &s->costs.tcp_out, &s->costs.tcp_in);
    s->costs.ack_out.fixed_us = s->costs.tcp_out.fixed_us * ack;
    s->costs.ack_in.fixed_us = s->costs.tcp_in.fixed_us * ack;
    fit_driver(s, LAB_ATM, report_printed(s->report, "Table 1", "stream socket TCP", "t_0"));
    fit_bytes(&trial, report_printed(s->report, "Table 1", "stream socket TCP", "r_max"));
    fit_driver(s, LAB_ATM, report_printed(s->report, "Table 1", "stream socket TCP", "t_0"));
    fit_driver(s, LAB_FDDI, report_printed(s->report, "Table 2", "FDDI", "t_0"));
    fit_driver(s, LAB_ETHERNET, report_printed(s->report, "Table 2", "Ethernet", "t_0"));
}

static void fit_above_tcp(struct suns *s, enum lab_stack stack, const char *row, struct pvma_price *out,
                          struct pvma_price *in)
{
    struct trial trial = {.suns = s, .network = LAB_ATM, .stack = stack, .out = out, .in = in};

    for (int pass = 0; pass < 2; pass++) {
        double more_us = lacking_us(&trial, report_printed(s->report, "Table 1", row, "t_0"));
        out->fixed_us += more_us * share_of_fixed(s);
        in->fixed_us += more_us * (1 - share_of_fixed(s));
        fit_bytes(&trial, report_printed(s->report, "Table 1", row, "r_max"));
    }
}

void suns_fit(struct suns *s, const struct report *report)
{
    double daemon_us = report_parameter(report, "PVM", "daemon, a fragment");

    suns_fit_fore(s, report);
    fit_tcp(s);
    fit_above_tcp(s, LAB_PVM_DIRECT, "PVM advise", &s->costs.pvm_send, &s->costs.pvm_receive);
    fit_above_tcp(s, LAB_RPC, "Sun RPC/XDR", &s->costs.rpc_call, &s->costs.rpc_reply);
    s->costs.udp_out = s->costs.tcp_out;
    s->costs.udp_in = s->costs.tcp_in;
    s->costs.pvmd_fragment.fixed_us = daemon_us;
    s->costs.local = (struct pvma_price){daemon_us / 2, s->costs.tcp_out.byte_us};
}
