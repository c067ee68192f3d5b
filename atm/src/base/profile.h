/*
 * profile.h - the costs of a host: its processor and its adapter, per PDU, per octet and per cell, and the sizes of
 * their queues. Each figure states its origin; we measured none of them.
 *
 * Sending:    processor   tx_pdu + tx_byte * octets + tx_mbuf * buffers    one PDU after the other; tx_again more for
 *                                                                          one that is sent again (assured/)
 *             segmenting  tx_cell + tx_bus (+ tx_aal34) for each cell      by the processor (sar=host) or the adapter
 *             link        takes cells from a FIFO of tx_fifo cells
 * Receiving:  cells       rx_cell + rx_bus (+ rx_aal34) for each cell      by the processor or the adapter, from a
 *                                                                          FIFO of rx_fifo cells
 *             processor   rx_pdu + rx_byte * octets, then the user has it  at most rx_queue PDUs wait
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
    X(tx_again, TIME, 0, "processor, more for each PDU that an assured connection sends again")                        \
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
    X(sar, WORD, 0, "segmentation and reassembly by the adapter (0) or the host (1)")                                  \
    X(send, WORD, 0, "a full send queue makes the sender wait: block (0), or loses the PDU: flood (1)")                \
    X(turn, WORD, 0, "VCs take turns after each PDU: pdu (0), or after each cell: cell (1)")                           \
    X(credits, COUNT, 0, "cells buffered per VC for a link with credits; 0: no credits")                               \
    X(pvmd_fragment, TIME, 0, "processor, for each fragment of a PVM message at a task or daemon: daemons' route")     \
    X(pvmd_byte, TIME, 0, "processor, for each octet of it there")                                                     \
    X(pvmd_packet, BYTES, 4096, "largest packet between PVM's daemons")

enum pvma_cost {
#define X(name, unit, initial, help) PVMA_COST_##name,
    PVMA_COSTS(X)
#undef X
        PVMA_COST_COUNT
};

enum pvma_origin {
    PVMA_CHOSEN, /* by us: a plausible figure that no paper gives */
    PVMA_PAPER,  /* printed in a paper */
    PVMA_FITTED, /* computed from a paper's results under this model */
};

struct pvma_profile {
    char *name;
    char *about;                   /* one line: machine and paper */
    int64_t cost[PVMA_COST_COUNT]; /* indexed by enum pvma_cost */
    enum pvma_origin origin[PVMA_COST_COUNT];
};

/* "chosen", "paper", "fitted". */
const char *pvma_origin_name(enum pvma_origin origin);

const char *pvma_cost_name(enum pvma_cost cost);
const char *pvma_cost_help(enum pvma_cost cost);

/* Finds a cost by name; PVMA_COST_COUNT when no cost has that name. */
enum pvma_cost pvma_cost_find(const char *name);

/* Writes a cost's value in a topology's notation, "12.5us", "64", "block", into text[size]. */
void pvma_cost_format(enum pvma_cost cost, int64_t value, char *text, size_t size);

/* Reads such a value. Returns 0, PVMC_EFORMAT (not a value of this cost) or PVMC_ELIMIT (out of range). */
int pvma_cost_parse(enum pvma_cost cost, const char *text, int64_t *value);

/* Built-in profiles, by name and by index; NULL when there is none. They are static. */
const struct pvma_profile *pvma_profile_find(const char *name);
const struct pvma_profile *pvma_profile_at(size_t index);

/* What two hosts with nothing else to do add to the latency of a PDU that is one raw cell. */
pvma_ps pvma_profile_cell_latency(const struct pvma_profile *from, const struct pvma_profile *to);

/* Returns a copy under a new name. The caller may change it and frees it with pvma_profile_free(). */
struct pvma_profile *pvma_profile_copy(const struct pvma_profile *from, const char *name);
void pvma_profile_free(struct pvma_profile *profile);

#endif
