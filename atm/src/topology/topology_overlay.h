/*
 * topology_overlay.h - parallel computing servers, as a topology declares them: a virtual ring or tree of servers, each
 * a process at a host, and the stations that are permanently connected to one of them. What they do: atm/src/overlay.
 */
#ifndef PVMA_TOPOLOGY_OVERLAY_H
#define PVMA_TOPOLOGY_OVERLAY_H

#include <stdint.h>
#include "base/sim.h"

#define PVMA_SERVERS_MAX 512

enum pvma_overlay_shape { PVMA_RING, PVMA_TREE };
enum pvma_overlay_attach { PVMA_ATTACH_ORDER, PVMA_ATTACH_DISTANCE };

/* Which pairs of stations get a VC of their own, as long as both have identifiers left. */
enum pvma_overlay_direct {
    PVMA_DIRECT_SERVER, /* those of one server: the virtual ring's default */
    PVMA_DIRECT_ALL,    /* the virtual tree's default */
    PVMA_DIRECT_NONE,
};

struct pvma_topo_overlay {
    unsigned line; /* 0: there is no overlay */
    int shape, attach, direct;
    uint32_t branch;  /* servers below one of a tree */
    uint32_t mids;    /* relayed connections that one VC of servers carries */
    uint32_t queue;   /* packets that wait in a server for one VC */
    pvma_ps retry;    /* an unacknowledged signalling message is sent again */
    pvma_ps detect;   /* until both ends of a VC notice that the other end or the way is down */
    pvma_ps patience; /* of a station, for an answer about an address */
};

struct pvma_topo_server {
    char name[64];
    unsigned line;
    unsigned host;   /* node */
    pvma_ps signal;  /* processing time of a signalling message */
    pvma_ps relay;   /* of a packet */
    pvma_ps down_at; /* PVMA_NEVER: it never fails */
    pvma_ps down_for;
};

/* ---- the shape, by the servers' numbers from 0 ---- */

/* The server above another one; of the root, itself. */
static inline unsigned pvma_tree_parent(const struct pvma_topo_overlay *o, unsigned server)
{
    return server ? (server - 1) / o->branch : 0;
}

/* Whether a tree of so many servers has none below this one. */
static inline bool pvma_tree_is_leaf(const struct pvma_topo_overlay *o, unsigned server, unsigned servers)
{
    return (uint64_t)server * o->branch + 1 >= servers;
}

#endif
