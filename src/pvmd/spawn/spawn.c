/* spawn.c - see spawn.h. A spawn goes in rounds: deal the tasks not yet started to hosts, and wait for all answers. */
#include "spawn.h"
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "order.h"
#include "output.h"
#include "placement.h"
#include "pvmd/base/hosts.h"
#include "pvmd/net/rpc.h"
#include "pvmd/tasks/siblings.h"
#include "pvmd/tasks/tasks.h"
#include "pvmd/tasks/trace.h"
#include "why.h"

struct spawn {
    struct pvmd_request request;
    struct pvmd_order order;
    struct pvmd_placement placement; /* hosts that failed are taken out */
    int32_t *results;                /* of each task: its tid, an error, or 0 while there is none */
    unsigned waiting;                /* hosts that have not answered */
    bool tells_why;                  /* PVMC_SPAWN_WHY */
    struct pvmd_why why;             /* of the first failure, with its host */
};

/* One host's share in a round. */
struct part {
    struct spawn *spawn;
    size_t count;
    uint32_t slots[]; /* indexes into results */
};

static int32_t parent_of_new(const struct spawn *s)
{
    return s->order.flags & PvmNoSpawnParent ? PvmParentNotSet : (int32_t)s->request.tid;
}

static void spawn_free(struct spawn *s)
{
    pvmd_order_free(&s->order);
    pvmd_placement_free(&s->placement);
    free(s->results);
    free(s);
}

/* ---- the end ---- */

static void put_siblings(struct pvmc_buf *b, const int32_t *tids, size_t count)
{
    pvmc_buf_put_u32(b, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        pvmc_buf_put_i32(b, tids[i]);
}

static void tell_none_is_left(struct spawn *s)
{
    const struct pvmd_host *leaving = s->placement.leaving ? pvmd_host_by_index(s->placement.leaving) : NULL;
    if (leaving)
        pvmd_why(&s->why, PVMC_LOG_DEBUG, "host %s is leaving the machine", leaving->name);
    else
        pvmd_why(&s->why, PVMC_LOG_DEBUG, "no host is left that suits \"%s\"", s->order.where);
}

/* A host's reason; without one, no host was asked. */
static void put_why(struct pvmc_buf *b, struct spawn *s, size_t started)
{
    if (!s->tells_why)
        return;
    if (started < s->order.count)
        tell_none_is_left(s);
    pvmc_buf_put_string(b, started < s->order.count ? s->why.text : "");
}

/* Started tasks first, in spawn order, then the errors. Returns how many started. */
static size_t sort_results(int32_t *results, size_t count, int32_t *sorted)
{
    size_t n = 0, started;
    for (size_t i = 0; i < count; i++)
        if (results[i] > 0)
            sorted[n++] = results[i];
    started = n;
    for (size_t i = 0; i < count; i++)
        if (results[i] <= 0)
            sorted[n++] = results[i];
    return started;
}

static void finish(struct spawn *s)
{
    size_t count = s->order.count;
    int32_t *sorted = malloc(count * sizeof *sorted);
    if (sorted) {
        size_t started = sort_results(s->results, count, sorted);
        struct pvmc_buf b;
        for (size_t i = 0; i < started; i++) {
            pvmd_trace_spawned(&s->order.trace, (pvmc_tid)sorted[i], parent_of_new(s));
            pvmd_output_spawned(&s->order.output, (pvmc_tid)sorted[i], parent_of_new(s));
        }
        pvmc_buf_init(&b);
        put_siblings(&b, sorted, count);
        put_why(&b, s, started);
        pvmd_request_answer(&s->request, (int)started, &b);
        pvmc_buf_free(&b);
        pvmd_siblings_tell(sorted, started);
    } else {
        pvmd_request_answer(&s->request, PvmNoMem, NULL);
    }
    free(sorted);
    pvmd_output_spawn_ends(s->request.tid);
    spawn_free(s);
}

/* ---- rounds ---- */

static void deal(struct spawn *s);

static void remove_host(struct spawn *s, unsigned host_index)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->placement.count; i++)
        if (s->placement.hosts[i] != host_index)
            s->placement.hosts[kept++] = s->placement.hosts[i];
    s->placement.count = kept;
}

/* Keeps the first reason, and names its host. */
static void take_why(struct spawn *s, unsigned host_index, int code, struct pvmc_buf *body)
{
    char *text = code < 0 ? NULL : pvmc_buf_get_string(body);
    const struct pvmd_host *host = pvmd_host_by_index(host_index);
    if (!host)
        pvmd_why(&s->why, PVMC_LOG_DEBUG, "a host was lost meanwhile");
    else if (text && *text)
        pvmd_why(&s->why, PVMC_LOG_DEBUG, "%s: %s", host->name, text);
    else if (code < 0)
        pvmd_why(&s->why, PVMC_LOG_DEBUG, "%s refuses the order", host->name);
    free(text);
}

/* Takes one host's answer. Returns whether all its tasks were started. */
static bool take_results(struct part *part, unsigned host_index, int code, struct pvmc_buf *body)
{
    bool all = true;
    uint32_t n = code < 0 ? 0 : pvmc_buf_get_u32(body);
    for (size_t i = 0; i < part->count; i++) {
        int32_t result = i < n ? pvmc_buf_get_i32(body) : code < 0 ? code : PvmDSysErr;
        part->spawn->results[part->slots[i]] = result;
        all = all && result > 0;
    }
    take_why(part->spawn, host_index, code, body);
    return all;
}

static void exec_answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    struct part *part = arg;
    struct spawn *s = part->spawn;
    if (!take_results(part, host_index, code, body))
        remove_host(s, host_index);
    free(part);
    if (!--s->waiting)
        deal(s);
}

static void ask_host(struct spawn *s, unsigned host_index, struct part *part)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmd_order_put(&b, &s->order, s->placement.directory, (uint32_t)part->count);
    pvmc_buf_put_i32(&b, parent_of_new(s));
    pvmc_buf_put_u32(&b, part->slots[0]);
    pvmc_buf_put_u32(&b, s->order.count);
    s->waiting++;
    pvmd_ask(host_index, PVMD_DM_EXEC, &b, exec_answered, part);
    pvmc_buf_free(&b);
}

static struct part *part_new(struct spawn *s, const uint32_t *slots, size_t count)
{
    struct part *part = malloc(sizeof *part + count * sizeof *slots);
    if (!part)
        return NULL;
    part->spawn = s;
    part->count = count;
    memcpy(part->slots, slots, count * sizeof *slots);
    return part;
}

/* The slots without a task, in order; NULL when out of memory. */
static uint32_t *open_slots(const struct spawn *s, size_t *count)
{
    uint32_t *slots = malloc(s->order.count * sizeof *slots);
    *count = 0;
    for (uint32_t i = 0; slots && i < s->order.count; i++)
        if (s->results[i] <= 0)
            slots[(*count)++] = i;
    return slots;
}

/* Begins a round, or ends the spawn if no task or no host is left. */
static void deal(struct spawn *s)
{
    size_t open, done = 0;
    uint32_t *slots = open_slots(s, &open);
    size_t hosts = slots && open ? s->placement.count : 0;
    for (size_t i = 0; i < hosts && done < open; i++) {
        size_t share = pvmd_placement_share(open, hosts, i);
        struct part *part = part_new(s, slots + done, share);
        done += share;
        if (part)
            ask_host(s, s->placement.hosts[i], part);
        pvmd_placement_used(s->order.flags, s->placement.hosts[i]);
    }
    free(slots);
    if (!s->waiting)
        finish(s);
}

/* ---- requests ---- */

static int begin(struct spawn *s)
{
    int rc = pvmd_placement_find(s->order.flags, s->order.where, &s->placement);
    s->results = rc ? NULL : calloc(s->order.count, sizeof *s->results);
    if (!s->results)
        return PVMC_ENOMEM;
    for (uint32_t i = 0; i < s->order.count; i++)
        s->results[i] = PvmNoHost; /* unless one is found */
    pvmd_output_spawn_begins(s->request.tid);
    deal(s);
    return 0;
}

static int refuse(const struct pvmd_request *r)
{
    pvmc_log(PVMC_LOG_WARNING, "t%x: no spawn with more than %d arguments or variables, or names of more than %d bytes",
             r->tid, PVMD_ORDER_TEXTS_MAX, PVMD_ORDER_PATH_MAX);
    pvmd_request_answer(r, PvmOutOfRes, NULL);
    return 0;
}

static int spawn_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    struct spawn *s = calloc(1, sizeof *s);
    if (!s)
        return PVMC_ENOMEM;
    s->request = *r;
    int rc = pvmd_order_get(body, &s->order);
    s->tells_why = s->order.flags & PVMC_SPAWN_WHY;
    s->order.flags &= ~(uint32_t)(PVMC_SPAWN_WHY | PVMD_ORDER_APART);
    if (pvmd_output_is_apart(r->tid, &s->order.output))
        s->order.flags |= PVMD_ORDER_APART;
    if (!rc)
        rc = pvmc_buf_end(body);
    if (!rc && (s->order.count < 1 || s->order.count > PVMD_ORDER_COUNT_MAX)) {
        pvmd_request_answer(r, PvmBadParam, NULL);
        spawn_free(s);
        return 0;
    }
    if (rc == PVMC_ELIMIT)
        rc = refuse(r);
    else if (!rc && !(rc = begin(s)))
        return 0;
    spawn_free(s);
    return rc;
}

void pvmd_spawn_start(void)
{
    pvmd_tm_handle(PVMC_TM_SPAWN, spawn_request);
}
