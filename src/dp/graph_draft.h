/*
 * graph_draft.h - a graph while it is written: tables in which each statement finds what it names and is checked.
 *
 * Functions that return bool have done nothing if it is false; draft->why then says what is wrong, or is "" when memory
 * has run out.
 */
#ifndef DP_GRAPH_DRAFT_H
#define DP_GRAPH_DRAFT_H

#include "../core/hash.h"
#include "dp_graph.h"

struct draft_node {
    struct dp_graph_node is;
    size_t processes; /* that run on it */
    size_t index;
    UT_hash_handle hh; /* by NID */
};

struct draft_process {
    char name[DP_GRAPH_NAME_MAX + 1];
    struct draft_node *node;
    size_t endpoints; /* it has so many */
    size_t index;
    UT_hash_handle hh; /* by name */
};

struct draft_endpoint {
    struct {
        uint16_t nid, dpid;
    } point;
    struct draft_process *process;
    int mode;
    char interface[16];
    struct draft_channel *out, *in; /* that begin here, that end here */
    size_t index;
    UT_hash_handle hh; /* by point */
};

struct draft_edge {
    struct draft_endpoint *from, *to;
};

struct draft_channel {
    char name[DP_GRAPH_NAME_MAX + 1];
    struct draft_edge edge;
    struct draft_channel *out_prev, *out_next, *in_prev, *in_next; /* of the same endpoint */
    UT_hash_handle hh;                                             /* by name */
    UT_hash_handle by_edge;
};

struct pvmi_graph_draft {
    struct draft_node *nodes;
    struct draft_process *processes;
    struct draft_endpoint *endpoints;
    struct draft_channel *channels, *edges; /* the same ones, by name and by edge */
    char why[240];
};

/* An endpoint as statements name it: PROCESS:DPID. */
struct draft_point {
    const char *process;
    uint16_t dpid;
};

/* A draft of what `graph` has. False: memory has run out. */
bool pvmi_graph_draft_from(struct pvmi_graph_draft *draft, const struct dp_graph *graph);

bool pvmi_graph_draft_add_node(struct pvmi_graph_draft *draft, uint16_t nid, const char *name);
bool pvmi_graph_draft_add_process(struct pvmi_graph_draft *draft, const char *name, uint16_t nid);
bool pvmi_graph_draft_add_endpoint(struct pvmi_graph_draft *draft, struct draft_point point, int mode,
                                   const char *interface);
bool pvmi_graph_draft_add_channel(struct pvmi_graph_draft *draft, const char *name, struct draft_point from,
                                  struct draft_point to);

/* Nodes and processes can be removed when nothing is left on them; an endpoint takes its channels with it. */
bool pvmi_graph_draft_remove_node(struct pvmi_graph_draft *draft, uint16_t nid);
bool pvmi_graph_draft_remove_process(struct pvmi_graph_draft *draft, const char *name);
bool pvmi_graph_draft_remove_endpoint(struct pvmi_graph_draft *draft, struct draft_point point);
bool pvmi_graph_draft_remove_channel(struct pvmi_graph_draft *draft, const char *name);

/* The draft as a graph, in the order in which things were declared; NULL: memory has run out. */
struct dp_graph *pvmi_graph_draft_finish(struct pvmi_graph_draft *draft);

void pvmi_graph_draft_free(struct pvmi_graph_draft *draft);

#endif
