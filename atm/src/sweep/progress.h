/* progress.h - a line on a terminal that shows how far a sweep is. */
#ifndef SWEEP_PROGRESS_H
#define SWEEP_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool shown; /* or nothing is ever written */
    size_t total, done;
    int64_t began_ns;
    bool visible;
};

void progress_begin(struct progress *p, bool shown, size_t total);
void progress_step(struct progress *p); /* one more is done */
void progress_show(struct progress *p);
void progress_clear(struct progress *p); /* before something else is written */

#endif
