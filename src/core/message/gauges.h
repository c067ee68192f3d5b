/*
 * gauges.h - what a task shows of itself while it runs: a page of memory that the task writes and its daemon reads.
 *
 * The task makes the page, sealed against a change of its size, and passes it with TM_CONNECT. So a look at the tasks
 * costs them nothing, and also shows those that compute and answer no questions. A number may be read while it changes.
 */
#ifndef PVMC_GAUGES_H
#define PVMC_GAUGES_H

#include <stdint.h>

#define PVMC_GAUGES_BYTES   4096
#define PVMC_GAUGES_VERSION 1 /* a page with another one is not read */

/* X(name): the routes of messages: by the daemon, or directly by a transport. New ones go to the end. */
#define PVMC_GAUGES_ROUTES(X) X(daemon) X(shm) X(tcp) X(dp) X(rdma) X(ofi) X(atm) X(other)

enum pvmc_gauges_route_index {
#define X(name) PVMC_GAUGES_##name,
    PVMC_GAUGES_ROUTES(X)
#undef X
        PVMC_GAUGES_ROUTE_COUNT
};

/* Their names, by index. */
extern const char *const pvmc_gauges_route_names[PVMC_GAUGES_ROUTE_COUNT];

/* Since enrolment. A message to several tasks counts once for each. */
struct pvmc_gauges_route {
    uint64_t tx_messages, tx_bytes, rx_messages, rx_bytes;
};

/* What the task is in the middle of. Of several threads the last that began to wait counts. */
enum pvmc_gauges_doing {
    PVMC_GAUGES_WORKS,    /* it is not in a call that waits */
    PVMC_GAUGES_RECEIVES, /* it waits for a message */
    PVMC_GAUGES_SENDS,    /* it waits until a message is sent */
    PVMC_GAUGES_ASKS,     /* it waits for an answer of its daemon */
    PVMC_GAUGES_MEETS,    /* it waits for other members of a group */
};

struct pvmc_gauges {
    uint32_t version;
    uint32_t doing;    /* enum pvmc_gauges_doing */
    int32_t peer, tag; /* whom and what it waits for; -1: anybody, anything */
    int64_t since_us;  /* when it went to sleep in that wait, by pvmc_clock_us(); 0: it has not */
    uint64_t waiting_messages, waiting_bytes; /* received, and not asked for yet */
    struct pvmc_gauges_route routes[PVMC_GAUGES_ROUTE_COUNT];
};

#endif
