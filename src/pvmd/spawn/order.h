/*
 * order.h - an order to start tasks, which TM_SPAWN carries to the spawner's daemon and DM_EXEC to the hosts that start
 * them. Both have the same fields; in DM_EXEC `where` is the working directory, `count` is the host's share, and the
 * parent and the numbering follow.
 */
#ifndef PVMD_ORDER_H
#define PVMD_ORDER_H

#include <stdint.h>
#include "core/buf.h"
#include "pvmd/tasks/tasks.h"

#define PVMD_ORDER_COUNT_MAX PVMC_TID_LOCAL_MASK /* tasks of one pvm_spawn() */
#define PVMD_ORDER_TEXTS_MAX 65536               /* arguments, and variables */
#define PVMD_ORDER_PATH_MAX  4096                /* bytes of the program's name, and of `where` */

/* In the flags of DM_EXEC: standard error apart, because the parent's is, but without the rest of PvmTaskStreams. */
#define PVMD_ORDER_APART 0x20000000

struct pvmd_order {
    char *file;
    char **arguments; /* without argv[0]; ends with NULL, as environment does */
    uint32_t argument_count;
    uint32_t flags; /* PvmTask... */
    char *where;
    uint32_t count;
    char **environment; /* "NAME=value" */
    uint32_t environment_count;
    uint32_t context;
    struct pvmd_collector output, trace;
    char *trace_mask;
    int32_t trace_buffer, trace_options;
};

/* Reads an order's fields. Returns 0 or a PVMC_E code, PVMC_ELIMIT beyond the maxima above; pvmd_order_free() is due in
 * both cases. */
int pvmd_order_get(struct pvmc_buf *b, struct pvmd_order *order);

/* Writes an order's fields, with another `where` and `count`. */
void pvmd_order_put(struct pvmc_buf *b, const struct pvmd_order *order, const char *where, uint32_t count);

void pvmd_order_free(struct pvmd_order *order);

#endif
