/*
 * overlay.h - the overlay network of parallel computing servers (Vila i Sallent's thesis, section 4.2.1) over the
 * simulated ATM network. Once it is there, calls from one of its stations to another (call.h) are arranged by servers:
 *
 *   caller --RESOLVE--> its server --> ... round the ring, or up and down the tree --> the called station's server
 *   caller <--ADDRESS--      the same way back
 *   caller --------------- a call like any other, on a VC of its own --------------> called
 *   or, if one of both has no VCI left, or servers are to carry all between different servers:
 *   caller --SETUP---> server --> ... --> server --> called, then packets the same way, by the MID on each VC
 *
 * All messages cross the simulated network. Those who open and accept calls see a difference only in time.
 */
#ifndef PVMA_OVERLAY_H
#define PVMA_OVERLAY_H

#include <stdio.h>
#include "network/network.h"

struct pvma_overlay;

struct pvma_overlay_counters {
    uint64_t resolved;   /* addresses found */
    uint64_t unknown;    /* questions that failed, or had no answer in time */
    uint64_t turned;     /* questions that went the other way round a ring */
    uint64_t hops;       /* VCs between servers that questions have crossed until they were answered */
    uint64_t hops_max;   /* of one question */
    uint64_t dialled;    /* connections with a VC of their own */
    uint64_t relayed;    /* connections through servers */
    uint64_t relay_hops; /* VCs between servers that their set-up has crossed */
    uint64_t messages;   /* signalling messages between neighbours */
    uint64_t repeated;   /* and those sent again */
    uint64_t malformed;  /* PDUs that were no message of the present epoch */
    uint64_t refused;    /* messages that made no sense where they arrived */
    uint64_t packets;    /* relayed by a server */
    uint64_t lost;       /* packets for which a server had no room */
    uint64_t late;       /* packets of connections that had ended */
};

/*
 * Builds the overlay of the network's topology, which must have one. NULL: a VC does not fit, or an MTU is too small
 * (logged). Only one overlay for each network; free it before the network.
 */
struct pvma_overlay *pvma_overlay_new(struct pvma_net *net, const struct pvma_topology *topology);

/* NULL is allowed. No event may run between this and pvma_net_free(). */
void pvma_overlay_free(struct pvma_overlay *overlay);

struct pvma_overlay_counters pvma_overlay_count(const struct pvma_overlay *overlay);

/* Prints the counters that are not 0. */
void pvma_overlay_report(const struct pvma_overlay *overlay, FILE *out);

/* Relayed connections and questions that exist now, in stations and servers: 0 when all have ended. */
size_t pvma_overlay_in_use(const struct pvma_overlay *overlay);

#endif
