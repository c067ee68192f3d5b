/*
 * mesh.h - the papers' applications on four hosts, in their decompositions, with computing as a cost: their messages go
 * through whatever stack, and their time comes out.
 *
 *   0 1   matmul     A's stripes go along the rows, B's down the columns, the blocks of C to host 0
 *   2 3   pde        in each iteration all borders go to the neighbour beside and the one below or above
 *         molecules  in each iteration a halo goes to either neighbour of the ring 0-1-2-3-0
 *
 * On the Fore API a message is that and no more, unless `packs`: then PVM is on it (transport atm), which packs and
 * unpacks as over TCP, and adds the headers of its frames and of the reliability layer's packets; its acknowledgements
 * are left out.
 */
#ifndef PVMA_MESH_H
#define PVMA_MESH_H

#include "lab.h"

struct mesh_setup {
    struct lab_setup lab; /* four hosts, or six with background traffic */
    enum lab_stack stack;
    bool packs;                /* PVM on the Fore API */
    double background;         /* load of the network by datagrams between two more hosts, at even intervals: 0 to 1 */
    unsigned background_bytes; /* of a datagram */
    unsigned n;                /* of N x N */
    unsigned number_bytes;     /* of an element */
    double start_s;            /* what a run costs before it begins to talk */
    /* matmul: */
    double block_us; /* computing a block of C, a quarter of the sequential time */
    /* pde: */
    unsigned iterations, exchanges; /* how often in an iteration all borders go */
    double point_us;                /* a point in an iteration */
    /* molecules, and iterations: */
    uint32_t halo_bytes; /* at most 1 MB */
    double step_us;      /* computing an iteration */
};

/* Seconds of virtual time, or -1 when it did not end; *events grows. */
double mesh_matmul(const struct mesh_setup *setup, unsigned long long *events);
double mesh_pde(const struct mesh_setup *setup, unsigned long long *events);
double mesh_molecules(const struct mesh_setup *setup, unsigned long long *events);

#endif
