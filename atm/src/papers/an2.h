/* an2.h - single runs of the AN2 paper's experiments. The report gives the costs of an Alpha and counts events. */
#ifndef PVMA_AN2_H
#define PVMA_AN2_H

#include "lab/lab.h"
#include "report/report.h"

/* Figures 7 and 8: the mean round trip of a UDP echo between two switches that up to three TCP streams share, and its
 * ratio to the bound of equation 1. */
struct an2_echo {
    double trip_us, ratio;
};
struct an2_echo an2_echo(struct report *report, uint32_t bytes, unsigned streams);

/* Figure 9: the round trip in us of PVM on TCP (LAB_PVM_DIRECT) or on the adapter (LAB_FORE5). */
double an2_pvm_us(struct report *report, enum lab_stack stack, uint32_t bytes);

/* The largest number at the axis of figure 9; and a gain that is not significant, which is our number. */
#define AN2_FIGURE9_AXIS_US 3000
#define AN2_LITTLE          0.1

/* Judges what a step of molecular dynamics gains as a whole when its communication takes so long. */
void an2_claim_whole(struct report *report, const char *id, double direct_s, double tcp_s);

/* Figure 11: per cent of cells and packets lost, and Mbit/s, of 1 to 6 TCP sessions on one link for a second. */
struct an2_loss {
    double cells, packets, mbits;
};
struct an2_loss an2_congestion(struct report *report, unsigned sessions, unsigned credits, uint64_t seed);

/* Table 1: Mbit/s of the parking lot's sessions A to D over TCP, and their max-min fair shares by equations 3 and 4. */
void an2_parking(struct report *report, double mbits[4]);
void an2_shares(double mbits[4]);

/* Seconds of a step of molecular dynamics without its computing: each of eight hosts sends 1 MB to either neighbour by
 * PVM on TCP (LAB_PVM_DIRECT) or on the adapter (LAB_FORE5). */
double an2_molecules_s(struct report *report, enum lab_stack stack);

#endif
