/* fabric.h - inside the switch: the interface of a fabric model. For switch.c, fabric_*.c and call.c only. */
#ifndef PVMA_FABRIC_H
#define PVMA_FABRIC_H

#include "base/random.h"
#include "switch.h"

struct pvma_control;

struct pvma_fabric {
    void *(*open)(struct pvma_switch *s);
    void (*close)(struct pvma_switch *s);
    /* Takes a cell that is ready to be queued; its route may have branches or none. */
    void (*queue)(struct pvma_switch *s, struct pvma_route *route, struct pvma_cell *cell);
    /* Takes a cell for one port, bypassing the tables. */
    void (*emit)(struct pvma_switch *s, unsigned port, struct pvma_cell *cell, enum pvma_service service);
    void (*link_free)(struct pvma_switch *s, unsigned port);
    void (*credit)(struct pvma_switch *s, struct pvma_branch *branch);
    /* Called just before a branch is removed. */
    void (*forget)(struct pvma_switch *s, struct pvma_branch *branch);
};

extern const struct pvma_fabric pvma_fabric_output, pvma_fabric_crossbar;

struct pvma_switch {
    struct pvma_node node;
    struct pvma_switch_options options;
    const struct pvma_fabric *fabric;
    void *state;                   /* the fabric's */
    struct pvma_vctable *in, *out; /* per port: routes by incoming identifiers, branches by outgoing ones */
    struct pvma_cellq crossing;    /* cells within the latency; cell->at: when they have crossed */
    struct pvma_event crossed;
    struct pvma_switch_counters counters;
    struct pvma_switch_port_counters *port_counters;
    struct pvma_random random;
    void (*signal_cell)(struct pvma_switch *s, unsigned port, struct pvma_cell *cell); /* takes cells of VCI 5 */
    struct pvma_control *control;
};

/* Returns a copy of a cell with the branch's identifiers. If `last`, the cell itself is used instead of a copy. */
static inline struct pvma_cell *pvma_switch_copy(struct pvma_switch *s, struct pvma_cell *cell,
                                                 const struct pvma_branch *branch, bool last)
{
    struct pvma_cell *copy = cell;
    if (!last) {
        copy = pvma_cell_new(s->node.cells);
        *copy = *cell;
    }
    copy->vpi = branch->vpi;
    copy->vci = branch->vci;
    return copy;
}

#endif
