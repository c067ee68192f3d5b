/*
 * graph_process.c - opens the endpoints and channels that a process has in a graph, and changes them as a whole: the
 * new state is built beside the current one, and replaces it only if all of it could be opened.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dp_graph.h"

struct endpoint {
    struct dp_graph_endpoint is;
    int fd;
    bool fresh;            /* opened for this state, so closed if the state is given up */
    int old_nid, old_dpid; /* target before, 0: none */
};

struct state {
    struct endpoint *endpoints;
    struct dp_channel *channels;
    char (*names)[DP_GRAPH_NAME_MAX + 1]; /* of the channels */
    size_t endpoint_count, channel_count;
};

struct dp_process {
    char name[DP_GRAPH_NAME_MAX + 1];
    struct state now;
};

static struct endpoint *find(const struct state *s, int dpid)
{
    for (size_t i = 0; i < s->endpoint_count; i++)
        if (s->endpoints[i].is.dpid == dpid)
            return &s->endpoints[i];
    return NULL;
}

static void free_state(struct state *s)
{
    free(s->endpoints);
    free(s->channels);
    free(s->names);
    *s = (struct state){0};
}

/* ---- endpoints ---- */

/* Returns -1 with errno on failure. */
static int open_endpoint(struct endpoint *e, uint16_t nid)
{
    struct dpaddress address;
    e->fd = *e->is.interface ? dp_open_on(e->is.interface, e->is.dpid) : dp_open(e->is.dpid);
    if (e->fd < 0)
        return -1;
    e->fresh = true;
    if (dp_address(e->fd, &address) < 0)
        return -1;
    if (address.nid != nid) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    return dp_mode(e->fd, e->is.mode);
}

/* Takes the descriptor from the previous state, if the endpoint was in it; -1: errno. */
static int settle_endpoint(struct endpoint *e, const struct state *before, uint16_t nid)
{
    struct dpaddress address;
    const struct endpoint *known = find(before, e->is.dpid);
    if (!known)
        return open_endpoint(e, nid);
    if (known->is.mode != e->is.mode || strcmp(known->is.interface, e->is.interface)) {
        errno = EBUSY;
        return -1;
    }
    e->fd = known->fd;
    if (dp_address(e->fd, &address) < 0)
        return -1;
    if (address.nid != nid) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    e->old_nid = address.target_nid;
    e->old_dpid = address.target_dpid;
    return 0;
}

static int settle_endpoints(struct state *s, const struct state *before, const struct dp_graph *graph, size_t process)
{
    for (size_t i = 0; i < graph->endpoint_count; i++) {
        if (graph->endpoints[i].process != process)
            continue;
        struct endpoint *e = &s->endpoints[s->endpoint_count++];
        *e = (struct endpoint){.is = graph->endpoints[i], .fd = -1};
        if (settle_endpoint(e, before, dp_graph_nid(graph, &graph->endpoints[i])) < 0)
            return -1;
    }
    return 0;
}

/* ---- channels ---- */

static void add_channel(struct state *s, const struct dp_graph *graph, const struct dp_graph_channel *channel,
                        bool outward)
{
    const struct dp_graph_endpoint *from = &graph->endpoints[channel->from], *to = &graph->endpoints[channel->to];
    const struct dp_graph_endpoint *ours = outward ? from : to, *peer = outward ? to : from;
    char *name = s->names[s->channel_count];
    strcpy(name, channel->name);
    s->channels[s->channel_count++] = (struct dp_channel){.name = name,
                                                          .fd = find(s, ours->dpid)->fd,
                                                          .outward = outward,
                                                          .nid = dp_graph_nid(graph, ours),
                                                          .dpid = ours->dpid,
                                                          .peer_nid = dp_graph_nid(graph, peer),
                                                          .peer_dpid = peer->dpid};
}

static void add_channels(struct state *s, const struct dp_graph *graph, size_t process)
{
    for (size_t i = 0; i < graph->channel_count; i++) {
        const struct dp_graph_channel *channel = &graph->channels[i];
        if (graph->endpoints[channel->from].process == process)
            add_channel(s, graph, channel, true);
        else if (graph->endpoints[channel->to].process == process)
            add_channel(s, graph, channel, false);
    }
}

/* The channel that begins at this endpoint, if it is the only one. */
static const struct dp_channel *only_way_out(const struct state *s, int fd)
{
    const struct dp_channel *only = NULL;
    for (size_t i = 0; i < s->channel_count; i++)
        if (s->channels[i].fd == fd && s->channels[i].outward) {
            if (only)
                return NULL;
            only = &s->channels[i];
        }
    return only;
}

static int set_targets(const struct state *s)
{
    for (size_t i = 0; i < s->endpoint_count; i++) {
        const struct dp_channel *only = only_way_out(s, s->endpoints[i].fd);
        if (only && dp_target(only->fd, only->peer_nid, only->peer_dpid) < 0)
            return -1;
    }
    return 0;
}

/* ---- changing the state ---- */

/* Closes what was opened, and restores the previous targets. Keeps errno. */
static void undo(struct state *s)
{
    int error = errno;
    for (size_t i = 0; i < s->endpoint_count; i++) {
        const struct endpoint *e = &s->endpoints[i];
        if (e->fresh)
            dp_close(e->fd);
        else if (e->fd >= 0 && e->old_nid)
            dp_target(e->fd, e->old_nid, e->old_dpid); /* cannot fail: this target was set before */
    }
    free_state(s);
    errno = error;
}

/* -1: errno, and nothing has changed. */
static int build(struct state *s, const struct state *before, const struct dp_graph *graph, size_t process)
{
    *s = (struct state){.endpoints = calloc(graph->endpoint_count + 1, sizeof *s->endpoints),
                        .channels = calloc(graph->channel_count + 1, sizeof *s->channels),
                        .names = calloc(graph->channel_count + 1, sizeof *s->names)};
    if (!s->endpoints || !s->channels || !s->names) {
        free_state(s);
        errno = ENOMEM;
        return -1;
    }
    if (settle_endpoints(s, before, graph, process) == 0) {
        add_channels(s, graph, process);
        if (set_targets(s) == 0)
            return 0;
    }
    undo(s);
    return -1;
}

static void close_gone(const struct state *before, const struct state *now)
{
    for (size_t i = 0; i < before->endpoint_count; i++)
        if (!find(now, before->endpoints[i].is.dpid))
            dp_close(before->endpoints[i].fd);
}

int dp_process_change(struct dp_process *process, const struct dp_graph *graph)
{
    const struct dp_graph_process *found = dp_graph_find_process(graph, process->name);
    struct state next;
    if (!found) {
        errno = ENOENT;
        return -1;
    }
    if (build(&next, &process->now, graph, (size_t)(found - graph->processes)) < 0)
        return -1;
    for (size_t i = 0; i < next.endpoint_count; i++)
        next.endpoints[i].fresh = false;
    close_gone(&process->now, &next);
    free_state(&process->now);
    process->now = next;
    return 0;
}

struct dp_process *dp_process_open(const struct dp_graph *graph, const char *name)
{
    struct dp_process *process = calloc(1, sizeof *process);
    if (!process)
        return NULL;
    snprintf(process->name, sizeof process->name, "%s", name);
    if (dp_process_change(process, graph) == 0)
        return process;
    free(process);
    return NULL;
}

void dp_process_close(struct dp_process *process)
{
    if (!process)
        return;
    close_gone(&process->now, &(struct state){0});
    free_state(&process->now);
    free(process);
}

/* ---- queries ---- */

const struct dp_channel *dp_process_channels(const struct dp_process *process, size_t *count)
{
    *count = process->now.channel_count;
    return process->now.channels;
}

const struct dp_channel *dp_process_channel(const struct dp_process *process, const char *name)
{
    for (size_t i = 0; i < process->now.channel_count; i++)
        if (!strcmp(process->now.channels[i].name, name))
            return &process->now.channels[i];
    errno = ENOENT;
    return NULL;
}

int dp_process_fd(const struct dp_process *process, int dpid)
{
    const struct endpoint *e = find(&process->now, dpid);
    if (e)
        return e->fd;
    errno = ENOENT;
    return -1;
}

int dp_process_write(struct dp_process *process, const struct dp_channel *channel, const void *message, int bytes)
{
    (void)process;
    if (!channel->outward) {
        errno = EINVAL;
        return -1;
    }
    /* Set each time, since the program may have set another target on the descriptor. It costs one table lookup. */
    if (dp_target(channel->fd, channel->peer_nid, channel->peer_dpid) < 0)
        return -1;
    return dp_write(channel->fd, message, bytes);
}
