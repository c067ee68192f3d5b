/*
 * profile.h - what a host costs: its processor and its adapter, per PDU, per octet and per cell, and the sizes of their
 * queues. Each figure says where it comes from; none is called measured by us.
 *
 * Sending:    processor   tx_pdu + tx_byte * octets + tx_mbuf * buffers    one PDU after the other
 *             segmenting  tx_cell + tx_bus (+ tx_aal34) for each cell      by the processor (sar=host) or the adapter
 *             link        takes cells from a FIFO of tx_fifo cells
 * Receiving:  cells       rx_cell + rx_bus (+ rx_aal34) for each cell      by the processor or the adapter; FIFO of
 * rx_fifo processor   rx_pdu + rx_byte * octets, then the user has it  at most rx_queue PDUs wait
 */
#ifndef PVMA_PROFILE_H
#define PVMA_PROFILE_H

#include "sim.h"

enum pvma_unit { PVMA_UNIT_TIME, PVMA_UNIT_COUNT, PVMA_UNIT_BYTES, PVMA_UNIT_WORD };

/* X(name, unit, default, help): times in picoseconds */
#define PVMA_COSTS(X)                                                                                                  \
    X(tx_pdu, TIME, 0, "processor, for each PDU sent")                                                                 \
    X(tx_byte, TIME, 0, "processor, for each octet sent")                                                              \
    X(tx_mbuf, TIME, 0, "processor, for each buffer that a PDU is copied into: see mbuf.h")                            \
    X(tx_cell, TIME, 0, "segmentation, for each cell")                                                                 \
    X(tx_bus, TIME, 0, "bus, for each cell sent")                                                                      \
    X(tx_aal34, TIME, 0, "more for each cell of AAL3/4 sent")                                                          \
    X(rx_pdu, TIME, 0, "processor, for each PDU received")                                                             \
    X(rx_byte, TIME, 0, "processor, for each octet received")                                                          \
    X(rx_cell, TIME, 0, "reassembly, for each cell")                                                                   \
    X(rx_bus, TIME, 0, "bus, for each cell received")                                                                  \
    X(rx_aal34, TIME, 0, "more for each cell of AAL3/4 received")                                                      \
    X(signal, TIME, 300 * PVMA_US, "processor, for each signalling message")                                           \
    X(tx_queue, COUNT, 32, "PDUs that the driver holds to send")                                                       \
    X(rx_queue, COUNT, 64, "whole PDUs that wait for the processor")                                                   \
    X(tx_fifo, COUNT, 36, "cells between segmentation and link")                                                       \
    X(rx_fifo, COUNT, 292, "cells between link and reassembly")                                                        \
    X(mtu, BYTES, 9188, "largest PDU")                                                                                 \
    X(sar, WORD, 0, "who segments: adapter (0) or host (1)")                                                           \
    X(send, WORD, 0, "a full send queue makes the sender wait: block (0), or loses the PDU: flood (1)")                \
    X(turn, WORD, 0, "VCs take turns after each PDU: pdu (0), or after each cell: cell (1)")                           \
    X(credits, COUNT, 0, "cells buffered per VC for a link with credits; 0: no credits")

enum pvma_cost {
#define X(name, unit, initial, help) PVMA_COST_##name,
    PVMA_COSTS(X)
#undef X
        PVMA_COST_COUNT
};

enum pvma_origin {
    PVMA_CHOSEN, /* by us: a plausible figure that no paper gives */
    PVMA_PAPER,  /* printed in a paper */
    PVMA_FITTED, /* follows from a paper's results under this model */
};

struct pvma_profile {
    char *name;
    char *about;                   /* one line: which machine, which paper */
    int64_t cost[PVMA_COST_COUNT]; /* by enum pvma_cost */
    enum pvma_origin origin[PVMA_COST_COUNT];
};

/* "chosen", "paper", "fitted". */
const char *pvma_origin_name(enum pvma_origin origin);

const char *pvma_cost_name(enum pvma_cost cost);
const char *pvma_cost_help(enum pvma_cost cost);
enum pvma_unit pvma_cost_unit(enum pvma_cost cost);

/* The cost of a name; PVMA_COST_COUNT when there is none. */
enum pvma_cost pvma_cost_find(const char *name);

/* A cost's value as topologies give it, "12.5us", "64", "block". text[size]. */
void pvma_cost_format(enum pvma_cost cost, int64_t value, char *text, size_t size);

/* Reads such a value. 0, PVMI_EFORMAT (not such a value) or PVMI_ELIMIT (out of range). */
int pvma_cost_parse(enum pvma_cost cost, const char *text, int64_t *value);

/* The built-in profiles, by name and by number; NULL when there is none. Static. */
const struct pvma_profile *pvma_profile_find(const char *name);
const struct pvma_profile *pvma_profile_at(size_t index);

/* A copy under a new name that the caller changes and frees. */
struct pvma_profile *pvma_profile_copy(const struct pvma_profile *from, const char *name);
void pvma_profile_free(struct pvma_profile *profile);

#endif
