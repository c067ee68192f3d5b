/*
 * tum_hosts.h - the hosts of TUM-I9701. The Fore API's costs are those of the profiles hp735 and ibm390; those of IP
 * and PVM are computed from two columns of the latency tables, anew in each run.
 */
#ifndef PVMA_TUM_HOSTS_H
#define PVMA_TUM_HOSTS_H

#include "lab/lab.h"
#include "report/report.h"

enum tum_host { TUM_HP, TUM_IBM, TUM_LACE, TUM_HOSTS };

enum tum_stack { TUM_API34, TUM_API5, TUM_TCP, TUM_UDP, TUM_PVM_DIRECT, TUM_PVM_DAEMON };

struct tum {
    const struct report *report;
    const struct pvma_profile *api[TUM_HOSTS];
    struct pvma_profile adapter;                       /* under IP: the station is charged all costs */
    struct pvma_host_costs costs[TUM_HOSTS];           /* on ATM */
    struct pvma_price ethernet_out[2], ethernet_in[2]; /* drivers on Ethernet, HP and IBM */
    double data_share;                                 /* of PVM's fixed cost, which an empty message does not pay */
    unsigned long long events;
};

/* Options of a run. */
struct tum_run {
    enum tum_host host;
    enum tum_stack stack;
    enum lab_network network;
    uint32_t buffer_bytes;        /* of sockets; 0: the default */
    uint32_t daemon_packet_bytes; /* 0: 4096 */
    bool daemon_on_api;           /* the daemons send their packets over the Fore API */
};

/* Fits all costs; `part_only` leaves PVM out. */
void tum_fit(struct tum *tum, const struct report *report, bool part_only);

/* One-way latency in us: half of a round trip in the steady state. */
double tum_latency_us(struct tum *tum, const struct tum_run *run, uint32_t bytes);

/* The same by the method of the paper's PVM benchmark, the mean of 100 round trips, on an Ethernet that loses frames.
 */
double tum_lossy_latency_us(struct tum *tum, const struct tum_run *run, uint32_t bytes, double frame_loss,
                            uint64_t seed);

/* The setup of such a run; the caller frees the topology. */
struct lab_setup tum_setup(const struct tum *tum, const struct tum_run *run, struct pvma_topology *topology);

#endif
