/* layout.h - topologies of the experiments, built in memory instead of read from files. */
#ifndef PVMA_LAYOUT_H
#define PVMA_LAYOUT_H

#include "topology/topology.h"

/*
 * From now on this process lays out null models: networks that take a thousandth of the time in links, switches,
 * Ethernets and rings, without background sources. The hosts' costs stay.
 */
void layout_without_network(void);

/* By what the networks' times are divided: 1, or 1000 in null models. */
unsigned layout_speed(void);

/* A profile with all costs at their defaults. */
struct pvma_profile layout_profile(const char *name);

/* Sets a time of a profile, in microseconds. */
void layout_cost(struct pvma_profile *profile, enum pvma_cost cost, double us);

/* Options of the papers' switches: output queues with that latency and unlimited buffers. */
struct pvma_switch_options layout_output_queued(unsigned ports, pvma_ps latency);

/* An empty topology; free it with layout_free(), not with pvma_topology_free(). */
void layout_begin(struct pvma_topology *t, const char *name);
void layout_free(struct pvma_topology *t);

/* Add a node and return its number. The profile must outlive the network. */
unsigned layout_host(struct pvma_topology *t, const char *name, const struct pvma_profile *profile);
unsigned layout_switch(struct pvma_topology *t, const char *name, const struct pvma_switch_options *options);

/* Adds `count` hosts h1, h2, ... with consecutive numbers; returns the first. */
unsigned layout_hosts(struct pvma_topology *t, unsigned count, const struct pvma_profile *profile);

/* Links two nodes, each at its next free port. */
void layout_link(struct pvma_topology *t, unsigned a, unsigned b, int64_t rate_bps, pvma_ps propagation);

/* A topology of `count` hosts on one switch. */
void layout_star(struct pvma_topology *t, const char *name, unsigned count, const struct pvma_profile *profile,
                 const struct pvma_switch_options *options, int64_t rate_bps, pvma_ps propagation);

/* A source in a switch. */
void layout_source(struct pvma_topology *t, const char *name, unsigned at_switch,
                   const struct pvma_source_options *options);

#endif
