/*
 * link.h - links in one direction, and what all nodes have in common: ports with a link in and a link out.
 *
 * A link sends one cell after the other at its rate; each arrives whole, after the propagation delay. It may lose cells
 * and damage bits; the far end checks the HEC of damaged ones. The node that sends asks pvma_link_is_free() and is told
 * by ops->free when it may send again: a link has no queue.
 */
#ifndef PVMA_LINK_H
#define PVMA_LINK_H

#include "cell.h"
#include "random.h"
#include "vctable.h"

/* Cell rates, in bit/s of 53-octet cells. */
#define PVMA_RATE_TAXI100 INT64_C(100000000)
#define PVMA_RATE_140     INT64_C(140000000)
#define PVMA_RATE_OC3     INT64_C(149760000) /* OC-3c without SONET's overhead (TUM report, 2.3) */
#define PVMA_RATE_OC3LINE INT64_C(155520000) /* the line rate, as the thesis uses it for cells */
#define PVMA_RATE_AN2     INT64_C(150336000) /* what the AN2 paper computes with */
#define PVMA_RATE_OC12    INT64_C(599040000)

struct pvma_node;
struct pvma_link;

struct pvma_node_ops {
    /* A cell has arrived at a port; it is the node's now. */
    void (*cell)(struct pvma_node *node, unsigned port, struct pvma_cell *cell);
    /* The link out of a port can take a cell. */
    void (*free)(struct pvma_node *node, unsigned port);
    /* The far end of the link out of a port has room for one more cell of a VC. */
    void (*credit)(struct pvma_node *node, unsigned port, uint16_t vpi, uint16_t vci);
};

struct pvma_port {
    struct pvma_link *in, *out; /* NULL: nothing is connected */
};

/* Hosts and switches begin with one. */
struct pvma_node {
    const struct pvma_node_ops *ops;
    struct pvma_sim *sim;
    struct pvma_cells *cells; /* the network's pool */
    char *name;
    unsigned ports;
    struct pvma_port *port;
    unsigned number; /* in the network, from 0, in the order of the topology */
    bool is_host;
    /* what VCs through the node may ask for, see channel.h */
    uint32_t credits;   /* that it gives for each VC to the sender on a link in; 0: none */
    int64_t fabric_bps; /* all reservations together; 0: no limit */
    int64_t reserved_bps;
    uint32_t buffer_cells; /* for all bursts together; 0: no limit */
    uint32_t reserved_cells;
};

struct pvma_link_options {
    int64_t rate_bps; /* of cells; > 0 */
    pvma_ps propagation;
    double cell_loss;      /* probability that a cell vanishes */
    double bit_error_rate; /* probability that a bit is wrong */
};

struct pvma_link_counters {
    uint64_t cells;     /* sent */
    uint64_t lost;      /* vanished on the way: cell_loss, or the filter */
    uint64_t damaged;   /* with a wrong bit */
    uint64_t corrected; /* of them: one wrong bit of the header, put right */
    uint64_t hec;       /* of them: discarded for their header */
    uint64_t credits;   /* that came back */
};

/* Decides about a cell as it is sent, and may change it; false: it is lost. For tests and experiments. */
typedef bool pvma_link_filter(void *arg, struct pvma_cell *cell);

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
    struct pvma_cellq flight; /* cells on the way; cell->at: arrival */
    struct pvma_event credit_event;
    struct pvma_credit *credits; /* a ring of those on the way */
    size_t credit_size, credit_first, credit_count;
    struct pvma_random random;
    uint64_t loss_odds, damage_odds;
    pvma_link_filter *filter;
    void *filter_arg;
    struct pvma_link_counters counters;
    struct pvma_vctable vcs; /* VCs on this link: struct pvma_channel, see channel.h */
    int64_t reserved_bps;    /* promised to VCs */
};

/* Time of a cell at a rate, rounded to the picosecond. */
pvma_ps pvma_link_cell_time(int64_t rate_bps);

/* A link out of from's port into to's port, both without one in that direction. */
struct pvma_link *pvma_link_new(struct pvma_node *from, unsigned from_port, struct pvma_node *to, unsigned to_port,
                                const struct pvma_link_options *options, uint64_t seed);
void pvma_link_free(struct pvma_link *link);

static inline bool pvma_link_is_free(const struct pvma_link *link)
{
    return !link->busy;
}

/* Sends a cell over a free link and takes it; from->ops->free follows. */
void pvma_link_send(struct pvma_link *link, struct pvma_cell *cell);

/* By the far end: gives a credit of a VC back; from->ops->credit follows after one propagation delay and a cell's time.
 */
void pvma_link_return_credit(struct pvma_link *link, uint16_t vpi, uint16_t vci);

/* Sets the filter; NULL: none. */
void pvma_link_set_filter(struct pvma_link *link, pvma_link_filter *filter, void *arg);

#endif
