/*
 * dp_graph.h - directed point graphs: the communication pattern of some processes, written down as a text.
 *
 * The paper's DPG = (N, EP, NID, P, E): nodes, endpoints, the node of each process, processes, and edges, each of which
 * is a channel from one endpoint to another. dp-graph(5) describes the text, these calls read it, and open what one
 * process has of it. A graph is plain data that is only read; a process of it that was opened is changed as a whole.
 *
 * Calls that fail set errno. They may be used by several threads, but not on the same object at once.
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
#define DP_GRAPH_ITEMS_MAX 65536   /* nodes, processes, endpoints and channels: so many of each */

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
    uint16_t dpid;      /* no other endpoint of that node has it */
    int mode;           /* DP_RAW, DP_RELIABLE or DP_GO_BACK_N; both ends of a channel have the same */
    char interface[16]; /* "": the one that dp_open() takes */
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
 * Reads a graph from a file. What is wrong is written to `faults` (NULL: nowhere), each fault a line "path:line: what".
 * The graph is the caller's, for dp_graph_free(). NULL: EINVAL, the text has faults; EFBIG, it is too long; ENOMEM; or
 * what open(2) and read(2) say, which is written to `faults`, too.
 */
struct dp_graph *dp_graph_read(const char *path, FILE *faults);

/* The same from memory; `name` is for the faults. */
struct dp_graph *dp_graph_parse(const char *name, const char *text, size_t length, FILE *faults);

/* A new graph: `base`, changed by the lines of a text, which may remove things, too. `base` stays as it is. */
struct dp_graph *dp_graph_edit(const struct dp_graph *base, const char *name, const char *text, size_t length,
                               FILE *faults);

/* The same with the lines of a file; errors as from dp_graph_read(). */
struct dp_graph *dp_graph_edit_file(const struct dp_graph *base, const char *path, FILE *faults);

/* NULL is allowed. */
void dp_graph_free(struct dp_graph *graph);

/* What has this name, in the graph's own memory; NULL if there is none. */
const struct dp_graph_process *dp_graph_find_process(const struct dp_graph *graph, const char *name);
const struct dp_graph_channel *dp_graph_find_channel(const struct dp_graph *graph, const char *name);

/* The node id of an endpoint's process. */
static inline uint16_t dp_graph_nid(const struct dp_graph *graph, const struct dp_graph_endpoint *endpoint)
{
    return graph->nodes[graph->processes[endpoint->process].node].nid;
}

/* ---- a process of a graph, opened ---- */

/* The endpoints that this program has as one process of a graph, and the channels that begin or end at them. */
struct dp_process;

/* A channel as one of its two processes sees it: the paper's 4-tuple, and the descriptor. */
struct dp_channel {
    const char *name;
    int fd;       /* of the endpoint of ours */
    bool outward; /* it begins here */
    uint16_t nid, dpid;
    uint16_t peer_nid, peer_dpid;
};

/*
 * Opens the endpoints of the process with this name. The graph is not needed any more afterwards. An endpoint where one
 * channel alone begins has its target set. NULL: ENOENT, no such process; EADDRNOTAVAIL, its node is not ours;
 * or what dp_open_on(), dp_mode() and dp_target() say.
 */
struct dp_process *dp_process_open(const struct dp_graph *graph, const char *name);

/*
 * The process as another graph has it: what is new is opened first, then what is gone is closed; what is in both stays
 * open with what waits there. 0; or -1 as from dp_process_open(), and then nothing has changed. EBUSY: an endpoint
 * would change its mode or interface (remove it first). Pointers to channels are void after a change.
 */
int dp_process_change(struct dp_process *process, const struct dp_graph *graph);

/* The channel of this name, if it begins or ends at this process; NULL and ENOENT if not. */
const struct dp_channel *dp_process_channel(const struct dp_process *process, const char *name);

/* All channels of this process, in the graph's order. */
const struct dp_channel *dp_process_channels(const struct dp_process *process, size_t *count);

/* The descriptor of an endpoint; -1 and ENOENT if this process has none with that DPID. */
int dp_process_fd(const struct dp_process *process, int dpid);

/*
 * dp_write() into a channel that begins here; the endpoint's target is changed first if it is another one. As
 * dp_write(), and EINVAL: the channel ends here.
 */
int dp_process_write(struct dp_process *process, const struct dp_channel *channel, const void *message, int bytes);

/* Closes all endpoints. NULL is allowed. */
void dp_process_close(struct dp_process *process);

#ifdef __cplusplus
}
#endif
#endif
