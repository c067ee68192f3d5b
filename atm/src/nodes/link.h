/*
 * link.h - links in one direction, and the common part of all nodes: ports with a link in and a link out.
 *
 * A link sends one cell after the other at its rate; each arrives whole after the propagation delay. It may lose cells
 * and damage bits; the far end checks the HEC of damaged cells. A link has no queue: the sending node checks
 * pvma_link_is_free(), and ops->free reports when it may send again.
 */
#ifndef PVMA_LINK_H
#define PVMA_LINK_H

#include "cells/cell.h"
#include "base/random.h"
#include "cells/vctable.h"
#include "meter.h"

/* Cell rates, in bit/s of 53-octet cells. */
#define PVMA_RATE_TAXI100 INT64_C(100000000)
#define PVMA_RATE_140     INT64_C(140000000)
#define PVMA_RATE_OC3     INT64_C(149760000) /* OC-3c without SONET's overhead (TUM report, 2.3) */
#define PVMA_RATE_OC3LINE INT64_C(155520000) /* the line rate, which the thesis uses for cells */
#define PVMA_RATE_AN2     INT64_C(150336000) /* the AN2 paper's figure */
#define PVMA_RATE_OC12    INT64_C(599040000)

struct pvma_node;
struct pvma_link;

struct pvma_node_ops {
    /* A cell has arrived at a port; the node owns it now. */
    void (*cell)(struct pvma_node *node, unsigned port, struct pvma_cell *cell);
    /* The outgoing link of a port can take a cell. */
    void (*free)(struct pvma_node *node, unsigned port);
    /* The far end of a port's outgoing link has room for one more cell of a VC. */
    void (*credit)(struct pvma_node *node, unsigned port, uint16_t vpi, uint16_t vci);
};

struct pvma_port {
    struct pvma_link *in, *out;              /* NULL: nothing is connected */
    struct pvma_meter *arriving, *departing; /* of the queues of cells at this port; NULL: nobody looks */
};

/* The common part of hosts and switches; their first member. */
struct pvma_node {
    const struct pvma_node_ops *ops;
    struct pvma_sim *sim;
    struct pvma_cells *cells; /* the network's pool */
    char *name;
    unsigned ports;
    struct pvma_port *port;
    unsigned number; /* in the network, from 0, in the order of the topology */
    bool is_host;
    /* limits of admission, see channel.h */
    uint32_t credits;   /* given to the upstream sender for each VC; 0: none */
    int64_t fabric_bps; /* limit of all reservations together; 0: none */
    int64_t reserved_bps;
    uint32_t buffer_cells; /* limit of all bursts together; 0: none */
    uint32_t reserved_cells;
};

struct pvma_link_options {
    int64_t rate_bps; /* of cells; > 0 */
    pvma_ps propagation;
    double cell_loss;      /* probability that a cell vanishes */
    double bit_error_rate; /* probability of a bit error */
    pvma_ps t309;          /* switched VCs end when the link has been down for that long */
};

struct pvma_link_counters {
    uint64_t cells;     /* sent */
    uint64_t lost;      /* vanished in transit: cell_loss */
    uint64_t failed;    /* lost while the link was down */
    uint64_t failures;  /* times that it went down */
    uint64_t damaged;   /* with a wrong bit */
    uint64_t corrected; /* damaged, with one wrong header bit corrected */
    uint64_t hec;       /* damaged, discarded for the header */
    uint64_t credits;   /* returned to the sender */
};

struct pvma_credit; /* one on its way back */

struct pvma_link {
    struct pvma_sim *sim;
    struct pvma_cells *cells;
    struct pvma_link_options options;
    struct pvma_node *from, *to;
    unsigned from_port, to_port;
    pvma_ps cell_time;
    bool busy;
    struct pvma_event free_event, arrival;
    struct pvma_cellq flight; /* cells in flight; cell->at: arrival */
    struct pvma_event credit_event;
    struct pvma_credit *credits; /* ring of credits in flight */
    size_t credit_size, credit_first, credit_count;
    struct pvma_random random;
    uint64_t loss_odds, damage_odds;
    bool is_flawed; /* may lose or damage cells now; else nothing random happens */
    bool is_down;   /* see link_failure.h */
    bool keeps_signalling;
    struct pvma_cellq kept; /* while down: signalling, which its protocol would send again */
    struct pvma_link_counters counters;
    struct pvma_tap *tap;    /* NULL: nobody looks */
    struct pvma_vctable vcs; /* VCs on this link: struct pvma_channel, see channel.h */
    int64_t reserved_bps;    /* for VCs */
    uint32_t vci_limit;      /* counted VCs that it may carry, see channel.h; 0: any number */
    uint32_t vci_count;
};

/* Time of a cell at a rate, rounded to a picosecond. */
pvma_ps pvma_link_cell_time(int64_t rate_bps);

/* Links `from_port` of a node to `to_port` of another; both must be free in that direction. */
struct pvma_link *pvma_link_new(struct pvma_node *from, unsigned from_port, struct pvma_node *to, unsigned to_port,
                                const struct pvma_link_options *options, uint64_t seed);
void pvma_link_free(struct pvma_link *link);

/* Whether it is the one, or one of those, that "FROM>TO" names. */
bool pvma_link_is_named(const struct pvma_link *link, const char *name);

static inline bool pvma_link_is_free(const struct pvma_link *link)
{
    return !link->busy;
}

/* Whether it loses or damages cells by chance. */
static inline bool pvma_link_has_loss(const struct pvma_link *link)
{
    return link->loss_odds || link->damage_odds;
}

/* Takes a cell and sends it over a free link; from->ops->free follows. */
void pvma_link_send(struct pvma_link *link, struct pvma_cell *cell);

/* Called by the far end: returns a credit of a VC. from->ops->credit follows after the propagation delay and a cell's
 * time. */
void pvma_link_return_credit(struct pvma_link *link, uint16_t vpi, uint16_t vci);

#endif
