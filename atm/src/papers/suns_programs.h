/*
 * suns_programs.h - the programs of the four-APIs paper, Tables 5 and 6, on four Suns: single runs, with the costs that
 * the paper's report declares.
 */
#ifndef PVMA_SUNS_PROGRAMS_H
#define PVMA_SUNS_PROGRAMS_H

#include "suns.h"

struct suns_program {
    enum lab_stack stack;
    double background; /* load of an Ethernet by other hosts: 0 to 1 */
    unsigned n;        /* of N x N */
    bool computes;     /* false: messages alone, without what hosts do between them */
    /* matmul: */
    double sequential_s; /* on one host */
    /* pde: */
    unsigned iterations;
};

/*
 * Seconds of virtual time, or -1 when the run did not end, on a setup for four hosts with its topology, which the
 * caller frees. Adds to *events.
 */
double suns_matmul_s(const struct suns *suns, const struct lab_setup *lab, const struct suns_program *program,
                     unsigned long long *events);
double suns_pde_s(const struct suns *suns, const struct lab_setup *lab, const struct suns_program *program,
                  unsigned long long *events);

/* Of these seconds, those of computing, on each of the hosts. */
double suns_matmul_computing_s(const struct suns_program *program);
double suns_pde_computing_s(const struct suns *suns, const struct suns_program *program);

/* What the programs take if no message takes any time: computing, and what no message explains. */
double suns_matmul_alone_s(const struct suns *suns, const struct suns_program *program);
double suns_pde_alone_s(const struct suns *suns, const struct suns_program *program);

#endif
