/* path.c - grows a tree hop by hop and shares the channels that it has already. */
#include "path.h"

/* The state of a walk to a leaf. */
struct walk {
    struct pvma_node *node;         /* the current node */
    struct pvma_channel *before;    /* the channel that led here; NULL at the sender */
    struct pvma_channel *fork;      /* the channel after which the new part begins; NULL: at the sender */
    struct pvma_channel *first_new; /* the first channel of the new part */
    struct pvma_bandwidth granted;
};

/* The route of a channel's VC in the switch at its far end; NULL when the VC ends there. */
static struct pvma_route *route_behind(const struct pvma_channel *channel)
{
    if (channel->link->to->is_host)
        return NULL;
    return pvma_switch_route(pvma_switch_of(channel->link->to), channel->link->to_port, channel->vpi, channel->vci);
}

static struct pvma_channel *channel_of(const struct pvma_node *node, const struct pvma_branch *branch)
{
    return pvma_channel_find(node->port[branch->port].out, branch->vpi, branch->vci);
}

/* ---- pairs ---- */

/* The channel that follows one of a VC with one leaf; NULL at its end. */
static struct pvma_channel *next_of(const struct pvma_channel *channel)
{
    const struct pvma_route *route = route_behind(channel);
    return route ? channel_of(channel->link->to, route->branches) : NULL;
}

void pvma_path_pair(const struct pvma_path *there, const struct pvma_path *back)
{
    for (const struct pvma_channel *a = there->first; a; a = next_of(a))
        for (const struct pvma_channel *b = back->first; b; b = next_of(b))
            if (a->link->to == b->link->to && route_behind(a))
                pvma_switch_pair(route_behind(a), route_behind(b));
}

/* ---- removal ---- */

/* Removes a channel with everything after it, and the branch that leads to it. */
static void remove_hop(struct pvma_channel *before, struct pvma_channel *channel)
{
    struct pvma_branch *branch = before ? pvma_route_branch(route_behind(before), channel->link->from_port) : NULL;
    pvma_path_remove(channel);
    if (branch)
        pvma_switch_remove_branch(pvma_switch_of(before->link->to), branch);
}

void pvma_path_remove(struct pvma_channel *channel)
{
    /* removing the last branch removes the route */
    for (struct pvma_route *route; (route = route_behind(channel));)
        remove_hop(channel, channel_of(channel->link->to, route->branches));
    pvma_channel_give_back(channel);
}

bool pvma_path_is_up(const struct pvma_channel *channel)
{
    while (!channel->link->is_down) {
        const struct pvma_route *route = route_behind(channel);
        if (!route)
            return true;
        channel = channel_of(channel->link->to, route->branches);
    }
    return false;
}

/* ---- growing ---- */

static int add_hop(struct pvma_link *link, struct pvma_channel *before, const struct pvma_contract *contract, bool back,
                   struct pvma_channel **channel)
{
    int cause = pvma_channel_take(link, back ? &contract->back_wanted : &contract->wanted,
                                  back ? &contract->back_minimum : &contract->minimum, channel);
    if (cause || !before)
        return cause;
    struct pvma_switch *s = pvma_switch_of(link->from);
    struct pvma_route *route = route_behind(before);
    if (!route)
        route = pvma_switch_add_route(s, before->link->to_port, before->vpi, before->vci, contract);
    pvma_switch_police(s, route, &before->granted);
    pvma_switch_add_branch(s, route, link->from_port, (*channel)->vpi, (*channel)->vci);
    return 0;
}

/* The tree's channel out of a port; NULL when it has none. */
static struct pvma_channel *existing(const struct pvma_path *path, const struct walk *walk, unsigned port)
{
    if (!walk->before)
        return path->first;
    struct pvma_route *route = route_behind(walk->before);
    struct pvma_branch *branch = route ? pvma_route_branch(route, port) : NULL;
    return branch ? channel_of(walk->node, branch) : NULL;
}

static void narrow(struct pvma_bandwidth *granted, const struct pvma_bandwidth *hop)
{
    if (hop->peak_bps < granted->peak_bps)
        granted->peak_bps = hop->peak_bps;
    if (hop->mean_bps < granted->mean_bps)
        granted->mean_bps = hop->mean_bps;
    if (hop->burst_cells < granted->burst_cells)
        granted->burst_cells = hop->burst_cells;
}

static int step(const struct pvma_path *path, struct walk *walk, int port, const struct pvma_contract *contract,
                bool back)
{
    if (port < 0)
        return PVMA_CAUSE_NO_ROUTE;
    struct pvma_channel *next = existing(path, walk, (unsigned)port);
    if (!next) {
        int cause = add_hop(walk->node->port[port].out, walk->before, contract, back, &next);
        if (cause)
            return cause;
        if (!walk->first_new) {
            walk->fork = walk->before;
            walk->first_new = next;
        }
    }
    narrow(&walk->granted, &next->granted);
    walk->before = next;
    walk->node = next->link->to;
    return 0;
}

int pvma_path_extend(struct pvma_path *path, const struct pvma_routing *routing, struct pvma_node *from,
                     struct pvma_node *to, const struct pvma_contract *contract, bool back)
{
    struct walk walk = {.node = from, .granted = back ? contract->back_wanted : contract->wanted};
    while (walk.node != to) {
        int cause = step(path, &walk, pvma_routing_port(routing, walk.node, to->number), contract, back);
        if (cause) {
            if (walk.first_new)
                remove_hop(walk.fork, walk.first_new);
            return cause;
        }
    }
    path->last = walk.before;
    path->first = path->first ? path->first : walk.first_new;
    path->granted = walk.granted;
    return 0;
}
