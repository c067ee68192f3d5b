/* usage.c - pvm_usage: what hosts and tasks are doing. */
#include <stdint.h>
#include <stdlib.h>
#include "core/error.h"
#include "core/message/gauges.h"
#include "core/message/proto.h"
#include "dpvm.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/lock.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/request.h"
#include "enrol.h"

#define HOST_BYTES  77 /* of a row, at least */
#define TASK_BYTES  71
#define ROUTE_BYTES 33

struct usage {
    struct pvmhostusage *hosts;
    int count;
};

static _Thread_local struct usage shown; /* what the last pvm_usage() returned */

static void free_usage(struct usage *u)
{
    for (int i = 0; i < u->count; i++) {
        for (int j = 0; j < u->hosts[i].hu_ntask; j++)
            free(u->hosts[i].hu_tasks[j].tu_routes);
        free(u->hosts[i].hu_tasks);
    }
    free(u->hosts);
    *u = (struct usage){0};
}

__attribute__((destructor)) static void free_shown(void)
{
    free_usage(&shown);
}

/* ---- reading the answer ---- */

/* Room for n rows. NULL: *rc tells why. */
static void *room_for(const struct pvmc_buf *b, uint32_t n, size_t row_bytes, size_t size, int *rc)
{
    *rc = pvmc_buf_error(b) || n > pvmc_buf_left(b) / row_bytes ? PVMC_EFORMAT : 0;
    void *rows = *rc ? NULL : calloc(n ? n : 1, size);
    if (!*rc && !rows)
        *rc = PVMC_ENOMEM;
    return rows;
}

static long long get_count(struct pvmc_buf *b)
{
    return (long long)pvmc_buf_get_u64(b);
}

static int read_routes(struct pvmc_buf *b, struct pvmtaskusage *t)
{
    int rc, n = pvmc_buf_get_u8(b);
    t->tu_routes = room_for(b, (uint32_t)n, ROUTE_BYTES, sizeof *t->tu_routes, &rc);
    for (; !rc && t->tu_nroute < n; t->tu_nroute++) {
        struct pvmrouteusage *r = &t->tu_routes[t->tu_nroute];
        uint8_t route = pvmc_buf_get_u8(b);
        r->ru_name = pvmc_gauges_route_names[route < PVMC_GAUGES_ROUTE_COUNT ? route : PVMC_GAUGES_other];
        r->ru_sent = get_count(b);
        r->ru_sent_bytes = get_count(b);
        r->ru_received = get_count(b);
        r->ru_received_bytes = get_count(b);
    }
    return rc;
}

static enum pvmdoes does(bool shows, uint32_t doing)
{
    static const enum pvmdoes public[] = {[PVMC_GAUGES_WORKS] = PvmDoesWork,
                                          [PVMC_GAUGES_RECEIVES] = PvmDoesReceive,
                                          [PVMC_GAUGES_SENDS] = PvmDoesSend,
                                          [PVMC_GAUGES_ASKS] = PvmDoesAsk,
                                          [PVMC_GAUGES_MEETS] = PvmDoesMeet};
    return shows && doing < sizeof public / sizeof *public ? public[doing] : PvmDoesUnknown;
}

static int read_task(struct pvmc_buf *b, struct pvmtaskusage *t)
{
    t->tu_tid = pvmc_buf_get_i32(b);
    t->tu_pid = pvmc_buf_get_i32(b);
    t->tu_state = pvmc_buf_get_u8(b);
    t->tu_cpu_us = get_count(b);
    t->tu_memory_bytes = get_count(b);
    t->tu_queue_bytes = get_count(b);
    bool shows = pvmc_buf_get_u8(b);
    t->tu_does = does(shows, pvmc_buf_get_u32(b));
    t->tu_peer = pvmc_buf_get_i32(b);
    t->tu_tag = pvmc_buf_get_i32(b);
    t->tu_waits_us = get_count(b);
    t->tu_waiting = get_count(b);
    t->tu_waiting_bytes = get_count(b);
    return read_routes(b, t);
}

static int read_host(struct pvmc_buf *b, struct pvmhostusage *h)
{
    int rc;
    h->hu_tid = pvmc_buf_get_i32(b);
    h->hu_pid = pvmc_buf_get_i32(b);
    pvmc_buf_get_u8(b); /* the daemon's state: it runs */
    h->hu_daemon_cpu_us = get_count(b);
    h->hu_daemon_memory_bytes = get_count(b);
    h->hu_processors = pvmc_buf_get_i32(b);
    h->hu_load = pvmc_buf_get_u32(b) / 1000.0;
    h->hu_busy_us = get_count(b);
    h->hu_memory_bytes = get_count(b);
    h->hu_available_bytes = get_count(b);
    h->hu_relayed = get_count(b);
    h->hu_relayed_bytes = get_count(b);
    uint32_t n = pvmc_buf_get_u32(b);
    h->hu_tasks = room_for(b, n, TASK_BYTES, sizeof *h->hu_tasks, &rc);
    while (!rc && h->hu_ntask < (int)n)
        rc = read_task(b, &h->hu_tasks[h->hu_ntask++]);
    return rc;
}

static int read_usage(struct pvmc_buf *b, void *arg)
{
    struct usage *u = arg;
    int rc;
    uint32_t n = pvmc_buf_get_u32(b);
    u->hosts = room_for(b, n, HOST_BYTES, sizeof *u->hosts, &rc);
    while (!rc && u->count < (int)n)
        rc = read_host(b, &u->hosts[u->count++]);
    return rc;
}

/* ---- the call ---- */

static int ask(int where, struct usage *u)
{
    struct pvmc_buf body;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, (uint32_t)where);
    rc = pvmi_request_read(PVMC_TM_USAGE, &body, read_usage, u);
    if (rc)
        free_usage(u);
    return rc;
}

static int show(int where, int *nhost, struct pvmhostusage **hosts)
{
    struct usage u = {0};
    int rc = ask(where, &u);
    if (rc)
        return rc;
    free_usage(&shown);
    shown = u;
    pvmi_lock_at_thread_end(free_shown);
    if (nhost)
        *nhost = u.count;
    if (hosts)
        *hosts = u.hosts;
    return 0;
}

int pvm_usage(int where, int *nhost, struct pvmhostusage **hosts)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvm_usage", show(where, nhost, hosts));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}
