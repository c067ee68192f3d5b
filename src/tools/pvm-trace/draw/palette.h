/*
 * palette.h - the colours of pictures.
 */
#ifndef PALETTE_H
#define PALETTE_H

#include "timeline.h"

extern const unsigned palette_calls[CATEGORY_COUNT]; /* 0xRRGGBB */

/* From light to dark, for 0 to 1. */
unsigned palette_heat(double value);

#endif
