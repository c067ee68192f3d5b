/* siblings.c - see siblings.h. */
#include "siblings.h"
#include <stdlib.h>
#include <string.h>
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "daemon.h"
#include "membership.h"
#include "relay.h"
#include "rpc.h"
#include "tasks.h"

/* The news for all of them, who share its memory; NULL when out of memory. */
static struct pvmi_message *news(const int *tids, int count)
{
    struct pvmi_message *m = pvmi_message_new(PVMI_ENC_DEFAULT);
    if (!m)
        return NULL;
    m->src = PVMI_TID_DAEMON;
    m->ctx = PVMI_CTX_TC;
    m->tag = (int32_t)PVMI_TC_SIBLINGS;
    if (!pvmi_message_pack(m, PVM_INT, &count, 1, 1) && !pvmi_message_pack(m, PVM_INT, tids, count, 1))
        return m;
    pvmi_message_unref(m);
    return NULL;
}

/* Who waits for it, and nobody else: a list may name a task many times. */
static void tell(struct pvmd_task *task, struct pvmi_message *m)
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
    struct pvmi_buf b;
    int32_t *sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted)
        return;
    memcpy(sorted, tids, count * sizeof *tids);
    qsort(sorted, count, sizeof *sorted, compare_tids);
    pvmi_buf_init(&b);
    pvmi_buf_put_u32(&b, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        pvmi_buf_put_i32(&b, tids[i]);
    unsigned told = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned host = pvmi_tid_host_index((pvmi_tid)sorted[i]);
        if (host != told)
            pvmd_ask(host, PVMD_DM_SIBLINGS, &b, NULL, NULL);
        told = host;
    }
    pvmi_buf_free(&b);
    free(sorted);
}

static int siblings_question(const struct pvmd_question *q, struct pvmi_buf *body)
{
    (void)q;
    uint32_t count = pvmi_buf_get_u32(body);
    if (count > pvmi_buf_left(body) / 4)
        return PVMI_ESHORT;
    int *tids = calloc(count + 1, sizeof *tids);
    for (uint32_t i = 0; tids && i < count; i++)
        tids[i] = pvmi_buf_get_i32(body);
    int rc = tids ? pvmi_buf_end(body) : PVMI_ENOMEM;
    struct pvmi_message *m = rc ? NULL : news(tids, (int)count);
    for (uint32_t i = 0; m && i < count; i++)
        tell(pvmd_task_by_tid((pvmi_tid)tids[i]), m);
    pvmi_message_unref(m);
    free(tids);
    return rc;
}

/* The spawner's daemon is gone before it told: nobody will, so each is alone for all we know. */
void pvmd_siblings_host_left(unsigned index)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->siblings_from == index) {
            int own = (int)task->tid;
            struct pvmi_message *m = news(&own, 1);
            if (m)
                tell(task, m);
            pvmi_message_unref(m);
        }
}

/* A task had others started by the resource manager: in the order of their start, which is not that of the hosts. */
static int siblings_request(const struct pvmd_request *r, struct pvmi_buf *body)
{
    (void)r;
    uint32_t count = pvmi_buf_get_u32(body);
    if (count > pvmi_buf_left(body) / 4 || count > PVMI_TID_LOCAL_MASK)
        return PVMI_EFORMAT;
    int32_t *tids = calloc(count + 1, sizeof *tids);
    for (uint32_t i = 0; tids && i < count; i++)
        tids[i] = pvmi_buf_get_i32(body);
    int rc = tids ? pvmi_buf_end(body) : PVMI_ENOMEM;
    if (!rc)
        pvmd_siblings_tell(tids, count);
    free(tids);
    return rc;
}

void pvmd_siblings_start(void)
{
    pvmd_tm_handle((int)PVMI_TM_SIBLINGS, siblings_request);
    pvmd_dm_handle(PVMD_DM_SIBLINGS, siblings_question);
}
