/*
 * switch.h - what all switches have in common: tables that say where a VC goes on, and counters. The models are
 * fabric_output.c (ASX-100, ASX-200: output queues in a shared buffer) and fabric_crossbar.c (AN2: a queue per VC at
 * the inputs, parallel iterative matching, credits).
 */
#ifndef PVMA_SWITCH_H
#define PVMA_SWITCH_H

#include "contract.h"
#include "link.h"
#include "stage.h"

enum pvma_switch_model { PVMA_OUTPUT_QUEUED, PVMA_CROSSBAR };

enum pvma_matching { PVMA_MATCHING_FAIR, PVMA_MATCHING_RANDOM };

enum pvma_buffer { PVMA_BUFFER_INFINITE, PVMA_BUFFER_FINITE, PVMA_BUFFER_COUNTED };

struct pvma_switch_options {
    enum pvma_switch_model model;
    unsigned ports;          /* 1..255 */
    pvma_ps latency;         /* from a cell's arrival until it may leave */
    int64_t fabric_bps;      /* all reservations together; 0: no limit */
    enum pvma_buffer buffer; /* output queues: how the shared buffer behaves when `buffer_cells` are in it */
    uint32_t buffer_cells;   /* output queues: shared; crossbar: per VC */
    uint32_t credits;        /* crossbar: cells per VC that the sender of each link in may have under way; 0: none */
    unsigned iterations;     /* crossbar: of matching in a slot; the AN2 has 4 */
    int matching;            /* crossbar: enum pvma_matching, who wins: who waited longest, or anybody */
    pvma_ps signal;          /* control processor, for each signalling message */
};

struct pvma_switch_counters {
    uint64_t cells_in, cells_out;       /* cells_out counts each branch of a point-to-multipoint VC */
    uint64_t unknown;                   /* cells of no VC */
    uint64_t background;                /* cells of cross traffic, swallowed */
    uint64_t dropped;                   /* lost in a full buffer */
    uint64_t would_drop;                /* PVMA_BUFFER_COUNTED: met a full buffer, and were kept */
    uint64_t routed, routed_would_drop; /* of VCs: without what sources in the switch emit */
    uint64_t pushed_out;                /* best-effort cells lost to guaranteed ones */
    uint64_t most_queued;               /* cells in the buffer at most */
    uint64_t slots, matched;            /* crossbar: slots with something to match, and pairs matched */
};

struct pvma_switch_port_counters {
    uint64_t dropped, would_drop, most_queued;
};

struct pvma_route;

/* One way on of a VC: a port and the identifiers there. */
struct pvma_branch {
    struct pvma_branch *next; /* of the route */
    struct pvma_route *route;
    unsigned port;
    uint16_t vpi, vci;
    uint64_t cells; /* sent */
    /* crossbar: */
    struct pvma_cellq queue;
    uint32_t credits;                /* left to send with, if `limited` */
    bool limited;                    /* the next node gives credits */
    struct pvma_branch *next_active; /* in the round of those with cells, at the route's way in */
    bool active;
};

/* A VC through a switch. */
struct pvma_route {
    unsigned in_port;
    uint16_t vpi, vci; /* at the way in */
    enum pvma_service service;
    struct pvma_branch *branches;
    uint64_t cells, dropped, would_drop; /* of this VC: its loss ratio */
    uint64_t returned;                   /* crossbar: credits given back, which follow the slowest branch */
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

/* The route of a VC that comes in at a port; NULL when there is none. */
struct pvma_route *pvma_switch_route(struct pvma_switch *s, unsigned in_port, uint16_t vpi, uint16_t vci);

/* Makes a route without branches; the VC must be free at that port. */
struct pvma_route *pvma_switch_add_route(struct pvma_switch *s, unsigned in_port, uint16_t vpi, uint16_t vci,
                                         enum pvma_service service);
struct pvma_branch *pvma_switch_add_branch(struct pvma_switch *s, struct pvma_route *route, unsigned port, uint16_t vpi,
                                           uint16_t vci);

/* The (first) branch of a route out of a port; NULL when there is none. */
struct pvma_branch *pvma_route_branch(const struct pvma_route *route, unsigned port);

/* Takes a branch away; the last one takes the route with it, and its cells. */
void pvma_switch_remove_branch(struct pvma_switch *s, struct pvma_branch *branch);

/* A cell to an output queue at once, past the tables: signalling and background sources. The switch takes it. */
void pvma_switch_emit(struct pvma_switch *s, unsigned port, struct pvma_cell *cell, enum pvma_service service);

#endif
