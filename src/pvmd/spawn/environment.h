/* environment.h - the environment variables of a started process, and $NAME in paths. */
#ifndef PVMD_ENVIRONMENT_H
#define PVMD_ENVIRONMENT_H

#include <stddef.h>
#include "order.h"

struct pvmd_variable;

struct pvmd_environment {
    char **variables; /* "NAME=value", ends with NULL */
    size_t count, capacity;
    struct pvmd_variable *by_name;
};

/*
 * Takes the daemon's own variables, overrides them by the order's, and adds what a task needs to find its daemon and
 * itself. Returns 0 or PVMC_ENOMEM; pvmd_environment_free() is due in both cases.
 */
int pvmd_environment_make(const struct pvmd_order *order, struct pvmd_environment *e);

/* Sets or replaces a variable, given as "NAME=value". Returns 0 or PVMC_ENOMEM. */
int pvmd_environment_set(struct pvmd_environment *e, const char *variable);

/* The value of a variable, valid until it is changed; NULL if it is not set. */
const char *pvmd_environment_get(const struct pvmd_environment *e, const char *name);

void pvmd_environment_free(struct pvmd_environment *e);

/*
 * Returns a copy of text with $NAME and ${NAME} replaced, unknown ones by nothing. PVM_ROOT, PVM_ARCH and HOME have
 * values even if they are not set. NULL when out of memory; the caller frees it.
 */
char *pvmd_environment_expand(const char *text);

#endif
