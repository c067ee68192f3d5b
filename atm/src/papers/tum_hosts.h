/* tum_hosts.h - the hosts of TUM-I9701: costs from two columns of its latency tables, computed anew in each run. */
#ifndef PVMA_TUM_HOSTS_H
#define PVMA_TUM_HOSTS_H

#include "lab.h"
#include "report.h"

enum tum_host { TUM_HP, TUM_IBM, TUM_LACE, TUM_HOSTS };

enum tum_stack { TUM_API34, TUM_API5, TUM_TCP, TUM_UDP, TUM_PVM_DIRECT, TUM_PVM_DAEMON };

struct tum {
    const struct report *report;
    struct pvma_profile api34[TUM_HOSTS], api5[TUM_HOSTS], adapter;
    struct pvma_host_costs costs[TUM_HOSTS];           /* on ATM */
    struct pvma_price ethernet_out[2], ethernet_in[2]; /* drivers there, HP and IBM */
    double data_share;                                 /* of PVM's fixed cost, that an empty message does not have */
    unsigned long long events;
};

/* What a run can be told. */
struct tum_run {
    enum tum_host host;
    enum tum_stack stack;
    enum lab_network network;
    uint32_t buffer_bytes;        /* of sockets; 0: the default */
    uint32_t daemon_packet_bytes; /* 0: 4096 */
    bool daemon_on_api;           /* the daemons' packets go by the Fore API */
};

/* Fits all; `part_only` leaves PVM out. */
void tum_fit(struct tum *tum, const struct report *report, bool part_only);

/* One-way latency in us: half of a steady round trip. */
double tum_latency_us(struct tum *tum, const struct tum_run *run, uint32_t bytes);

/* The same as the paper's PVM benchmark has it, on an Ethernet that loses frames: the mean of 100 round trips. */
double tum_lossy_latency_us(struct tum *tum, const struct tum_run *run, uint32_t bytes, double frame_loss,
                            uint64_t seed);

/* A setup of such a run, on a topology that the caller frees. */
struct lab_setup tum_setup(const struct tum *tum, const struct tum_run *run, struct pvma_topology *topology);

#endif
