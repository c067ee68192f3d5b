/*
 * dp_graph.h - directed point graphs: the communication pattern of processes, as a text.
 *
 * The paper's DPG = (N, EP, NID, P, E): nodes, endpoints, the node of each process, processes, and edges, each of which
 * is a channel from one endpoint to another. dp-graph(5) describes the text. These calls read it, and open the
 * endpoints of one process. A graph is plain data that does not change; an opened process changes as a whole.
 *
 * Calls that fail set errno. Several threads may use them, but not on the same object at once.
 */
#ifndef DP_GRAPH_H
#define DP_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "dp.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DP_GRAPH_BYTES_MAX 4194304 /* of a graph's text */
#define DP_GRAPH_NAME_MAX  63      /* bytes of a name */
#define DP_GRAPH_ITEMS_MAX 65536   /* of each: nodes, processes, endpoints, channels */

struct dp_graph_node {
    uint16_t nid;
    char name[DP_GRAPH_NAME_MAX + 1]; /* "": none */
};

struct dp_graph_process {
    char name[DP_GRAPH_NAME_MAX + 1];
    size_t node; /* index into nodes */
};

struct dp_graph_endpoint {
    size_t process;     /* index into processes */
    uint16_t dpid;      /* unique on the node */
    int mode;           /* DP_RAW, DP_RELIABLE or DP_GO_BACK_N; both ends of a channel have the same */
    char interface[16]; /* "": the default of dp_open() */
};

struct dp_graph_channel {
    char name[DP_GRAPH_NAME_MAX + 1];
    size_t from, to; /* indices into endpoints */
};

struct dp_graph {
    struct dp_graph_node *nodes;
    struct dp_graph_process *processes;
    struct dp_graph_endpoint *endpoints;
    struct dp_graph_channel *channels;
    size_t node_count, process_count, endpoint_count, channel_count;
};

/* ---- texts ---- */

/*
 * Reads a graph from a file. Writes each error to `faults` (NULL: nowhere) as a line "path:line: what". The caller
 * frees the graph with dp_graph_free(). NULL: EINVAL, the text has errors; EFBIG, it is too long; ENOMEM; or the error
 * of open(2) or read(2), which is also written to `faults`.
 */
struct dp_graph *dp_graph_read(const char *path, FILE *faults);

/* Reads a graph from memory; `name` replaces the path in faults. */
struct dp_graph *dp_graph_parse(const char *name, const char *text, size_t length, FILE *faults);

/*
 * Returns a new graph: `base` changed by the statements of a text, which may also remove items. `base` stays unchanged.
 */
struct dp_graph *dp_graph_edit(const struct dp_graph *base, const char *name, const char *text, size_t length,
                               FILE *faults);

/* The same with the statements in a file; errors as from dp_graph_read(). */
struct dp_graph *dp_graph_edit_file(const struct dp_graph *base, const char *path, FILE *faults);

/* NULL is allowed. */
void dp_graph_free(struct dp_graph *graph);

/* The item with this name, in the memory of the graph; NULL if there is none. */
const struct dp_graph_process *dp_graph_find_process(const struct dp_graph *graph, const char *name);
const struct dp_graph_channel *dp_graph_find_channel(const struct dp_graph *graph, const char *name);

/* The node id of an endpoint's process. */
static inline uint16_t dp_graph_nid(const struct dp_graph *graph, const struct dp_graph_endpoint *endpoint)
{
    return graph->nodes[graph->processes[endpoint->process].node].nid;
}

/* ---- a process of a graph, opened ---- */

/* The endpoints of this program as one process of a graph, and the channels that begin or end at them. */
struct dp_process;

/* A channel as one of its two processes sees it: the paper's 4-tuple, and the descriptor. */
struct dp_channel {
    const char *name;
    int fd;       /* of our endpoint */
    bool outward; /* it begins here */
    uint16_t nid, dpid;
    uint16_t peer_nid, peer_dpid;
};

/*
 * Opens the endpoints of the process with this name. The graph can then be freed. An endpoint at which exactly one
 * channel begins has its target set. NULL: ENOENT, no such process; EADDRNOTAVAIL, its node is not ours; or the error
 * of dp_open_on(), dp_mode() or dp_target().
 */
struct dp_process *dp_process_open(const struct dp_graph *graph, const char *name);

/*
 * Changes the process to match another graph: opens new endpoints first, then closes removed ones. Endpoints in both
 * stay open with the messages that wait there. 0; or -1 as from dp_process_open(), with nothing changed. EBUSY: an
 * endpoint would change its mode or interface (remove it first). A change invalidates pointers to channels.
 */
int dp_process_change(struct dp_process *process, const struct dp_graph *graph);

/* The channel of this name; NULL and ENOENT if none begins or ends at this process. */
const struct dp_channel *dp_process_channel(const struct dp_process *process, const char *name);

/* All channels of this process, in the graph's order. */
const struct dp_channel *dp_process_channels(const struct dp_process *process, size_t *count);

/* The descriptor of an endpoint; -1 and ENOENT if this process has none with that DPID. */
int dp_process_fd(const struct dp_process *process, int dpid);

/*
 * dp_write() into a channel that begins here; sets the endpoint's target first if it differs. Errors as from
 * dp_write(), and EINVAL: the channel ends here.
 */
int dp_process_write(struct dp_process *process, const struct dp_channel *channel, const void *message, int bytes);

/* Closes all endpoints. NULL is allowed. */
void dp_process_close(struct dp_process *process);

#ifdef __cplusplus
}
#endif
#endif
