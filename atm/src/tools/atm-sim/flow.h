/* flow.h - traffic on a permanent VC, and what became of it. */
#ifndef ATM_SIM_FLOW_H
#define ATM_SIM_FLOW_H

#include <stdio.h>
#include "../../atm/network.h"

enum flow_kind { FLOW_NONE, FLOW_GREEDY, FLOW_ECHO };

struct flow_options {
    enum flow_kind kind;
    size_t bytes;
    uint64_t count; /* PDUs; 0: no end */
};

struct flow;

/* Traffic on the topology's PVC of a number, from time 0 on. Free it with free() before the network. */
struct flow *flow_new(struct pvma_net *net, size_t pvc, const struct flow_options *options);

/* A line: PDUs, octets per second, loss; for echoes round-trip times. */
void flow_print(const struct flow *flow, pvma_ps duration, FILE *out);

#endif
