/*
 * switch.h - the common part of all switches: tables of VCs, and counters. The models are fabric_output.c (ASX-100,
 * ASX-200: output queues in a shared buffer) and fabric_crossbar.c (AN2: a queue per VC at the inputs, parallel
 * iterative matching, credits).
 */
#ifndef PVMA_SWITCH_H
#define PVMA_SWITCH_H

#include "abr/erica.h"
#include "base/contract.h"
#include "link.h"
#include "policer.h"
#include "stage.h"

enum pvma_switch_model { PVMA_OUTPUT_QUEUED, PVMA_CROSSBAR };

enum pvma_matching { PVMA_MATCHING_FAIR, PVMA_MATCHING_RANDOM };

enum pvma_inputs { PVMA_INPUTS_VC, PVMA_INPUTS_FIFO };

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
    unsigned speedup;        /* crossbar: slots in the time of a cell on the fastest link; 0 and 1: no speed-up */
    uint32_t output_cells;   /* crossbar: places of each output's queue; 0: 256 with a speed-up, else 1 */
    int inputs;              /* crossbar: enum pvma_inputs: a queue per VC, or one in the order of arrival */
    int police;              /* enum pvma_police: what happens to cells of hosts above their contract */
    pvma_ps cdvt;            /* policing: tolerance of cell delay variation */
    /* output queues: cells that are discarded before the buffer is full */
    uint32_t clp_cells; /* cells with CLP 1, when the buffer holds that many; 0: no limit of their own */
    uint32_t epd_cells; /* whole best-effort AAL5 frames that begin when the buffer holds that many; 0: none */
    bool ppd;           /* the rest of an AAL5 frame of which a cell was discarded, but for its last cell */
};

struct pvma_switch_counters {
    uint64_t cells_in, cells_out;       /* cells_out counts each branch of a point-to-multipoint VC */
    uint64_t unknown;                   /* cells of no VC */
    uint64_t background;                /* cells of cross traffic, discarded */
    uint64_t dropped;                   /* lost in a full buffer */
    uint64_t would_drop;                /* PVMA_BUFFER_COUNTED: met a full buffer, but were kept */
    uint64_t routed, routed_would_drop; /* of VCs, without cells of sources in the switch */
    uint64_t pushed_out;                /* best-effort cells displaced by those of other services */
    uint64_t abr_cells, abr_dropped;    /* output queues: cells of ABR that arrived, and those lost in a full buffer */
    uint64_t rm_lowered;                /* output queues: forward cells whose explicit rate was lowered */
    uint64_t most_queued;               /* highest number of cells in the buffer */
    uint64_t slots, matched;            /* crossbar: slots with something to match, and pairs matched */
    uint64_t policed, tagged;           /* cells above their contract: discarded, and passed with CLP 1 */
    uint64_t clp_dropped;               /* cells with CLP 1, discarded above their threshold */
    uint64_t epd_frames, epd_cells;     /* early packet discard: whole frames, and their cells */
    uint64_t ppd_frames, ppd_cells;     /* partial packet discard: frames cut short, and cells discarded for it */
};

struct pvma_switch_port_counters {
    uint64_t dropped, would_drop, most_queued;
    uint64_t clp_dropped, epd_frames, epd_cells, ppd_frames, ppd_cells;
    uint64_t sent;   /* cells of queues */
    uint64_t waited; /* their waits in queues together, in ps: from the end of the latency to the link's beginning */
};

struct pvma_route;

/* What becomes of the AAL5 frame that is passing a branch. */
enum pvma_frame_state {
    PVMA_FRAME_NONE, /* the next cell begins one */
    PVMA_FRAME_GOES, /* its cells are queued */
    PVMA_FRAME_LOST, /* early packet discard: none of its cells is queued */
    PVMA_FRAME_CUT,  /* partial packet discard: only its last cell is queued */
};

/* One continuation of a VC: a port and the identifiers there. */
struct pvma_branch {
    struct pvma_branch *next; /* of the route */
    struct pvma_route *route;
    unsigned port;
    uint16_t vpi, vci;
    uint64_t cells; /* sent */
    /* output queues: */
    enum pvma_frame_state frame;
    struct pvma_erica_vc erica;
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
    bool has_frames;              /* AAL5: the last cell of a frame is marked */
    struct pvma_policer *policer; /* NULL: not policed */
    struct pvma_branch *branches;
    struct pvma_route *other;            /* ABR: the VC's other direction; NULL: not through this switch */
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
                                         const struct pvma_contract *contract);
struct pvma_branch *pvma_switch_add_branch(struct pvma_switch *s, struct pvma_route *route, unsigned port, uint16_t vpi,
                                           uint16_t vci);

/* Tells a switch that two routes are the directions of one VC, for resource management. */
void pvma_switch_pair(struct pvma_route *there, struct pvma_route *back);

/* Polices the cells of a route to what was granted to it, if the switch polices and a host is at the route's input.
 * Called again when a later node grants less. */
void pvma_switch_police(struct pvma_switch *s, struct pvma_route *route, const struct pvma_bandwidth *granted);

/* The first branch of a route on a port; NULL when there is none. */
struct pvma_branch *pvma_route_branch(const struct pvma_route *route, unsigned port);

/* Removes a branch and its cells; removing the last branch removes the route. */
void pvma_switch_remove_branch(struct pvma_switch *s, struct pvma_branch *branch);

/* Puts a cell into an output queue, bypassing the tables: signalling and background sources. Takes the cell. */
void pvma_switch_emit(struct pvma_switch *s, unsigned port, struct pvma_cell *cell, enum pvma_service service);

#endif
