/* digest.h - a digest over the simulations of a process, for experiments to show that equal runs are equal. */
#ifndef PVMA_LAB_DIGEST_H
#define PVMA_LAB_DIGEST_H

#include "base/sim.h"

/* Adds the digest of a simulation that has ended, before it is freed. */
void lab_note(const struct pvma_sim *sim);

/* A digest over the kind and time of each event of all simulations that this process has noted, in that order. */
uint64_t lab_digest(void);

#endif
