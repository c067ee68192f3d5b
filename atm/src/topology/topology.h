/*
 * topology.h - the text format that declares a network (atm-topology(5)): profiles, hosts, switches, links, permanent
 * VCs, background sources, failures of links, and an overlay of servers. Reads it, with line numbers in messages, and
 * draws it.
 */
#ifndef PVMA_TOPOLOGY_H
#define PVMA_TOPOLOGY_H

#include <stdio.h>
#include "base/contract.h"
#include "nodes/link.h"
#include "base/profile.h"
#include "nodes/source.h"
#include "nodes/switch.h"
#include "topology_overlay.h"

#define PVMA_TOPOLOGY_NODES_MAX 1024
#define PVMA_TOPOLOGY_BYTES_MAX ((size_t)1 << 20)
#define PVMA_NAME_MAX           63

struct pvma_topo_node {
    char name[PVMA_NAME_MAX + 1];
    unsigned line;
    bool is_host;
    const struct pvma_profile *profile; /* of a host; static or owned by the topology */
    uint32_t adapters;                  /* of a host, each for one link; 0: one */
    uint32_t vcis;                      /* of a host: VCs that each link may carry; 0: any number */
    struct pvma_switch_options sw;      /* of a switch */
    unsigned links;                     /* number of links at this node */
    bool is_station;                    /* of the overlay */
    unsigned server;                    /* of a station, from 1 */
};

struct pvma_topo_link { /* stands for both directions */
    unsigned line;
    unsigned a, b;           /* nodes */
    unsigned a_port, b_port; /* 0 for hosts */
    struct pvma_link_options options;
};

static inline bool pvma_topo_link_joins(const struct pvma_topo_link *link, unsigned a, unsigned b)
{
    return (link->a == a && link->b == b) || (link->a == b && link->b == a);
}

struct pvma_topo_pvc {
    unsigned line;
    unsigned from, to; /* hosts */
    struct pvma_contract contract;
};

struct pvma_topo_source {
    char name[PVMA_NAME_MAX + 1];
    unsigned line;
    bool in_switch;
    unsigned from; /* the host or the switch */
    unsigned *to;  /* the hosts to which its cells go; NULL in a switch */
    size_t to_count;
    char to_name[PVMA_NAME_MAX + 1]; /* as written: one name or a range */
    struct pvma_contract contract;   /* of the VCs that it feeds */
    struct pvma_source_options options;
};

struct pvma_topo_failure {
    unsigned line;
    unsigned link;    /* in the list of links */
    pvma_ps at;       /* when the link goes down */
    pvma_ps duration; /* 0: without end */
    pvma_ps every;    /* from one failure's beginning to the next one's; 0: only one */
};

struct pvma_topology {
    char *name;
    struct pvma_topo_node *nodes;
    struct pvma_topo_link *links;
    struct pvma_topo_pvc *pvcs;
    struct pvma_topo_source *sources;
    struct pvma_topo_failure *failures;
    struct pvma_topo_overlay overlay;
    struct pvma_topo_server *servers;
    struct pvma_profile **profiles; /* declared here */
    size_t node_count, link_count, pvc_count, source_count, failure_count, server_count, profile_count;
};

/*
 * Reads a topology. `name` begins each message: "NAME:LINE: what is wrong; what to do". Returns 0, PVMC_EFORMAT
 * (logged, with up to ten messages; *t is empty then) or PVMC_ELIMIT (too long).
 */
int pvma_topology_parse(const char *name, const char *text, size_t length, struct pvma_topology *t);

/* Reads a file; "-" is standard input. Errors as above, and PVMC_ESYSTEM (logged). */
int pvma_topology_load(const char *path, struct pvma_topology *t);

void pvma_topology_free(struct pvma_topology *t);

/* Number of a node; -1 when there is none. */
int pvma_topology_node(const struct pvma_topology *t, const char *name);

/* Writes the network in Graphviz's dot language. */
void pvma_topology_dot(const struct pvma_topology *t, FILE *out);

/* Writes the topology one line per object, with ranges and defaults expanded. */
void pvma_topology_list(const struct pvma_topology *t, FILE *out);

#endif
