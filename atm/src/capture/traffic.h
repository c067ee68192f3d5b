/* traffic.h - traffic on a permanent VC, and what became of each PDU. */
#ifndef PVMA_TRAFFIC_H
#define PVMA_TRAFFIC_H

#include <stdio.h>
#include "network/network.h"

enum pvma_load {
    PVMA_LOAD_NONE,
    PVMA_LOAD_GREEDY,  /* the sender always has one more PDU */
    PVMA_LOAD_ECHO,    /* a PDU makes a round trip, then the next one */
    PVMA_LOAD_CBR,     /* a PDU at even intervals */
    PVMA_LOAD_POISSON, /* a PDU at exponential intervals */
};

/* The load of that name: none, greedy, echo, cbr or poisson. False: there is none. */
bool pvma_load_find(const char *name, enum pvma_load *load);

/* Whether it sends at intervals, and so needs their mean. */
bool pvma_load_is_paced(enum pvma_load load);

struct pvma_traffic_options {
    enum pvma_load kind;
    size_t bytes;
    uint64_t count;   /* PDUs; 0: unlimited */
    pvma_ps interval; /* CBR, POISSON: mean time between PDUs; the first comes after one */
    bool record;      /* keeps a sample of each PDU */
};

/* A PDU that arrived. Of an echo: one that came back. */
struct pvma_sample {
    pvma_ps at, latency; /* since pvma_vc_send(); of an echo: the round trip */
    size_t bytes;
    uint64_t number; /* of those sent, from 0 */
};

struct pvma_traffic;

/* Starts traffic at time 0 on a PVC of the topology, by index. */
struct pvma_traffic *pvma_traffic_new(struct pvma_net *net, size_t pvc, const struct pvma_traffic_options *options);

/* Before the network is freed. */
void pvma_traffic_free(struct pvma_traffic *flow);

/* Prints a line: PDUs sent and received, and the bit rate or for echoes round-trip times. */
void pvma_traffic_print(const struct pvma_traffic *flow, pvma_ps duration, FILE *out);

/* "a>b", valid as long as the flow. */
const char *pvma_traffic_name(const struct pvma_traffic *flow);

/* The samples in the order of their arrival. */
const struct pvma_sample *pvma_traffic_samples(const struct pvma_traffic *flow, size_t *count);

/* PDUs that the sender gave away, those that arrived, and those that are lost: sent before one that has arrived, or
 * refused by a full send queue. The others are under way. */
struct pvma_traffic_counts {
    uint64_t sent, received, lost;
};
struct pvma_traffic_counts pvma_traffic_count(const struct pvma_traffic *flow);

/* ---- statistics ---- */

struct pvma_latency {
    double mean_us, p50_us, p95_us, p99_us, most_us;
    double jitter_us; /* mean difference between successive PDUs of a flow (RFC 3550 without its smoothing) */
    uint64_t pdus, bytes;
};

/* Over the samples of some flows that arrived from a time on. */
struct pvma_latency pvma_traffic_latency(struct pvma_traffic *const *flows, size_t count, pvma_ps from);

/* Writes a table of CSV with a line for each flow. */
void pvma_traffic_table(struct pvma_traffic *const *flows, size_t count, pvma_ps duration, FILE *out);

#endif
