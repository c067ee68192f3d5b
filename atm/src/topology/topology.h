/*
 * topology.h - the text format that declares a network (atm-topology(5)): profiles, hosts, switches, links, permanent
 * VCs and background sources; read, checked with line numbers, and drawn.
 */
#ifndef PVMA_TOPOLOGY_H
#define PVMA_TOPOLOGY_H

#include <stdio.h>
#include "contract.h"
#include "link.h"
#include "profile.h"
#include "source.h"
#include "switch.h"

#define PVMA_TOPOLOGY_NODES_MAX 1024
#define PVMA_TOPOLOGY_BYTES_MAX ((size_t)1 << 20)
#define PVMA_NAME_MAX           63

struct pvma_topo_node {
    char name[PVMA_NAME_MAX + 1];
    unsigned line;
    bool is_host;
    const struct pvma_profile *profile; /* of a host; static or the topology's */
    struct pvma_switch_options sw;      /* of a switch */
    unsigned links;                     /* that end here */
};

struct pvma_topo_link { /* both directions */
    unsigned line;
    unsigned a, b;           /* nodes */
    unsigned a_port, b_port; /* 0 for hosts */
    struct pvma_link_options options;
};

struct pvma_topo_pvc {
    unsigned line;
    unsigned from, to; /* hosts */
    struct pvma_contract contract;
};

struct pvma_topo_source {
    char name[PVMA_NAME_MAX + 1];
    unsigned line;
    bool in_switch;
    unsigned from, to; /* hosts, or the switch and nothing */
    struct pvma_source_options options;
};

struct pvma_topology {
    char *name;
    struct pvma_topo_node *nodes;
    struct pvma_topo_link *links;
    struct pvma_topo_pvc *pvcs;
    struct pvma_topo_source *sources;
    struct pvma_profile **profiles; /* declared here */
    size_t node_count, link_count, pvc_count, source_count, profile_count;
};

/*
 * Reads a topology. `name` stands before each message: "NAME:LINE: what is wrong; what to do". 0, or PVMI_EFORMAT
 * (logged, with up to ten messages; *t is empty then), PVMI_ELIMIT (too long).
 */
int pvma_topology_parse(const char *name, const char *text, size_t length, struct pvma_topology *t);

/* Reads a file; "-" is standard input. As above, and PVMI_ESYSTEM (logged). */
int pvma_topology_load(const char *path, struct pvma_topology *t);

void pvma_topology_free(struct pvma_topology *t);

/* Number of a node; -1 when there is none. */
int pvma_topology_node(const struct pvma_topology *t, const char *name);

/* Writes the network in Graphviz's language. */
void pvma_topology_dot(const struct pvma_topology *t, FILE *out);

/* Writes what was read, one line for each thing, with all defaults. */
void pvma_topology_list(const struct pvma_topology *t, FILE *out);

#endif
