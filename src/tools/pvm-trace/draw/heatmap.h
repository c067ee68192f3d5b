/*
 * heatmap.h - draws the traffic between tasks: a square per pair, darker for more bytes.
 */
#ifndef HEATMAP_H
#define HEATMAP_H

#include <stdio.h>
#include "summary.h"

void heatmap_write(FILE *f, const struct summary *s);

#endif
