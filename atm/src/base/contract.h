/* contract.h - the traffic contract of a VC: adaptation layer, directions, bandwidth, service. */
#ifndef PVMA_CONTRACT_H
#define PVMA_CONTRACT_H

#include "cells/aal.h"

/* Bandwidth in bit/s of 53-octet cells. All 0 means best effort: nothing is reserved. */
struct pvma_bandwidth {
    int64_t peak_bps;    /* upper limit; 0: the link's rate. The adapter paces to it if the contract is `paced`. */
    int64_t mean_bps;    /* reserved on every link; 0: nothing. ABR: the minimum cell rate */
    int32_t burst_cells; /* reserved in finite shared buffers */
};

enum pvma_flow { PVMA_SIMPLEX, PVMA_DUPLEX, PVMA_MULTICAST };

enum pvma_service {
    PVMA_UBR, /* best effort */
    PVMA_VBR, /* served before best effort in output-queued switches */
    PVMA_ABR, /* duplex only: the network tells the sender its rate, from the mean to the peak, see abr/abr.h */
    PVMA_SERVICES,
};

struct pvma_contract {
    enum pvma_aal aal;
    enum pvma_flow flow;
    enum pvma_service service;
    bool paced;          /* the adapter spaces cells at the granted peak */
    int64_t initial_bps; /* ABR: the first rate; 0: the peak. A call does not carry it */
    uint8_t protocol;    /* of the layer above, up to PROTOCOL_MAX; the called side judges it. 0: packets of the AAL */
    struct pvma_bandwidth wanted, minimum;           /* from the caller to the called side */
    struct pvma_bandwidth back_wanted, back_minimum; /* duplex: the other direction */
};

#define PVMA_CONTRACT_PROTOCOL_MAX 127

/* Why a call ends. The numbers are on the wire. X(name, number, text) */
#define PVMA_CAUSES(X)                                                                                                 \
    X(NORMAL, 16, "normal release")                                                                                    \
    X(BUSY, 17, "the called side refused")                                                                             \
    X(NO_ROUTE, 3, "no route to the address")                                                                          \
    X(NO_LISTENER, 1, "nothing listens at the service access point")                                                   \
    X(LINK_DOWN, 27, "a link of the path is down")                                                                     \
    X(NO_BANDWIDTH, 37, "the requested bandwidth is not available")                                                    \
    X(NO_BUFFER, 49, "no buffer space for the requested burst")                                                        \
    X(NO_VCI, 45, "no VPI/VCI is free")                                                                                \
    X(BAD_MESSAGE, 111, "malformed signalling message")                                                                \
    X(PROTOCOL, 88, "the called side has chosen another protocol")                                                     \
    X(NO_CALL, 81, "no such call")                                                                                     \
    X(TIMEOUT, 102, "no answer in time")

enum pvma_cause {
#define X(name, number, text) PVMA_CAUSE_##name = number,
    PVMA_CAUSES(X)
#undef X
};

/* Text of a cause; "unknown cause" for any other number. */
const char *pvma_cause_text(int cause);

/* "ubr", "vbr" or "abr". */
const char *pvma_service_name(enum pvma_service service);

#endif
