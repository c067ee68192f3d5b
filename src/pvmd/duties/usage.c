/* usage.c - TM_USAGE: what one host or all, and their tasks, are doing. doc/protocol.md has the rows. */
#include <unistd.h>
#include "core/clock.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/base/stats.h"
#include "pvmd/tasks/gauges.h"
#include "pvmd/tasks/process.h"
#include "info.h"
#include "listing.h"

static void put_process(struct pvmc_buf *b, pid_t pid)
{
    struct pvmd_process p = {.state = '?'};
    pvmd_process_read(pid, &p);
    pvmc_buf_put_u32(b, (uint32_t)pid);
    pvmc_buf_put_u8(b, (uint8_t)p.state);
    pvmc_buf_put_u64(b, p.cpu_us);
    pvmc_buf_put_u64(b, p.memory_bytes);
}

/* Only routes that have been used. */
static void put_routes(struct pvmc_buf *b, const struct pvmc_gauges *g)
{
    uint8_t n = 0;
    for (unsigned i = 0; i < PVMC_GAUGES_ROUTE_COUNT; i++)
        n += g->routes[i].tx_messages || g->routes[i].rx_messages;
    pvmc_buf_put_u8(b, n);
    for (unsigned i = 0; i < PVMC_GAUGES_ROUTE_COUNT && n; i++) {
        const struct pvmc_gauges_route *r = &g->routes[i];
        if (!r->tx_messages && !r->rx_messages)
            continue;
        n--; /* the task may have used another route meanwhile */
        pvmc_buf_put_u8(b, (uint8_t)i);
        pvmc_buf_put_u64(b, r->tx_messages);
        pvmc_buf_put_u64(b, r->tx_bytes);
        pvmc_buf_put_u64(b, r->rx_messages);
        pvmc_buf_put_u64(b, r->rx_bytes);
    }
}

static void put_task(struct pvmc_buf *b, const struct pvmd_task *task)
{
    struct pvmc_gauges g;
    bool shows = pvmd_gauges_read(task->gauges, &g);
    int64_t now_us = pvmc_clock_us(), since_us = g.since_us;
    pvmc_buf_put_u32(b, task->tid);
    put_process(b, task->pid);
    pvmc_buf_put_u64(b, task->queue.bytes);
    pvmc_buf_put_u8(b, shows);
    pvmc_buf_put_u32(b, g.doing);
    pvmc_buf_put_i32(b, g.peer);
    pvmc_buf_put_i32(b, g.tag);
    pvmc_buf_put_u64(b, since_us > 0 && since_us < now_us ? (uint64_t)(now_us - since_us) : 0);
    pvmc_buf_put_u64(b, g.waiting_messages);
    pvmc_buf_put_u64(b, g.waiting_bytes);
    put_routes(b, &g);
}

static void put_host(struct pvmc_buf *b)
{
    struct pvmd_host_load load = pvmd_process_host();
    pvmc_buf_put_u32(b, pvmd_host_tid());
    put_process(b, getpid());
    pvmc_buf_put_u32(b, load.processors);
    pvmc_buf_put_u32(b, load.load_milli);
    pvmc_buf_put_u64(b, load.busy_us);
    pvmc_buf_put_u64(b, load.memory_bytes);
    pvmc_buf_put_u64(b, load.available_bytes);
    pvmc_buf_put_u64(b, pvmd_stats.frames);
    pvmc_buf_put_u64(b, pvmd_stats.bytes);
}

/* One row: the host, and its tasks that are asked for. */
static uint32_t put_rows(struct pvmc_buf *rows, pvmc_tid where)
{
    const struct pvmd_task *task;
    uint32_t n = 0;
    for (task = pvmd_tasks; task; task = task->hh.next)
        n += pvmd_listing_covers(where, task);
    put_host(rows);
    pvmc_buf_put_u32(rows, n);
    for (task = pvmd_tasks; task; task = task->hh.next)
        if (pvmd_listing_covers(where, task))
            put_task(rows, task);
    return 1;
}

static int usage_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    return pvmd_listing_answer(q, body, put_rows);
}

static int usage_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    return pvmd_listing_ask(r, body, PVMD_DM_USAGE);
}

void pvmd_usage_start(void)
{
    pvmd_tm_handle(PVMC_TM_USAGE, usage_request);
    pvmd_dm_handle(PVMD_DM_USAGE, usage_question);
}
