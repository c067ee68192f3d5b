/*
 * plane_wave.h - a case in which D psi is known at each site: the free field, seen with other axes of the colours at
 * each site. For solver.c.
 */
#ifndef PLANE_WAVE_H
#define PLANE_WAVE_H

#include "lattice.h"

/*
 * The largest difference of D psi from what it must be for a plane wave, over all tasks. Replaces the links, and
 * overwrites three vectors of the sites of one parity.
 */
double plane_wave_difference(struct block *block, struct spinor *psi, struct spinor *image, struct spinor *expected);

#endif
