/*
 * switch.h - the common part of all switches: tables of VCs, and counters. The models are fabric_output.c (ASX-100,
 * ASX-200: output queues in a shared buffer) and fabric_crossbar.c (AN2: a queue per VC at the inputs, parallel
 * iterative matching, credits).
 */
#ifndef PVMA_SWITCH_H
#define PVMA_SWITCH_H

#include "base/contract.h"
#include "link.h"
#include "stage.h"

enum pvma_switch_model { PVMA_OUTPUT_QUEUED, PVMA_CROSSBAR };

enum pvma_matching { PVMA_MATCHING_FAIR, PVMA_MATCHING_RANDOM };

enum pvma_buffer { PVMA_BUFFER_INFINITE, PVMA_BUFFER_FINITE, PVMA_BUFFER_COUNTED };

struct pvma_switch_options {
    enum pvma_switch_model model;
    unsigned ports;          /* 1..255 */
    pvma_ps latency;         /* from a cell's arrival until it may leave */
    int64_t fabric_bps;      /* limit of all reservations together; 0: none */
    enum pvma_buffer buffer; /* output queues: behaviour when the shared buffer holds `buffer_cells` */
    uint32_t buffer_cells;   /* output queues: shared; crossbar: per VC */
    uint32_t credits;        /* crossbar: cells in flight per VC from the sender on each link; 0: no credits */
    unsigned iterations;     /* crossbar: matching iterations in a slot; the AN2 has 4 */
    int matching;            /* crossbar: enum pvma_matching: the pair that waited longest wins, or a random one */
    pvma_ps signal;          /* control processor, for each signalling message */
};

struct pvma_switch_counters {
    uint64_t cells_in, cells_out;       /* cells_out counts each branch of a point-to-multipoint VC */
    uint64_t unknown;                   /* cells of no VC */
    uint64_t background;                /* cells of cross traffic, discarded */
    uint64_t dropped;                   /* lost in a full buffer */
    uint64_t would_drop;                /* PVMA_BUFFER_COUNTED: met a full buffer, but were kept */
    uint64_t routed, routed_would_drop; /* of VCs, without cells of sources in the switch */
    uint64_t pushed_out;                /* best-effort cells displaced by guaranteed ones */
    uint64_t most_queued;               /* highest number of cells in the buffer */
    uint64_t slots, matched;            /* crossbar: slots with something to match, and pairs matched */
};

struct pvma_switch_port_counters {
    uint64_t dropped, would_drop, most_queued;
};

struct pvma_route;

/* One continuation of a VC: a port and the identifiers there. */
struct pvma_branch {
    struct pvma_branch *next; /* of the route */
    struct pvma_route *route;
    unsigned port;
    uint16_t vpi, vci;
    uint64_t cells; /* sent */
    /* crossbar: */
    struct pvma_cellq queue;
    uint32_t credits;                /* remaining, if `limited` */
    bool limited;                    /* the next node gives credits */
    struct pvma_branch *next_active; /* in the round of branches with cells, at the route's input */
    bool active;
};

/* A VC through a switch. */
struct pvma_route {
    unsigned in_port;
    uint16_t vpi, vci; /* at the input */
    enum pvma_service service;
    struct pvma_branch *branches;
    uint64_t cells, dropped, would_drop; /* of this VC, for its loss ratio */
    uint64_t returned;                   /* crossbar: credits returned; they follow the slowest branch */
};

struct pvma_switch;

struct pvma_switch *pvma_switch_new(struct pvma_sim *sim, struct pvma_cells *cells, const char *name, unsigned number,
                                    const struct pvma_switch_options *options, uint64_t seed);
void pvma_switch_free(struct pvma_switch *s);

struct pvma_node *pvma_switch_node(struct pvma_switch *s);
struct pvma_switch *pvma_switch_of(struct pvma_node *node);
const struct pvma_switch_options *pvma_switch_options(const struct pvma_switch *s);
const struct pvma_switch_counters *pvma_switch_counters(const struct pvma_switch *s);
const struct pvma_switch_port_counters *pvma_switch_port_counters(const struct pvma_switch *s, unsigned port);

/* The route of a VC that enters at a port; NULL when there is none. */
struct pvma_route *pvma_switch_route(struct pvma_switch *s, unsigned in_port, uint16_t vpi, uint16_t vci);

/* Adds a route without branches. The VC's identifiers must be free at that port. */
struct pvma_route *pvma_switch_add_route(struct pvma_switch *s, unsigned in_port, uint16_t vpi, uint16_t vci,
                                         enum pvma_service service);
struct pvma_branch *pvma_switch_add_branch(struct pvma_switch *s, struct pvma_route *route, unsigned port, uint16_t vpi,
                                           uint16_t vci);

/* The first branch of a route on a port; NULL when there is none. */
struct pvma_branch *pvma_route_branch(const struct pvma_route *route, unsigned port);

/* Removes a branch and its cells; removing the last branch removes the route. */
void pvma_switch_remove_branch(struct pvma_switch *s, struct pvma_branch *branch);

/* Puts a cell into an output queue, bypassing the tables: signalling and background sources. Takes the cell. */
void pvma_switch_emit(struct pvma_switch *s, unsigned port, struct pvma_cell *cell, enum pvma_service service);

#endif
