/*
 * dirac.h - Wilson's D, the part of the fermion matrix that couples each site with its neighbours. For solver.c.
 */
#ifndef DIRAC_H
#define DIRAC_H

#include "lattice.h"

/*
 * result = D psi for the sites of `parity`; psi has those of the other one. All tasks call it: the sides of their
 * blocks are exchanged.
 */
void dirac_apply(const struct block *block, struct spinor *result, const struct spinor *psi, int parity);

#endif
