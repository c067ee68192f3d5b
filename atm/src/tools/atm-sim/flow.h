/* flow.h - traffic on a permanent VC, and its results. */
#ifndef ATM_SIM_FLOW_H
#define ATM_SIM_FLOW_H

#include <stdio.h>
#include "network/network.h"

enum flow_kind { FLOW_NONE, FLOW_GREEDY, FLOW_ECHO };

struct flow_options {
    enum flow_kind kind;
    size_t bytes;
    uint64_t count; /* PDUs; 0: unlimited */
};

struct flow;

/* Starts traffic at time 0 on a PVC of the topology, by index. Release it with free() before the network. */
struct flow *flow_new(struct pvma_net *net, size_t pvc, const struct flow_options *options);

/* Prints a line: PDUs sent and received, and the bit rate or for echoes round-trip times. */
void flow_print(const struct flow *flow, pvma_ps duration, FILE *out);

#endif
