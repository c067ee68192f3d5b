/* siblings.c - see siblings.h. */
#include "siblings.h"
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/frames/relay.h"
#include "pvmd/net/rpc.h"
#include "tasks.h"

/* Makes TC_SIBLINGS, whose memory all receivers share. NULL: out of memory. */
static struct pvmc_message *news(const int *tids, int count)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    if (!m)
        return NULL;
    m->src = PVMC_TID_DAEMON;
    m->ctx = PVMC_CTX_TC;
    m->tag = (int32_t)PVMC_TC_SIBLINGS;
    if (!pvmc_message_pack(m, PVM_INT, &count, 1, 1) && !pvmc_message_pack(m, PVM_INT, tids, count, 1))
        return m;
    pvmc_message_unref(m);
    return NULL;
}

/* Tells only a task that still waits, because a list may name a task many times. */
static void tell(struct pvmd_task *task, struct pvmc_message *m)
{
    if (!task || !task->siblings_from)
        return;
    task->siblings_from = 0;
    m->dst = task->tid;
    pvmd_relay_message(m);
}

static int compare_tids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

void pvmd_siblings_tell(const int32_t *tids, size_t count)
{
    struct pvmc_buf b;
    int32_t *sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted)
        return;
    memcpy(sorted, tids, count * sizeof *tids);
    qsort(sorted, count, sizeof *sorted, compare_tids);
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        pvmc_buf_put_i32(&b, tids[i]);
    unsigned told = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned host = pvmc_tid_host_index((pvmc_tid)sorted[i]);
        if (host != told)
            pvmd_ask(host, PVMD_DM_SIBLINGS, &b, NULL, NULL);
        told = host;
    }
    pvmc_buf_free(&b);
    free(sorted);
}

static int siblings_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    (void)q;
    uint32_t count = pvmc_buf_get_u32(body);
    if (count > pvmc_buf_left(body) / 4)
        return PVMC_ESHORT;
    int *tids = calloc(count + 1, sizeof *tids);
    for (uint32_t i = 0; tids && i < count; i++)
        tids[i] = pvmc_buf_get_i32(body);
    int rc = tids ? pvmc_buf_end(body) : PVMC_ENOMEM;
    struct pvmc_message *m = rc ? NULL : news(tids, (int)count);
    for (uint32_t i = 0; m && i < count; i++)
        tell(pvmd_task_by_tid((pvmc_tid)tids[i]), m);
    pvmc_message_unref(m);
    free(tids);
    return rc;
}

/* The spawner's daemon was lost before it told our tasks, so each of them is its only sibling. */
void pvmd_siblings_host_left(unsigned index)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->siblings_from == index) {
            int own = (int)task->tid;
            struct pvmc_message *m = news(&own, 1);
            if (m)
                tell(task, m);
            pvmc_message_unref(m);
        }
}

/* The resource manager started these tasks: tids are in order of start, not of hosts. */
static int siblings_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    (void)r;
    uint32_t count = pvmc_buf_get_u32(body);
    if (count > pvmc_buf_left(body) / 4 || count > PVMC_TID_LOCAL_MASK)
        return PVMC_EFORMAT;
    int32_t *tids = calloc(count + 1, sizeof *tids);
    for (uint32_t i = 0; tids && i < count; i++)
        tids[i] = pvmc_buf_get_i32(body);
    int rc = tids ? pvmc_buf_end(body) : PVMC_ENOMEM;
    if (!rc)
        pvmd_siblings_tell(tids, count);
    free(tids);
    return rc;
}

void pvmd_siblings_start(void)
{
    pvmd_tm_handle((int)PVMC_TM_SIBLINGS, siblings_request);
    pvmd_dm_handle(PVMD_DM_SIBLINGS, siblings_question);
}
