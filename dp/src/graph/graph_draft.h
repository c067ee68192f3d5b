/*
 * graph_draft.h - a graph under construction: tables in which each statement looks up its names and is checked.
 *
 * A function that returns false has changed nothing; draft->why then says what is wrong, or is "" if memory was
 * exhausted.
 */
#ifndef DP_GRAPH_DRAFT_H
#define DP_GRAPH_DRAFT_H

#include "core/hash.h"
#include "dp_graph.h"

struct draft_node {
    struct dp_graph_node is;
    size_t processes; /* number of processes on it */
    size_t index;
    UT_hash_handle hh; /* by NID */
};

struct draft_process {
    char name[DP_GRAPH_NAME_MAX + 1];
    struct draft_node *node;
    size_t endpoints; /* number of its endpoints */
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
    struct draft_channel *out, *in; /* channels that begin here and that end here */
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

struct dpi_graph_draft {
    struct draft_node *nodes;
    struct draft_process *processes;
    struct draft_endpoint *endpoints;
    struct draft_channel *channels, *edges; /* the same channels, by name and by edge */
    char why[240];
};

/* An endpoint in the notation of statements, PROCESS:DPID. */
struct draft_point {
    const char *process;
    uint16_t dpid;
};

/* Makes a draft of a graph. False: out of memory. */
bool dpi_graph_draft_from(struct dpi_graph_draft *draft, const struct dp_graph *graph);

bool dpi_graph_draft_add_node(struct dpi_graph_draft *draft, uint16_t nid, const char *name);
bool dpi_graph_draft_add_process(struct dpi_graph_draft *draft, const char *name, uint16_t nid);
bool dpi_graph_draft_add_endpoint(struct dpi_graph_draft *draft, struct draft_point point, int mode,
                                  const char *interface);
bool dpi_graph_draft_add_channel(struct dpi_graph_draft *draft, const char *name, struct draft_point from,
                                 struct draft_point to);

/* Nodes and processes can be removed when they are empty; removing an endpoint removes its channels. */
bool dpi_graph_draft_remove_node(struct dpi_graph_draft *draft, uint16_t nid);
bool dpi_graph_draft_remove_process(struct dpi_graph_draft *draft, const char *name);
bool dpi_graph_draft_remove_endpoint(struct dpi_graph_draft *draft, struct draft_point point);
bool dpi_graph_draft_remove_channel(struct dpi_graph_draft *draft, const char *name);

/* Converts the draft to a graph, in the order of the declarations; NULL: out of memory. */
struct dp_graph *dpi_graph_draft_finish(struct dpi_graph_draft *draft);

void dpi_graph_draft_free(struct dpi_graph_draft *draft);

#endif
