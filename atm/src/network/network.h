/*
 * network.h - a whole simulated network: built from a topology, with VCs, PDUs and counters. The layers above (the
 * Fore API, protocol stacks, experiments) start here; see also host.h (VCs), call.h (SVCs) and sim.h (time).
 *
 *     struct pvma_topology t;
 *     if (pvma_topology_load("lab.atm", &t)) ...
 *     struct pvma_net *net = pvma_net_new(&t, 1);
 *     struct pvma_vc *a, *b;
 *     pvma_net_pvc(net, pvma_net_host(net, "a"), pvma_net_host(net, "b"), &contract, &a, &b);
 *     pvma_vc_handle(b, &handler, NULL);
 *     pvma_vc_send(a, data, length, 0);          // now; for another time, from a pvma_sim_call() or an event
 *     pvma_sim_run(pvma_net_sim(net));
 */
#ifndef PVMA_NETWORK_H
#define PVMA_NETWORK_H

#include "call.h"
#include "nodes/host.h"
#include "nodes/source.h"
#include "nodes/switch.h"
#include "topology/topology.h"

struct pvma_net;

/* Builds a network with its PVCs and sources, at time 0. NULL: a PVC does not fit (logged). The topology must outlive
 * the network. */
struct pvma_net *pvma_net_new(const struct pvma_topology *topology, uint64_t seed);

/* Frees everything, including ends of VCs and calls, without callbacks. NULL is allowed. */
void pvma_net_free(struct pvma_net *net);

struct pvma_sim *pvma_net_sim(struct pvma_net *net);
const struct pvma_cells *pvma_net_cells(const struct pvma_net *net);

/* Hosts by name, by number (in the order of the topology) and by address; NULL when there is none. */
struct pvma_host *pvma_net_host(struct pvma_net *net, const char *name);
struct pvma_host *pvma_net_host_at(struct pvma_net *net, size_t index);
struct pvma_host *pvma_net_host_with(struct pvma_net *net, struct pvma_address address);
size_t pvma_net_host_count(const struct pvma_net *net);

struct pvma_switch *pvma_net_switch(struct pvma_net *net, const char *name);
struct pvma_switch *pvma_net_switch_at(struct pvma_net *net, size_t index);

/* The link from a node to its neighbour; NULL when there is none. */
struct pvma_link *pvma_net_link(struct pvma_net *net, const char *from, const char *to);
struct pvma_link *pvma_net_link_at(struct pvma_net *net, size_t index); /* the two directions are adjacent */
size_t pvma_net_link_count(const struct pvma_net *net);

/* An end of a PVC of the topology, in its order; NULL when there is no such index. */
struct pvma_vc *pvma_net_pvc_end(struct pvma_net *net, size_t index, bool called);

/* The topology's sources, in its order. */
struct pvma_source *pvma_net_source(struct pvma_net *net, size_t index);

/*
 * Sets up a permanent VC at once, without signalling, on the path with the fewest hops. *a is the end at `from`, *b
 * the end at `to`. Returns 0, or a cause of contract.h (> 0) when it does not fit.
 */
int pvma_net_pvc(struct pvma_net *net, struct pvma_host *from, struct pvma_host *to,
                 const struct pvma_contract *contract, struct pvma_vc **a, struct pvma_vc **b);

/*
 * The same for a duplex VC that the caller watches. If it `counts`, it takes one of the VCIs of `from` (vcis= of the
 * topology). *number is for pvma_net_pvc_is_up(), which tells whether all links of the VC are up.
 */
int pvma_net_pvc_watched(struct pvma_net *net, struct pvma_host *from, struct pvma_host *to,
                         const struct pvma_contract *contract, bool counts, struct pvma_vc **a, struct pvma_vc **b,
                         size_t *number);
bool pvma_net_pvc_is_up(const struct pvma_net *net, size_t number);

/* Calls changed(arg) from an event each time that a link has gone down or come back. One watcher; NULL: none. */
void pvma_net_watch_links(struct pvma_net *net, void (*changed)(void *arg), void *arg);

/*
 * Sets up a permanent point-to-multipoint VC. ends[i] becomes the end at to[i]. Returns 0, or a cause of contract.h
 * after undoing everything.
 */
int pvma_net_pvc_tree(struct pvma_net *net, struct pvma_host *from, struct pvma_host *const *to, size_t count,
                      const struct pvma_contract *contract, struct pvma_vc **a, struct pvma_vc **ends);

/* ---- counters ---- */

/* Sums over the whole network, by layer. */
struct pvma_net_counters {
    struct pvma_host_counters hosts;
    struct pvma_switch_counters switches;
    struct pvma_link_counters links;
};

void pvma_net_count(struct pvma_net *net, struct pvma_net_counters *counters);

/* Prints a table of all counters that are not 0, similar to netstat's and atmstat's. */
void pvma_net_report(struct pvma_net *net, FILE *out);

/* Max-min fair shares: flows[f] is a bit set of links (at most 64), capacity[l] of each link; fills in share[f]. */
void pvma_fair_shares(const uint64_t *flows, size_t flow_count, const double *capacity, size_t link_count,
                      double *share);

#endif
