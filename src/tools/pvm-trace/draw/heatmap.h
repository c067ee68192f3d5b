/*
 * heatmap.h - the picture of who talked to whom: a square per pair of tasks, the darker the more bytes.
 */
#ifndef HEATMAP_H
#define HEATMAP_H

#include <stdio.h>
#include "summary.h"

void heatmap_write(FILE *f, const struct summary *s);

#endif
