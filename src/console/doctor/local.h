/* local.h - runs all probes of this computer in a process of their own, which may hang or crash. */
#ifndef LOCAL_H
#define LOCAL_H

#include <jansson.h>
#include "console/child.h"

/* Starts them. 0 or an errno; the caller gathers the child's output and frees it. */
int local_start(struct child *child);

/* Adds the results, and an error if not all probes have ended. */
void local_take(const struct child *child, json_t *results);

#endif
