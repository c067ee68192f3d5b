/*
 * mesh.h - the papers' applications on four hosts or eight, with their decompositions. Computing is a cost; messages go
 * through any of the stacks, and the result is the time of the run.
 *
 *   0 1   matmul     A's stripes go along the rows, B's down the columns, the blocks of C to host 0
 *   2 3   pde        in each iteration all borders go to the neighbour beside and the one below or above
 *         molecules  in each iteration a halo goes to either neighbour of the ring 0-1-2-3-0, or of a longer one
 *
 * On the Fore API a message has no headers, unless `packs` puts PVM on it (transport atm): PVM packs and unpacks as
 * over TCP, and adds the headers of its frames and of the reliability layer's packets. Its acknowledgements are left
 * out.
 */
#ifndef PVMA_MESH_H
#define PVMA_MESH_H

#include "lab/lab.h"

struct mesh_setup {
    struct lab_setup lab; /* four hosts, or six with background traffic */
    enum lab_stack stack;
    bool packs;                /* PVM on the Fore API */
    double background;         /* load of the network by datagrams between two more hosts: 0 to 1 */
    unsigned background_bytes; /* of a datagram */
    unsigned n;                /* of N x N */
    unsigned number_bytes;     /* of an element */
    double start_s;            /* start-up time before the first message */
    /* matmul: */
    double block_us; /* time to compute a block of C, a quarter of the sequential time */
    /* pde: */
    unsigned iterations, exchanges; /* exchanges of all borders per iteration */
    double point_us;                /* time of a point in an iteration */
    double iteration_us;            /* and of what else an iteration takes without sending anything */
    /* molecules, and iterations: */
    unsigned nodes;      /* of the ring; 0: 4, at most 8 */
    uint32_t halo_bytes; /* at most 1 MB */
    double step_us;      /* time to compute an iteration */
};

/* Return seconds of virtual time, or -1 when the run did not end. Add to *events. */
double mesh_matmul(const struct mesh_setup *setup, unsigned long long *events);
double mesh_pde(const struct mesh_setup *setup, unsigned long long *events);

/* The share of time in which frames crossed the Ethernet of the last run, as a sniffer sees it; 0 on other networks. */
double mesh_ethernet_load(void);

/* As the others, but with hosts in a ring of setup->nodes. */
double mesh_molecules(const struct mesh_setup *setup, unsigned long long *events);

#endif
