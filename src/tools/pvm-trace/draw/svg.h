/*
 * svg.h - draws the space-time diagram: a lane per task, time from left to right, an arrow per message.
 */
#ifndef SVG_H
#define SVG_H

#include <stdio.h>
#include "tools/pvm-trace/pairs.h"

struct svg_options {
    int64_t from_us, to_us; /* time shown, since the first event; to_us < 0: to the end */
    int width;              /* length of the time axis in pixels */
    bool arrows;
};

void svg_write(FILE *f, const struct timeline *t, const struct pairs *p, const struct svg_options *o);

#endif
