/*
 * mesh.h - the two applications of the four-APIs paper on a mesh of 2 x 2 workstations, in its decompositions, with
 * computing as a cost: their messages go through whatever stack, and their time comes out.
 */
#ifndef PVMA_MESH_H
#define PVMA_MESH_H

#include "lab.h"

struct mesh_setup {
    struct lab_setup lab; /* four hosts, or six with background traffic */
    enum lab_stack stack;
    double background;         /* load of the network by two more hosts' UDP at random times, 0 to 1 */
    unsigned background_bytes; /* of its datagrams */
    unsigned n;                /* of N x N */
    unsigned number_bytes;     /* of an element */
    double start_s;            /* what a run costs before it begins to talk */
    /* matmul: */
    double block_us; /* computing a block of C, a quarter of the sequential time */
    /* pde: */
    unsigned iterations, exchanges; /* how often in an iteration all borders go */
    double point_us;                /* a point in an iteration */
};

/* Seconds of virtual time, or -1 when it did not end; *events grows. */
double mesh_matmul(const struct mesh_setup *setup, unsigned long long *events);
double mesh_pde(const struct mesh_setup *setup, unsigned long long *events);

#endif
