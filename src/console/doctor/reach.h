/* reach.h - other hosts: whether the remote shell gets there, whether dpvm is there, and what its own doctor says. */
#ifndef REACH_H
#define REACH_H

#include <jansson.h>
#include "console/child.h"
#include "console/commands/target.h"

struct reach {
    struct target target;
    int limit_s;
    struct child *child; /* the remote shell; of the caller */
    int error;           /* why the child could not be started, else 0 */
};

/* Starts `pvm doctor --json` there. The caller gathers the child's output and frees it. */
void reach_start(struct reach *r);

/* The host's part of the answer: {name, version, results}. */
json_t *reach_take(const struct reach *r);

#endif
