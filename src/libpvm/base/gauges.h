/* gauges.h - the gauges of this task. See core/message/gauges.h. */
#ifndef PVMI_GAUGES_H
#define PVMI_GAUGES_H

#include "core/message/gauges.h"

/* Never NULL: without memory to share, and outside the machine, nobody sees them. */
extern struct pvmc_gauges *pvmi_gauges;

/*
 * Starts with fresh gauges, before the links are opened. The descriptor for the daemon, which the caller owns; -1:
 * there is no memory to share.
 */
int pvmi_gauges_open(void);

/* Stops showing them; also in a forked child. The links are closed. */
void pvmi_gauges_close(void);

/* The gauges of a transport's links; by NULL: of the daemon's. */
struct pvmc_gauges_route *pvmi_gauges_route(const char *transport);

/* What the task did before a wait. */
struct pvmi_gauges_wait {
    uint32_t doing;
    int32_t peer, tag;
    int64_t since_us;
};

/* Brackets a wait. A handler that runs meanwhile may wait, too. */
static inline struct pvmi_gauges_wait pvmi_gauges_begin(enum pvmc_gauges_doing doing, int peer, int tag)
{
    struct pvmc_gauges *g = pvmi_gauges;
    struct pvmi_gauges_wait outer = {g->doing, g->peer, g->tag, g->since_us};
    g->doing = doing;
    g->peer = peer;
    g->tag = tag;
    g->since_us = 0;
    return outer;
}

static inline void pvmi_gauges_end(const struct pvmi_gauges_wait *outer)
{
    struct pvmc_gauges *g = pvmi_gauges;
    g->doing = outer->doing;
    g->peer = outer->peer;
    g->tag = outer->tag;
    g->since_us = outer->since_us;
}

/* The program has jumped out of its waits. */
static inline void pvmi_gauges_undo(void)
{
    pvmi_gauges->doing = PVMC_GAUGES_WORKS;
    pvmi_gauges->since_us = 0;
}

/* A wait goes to sleep, perhaps not for the first time. */
static inline void pvmi_gauges_sleep(int64_t now_us)
{
    if (!pvmi_gauges->since_us)
        pvmi_gauges->since_us = now_us;
}

#endif
