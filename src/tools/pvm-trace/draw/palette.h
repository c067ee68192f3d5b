/*
 * palette.h - the colours of pictures.
 */
#ifndef PALETTE_H
#define PALETTE_H

#include "tools/pvm-trace/timeline.h"

extern const unsigned palette_calls[CATEGORY_COUNT]; /* 0xRRGGBB */

/* A colour from light to dark for a value from 0 to 1, as 0xRRGGBB. */
unsigned palette_heat(double value);

#endif
