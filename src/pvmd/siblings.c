/* siblings.c - see siblings.h. */
#include "siblings.h"
#include <stdlib.h>
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "daemon.h"
#include "membership.h"
#include "relay.h"
#include "rpc.h"
#include "tasks.h"

static void tell(struct pvmd_task *task, const int *tids, int count)
{
    struct pvmi_message *m = pvmi_message_new(PVMI_ENC_DEFAULT);
    if (!m)
        return;
    task->siblings_from = 0;
    m->src = PVMI_TID_DAEMON;
    m->dst = task->tid;
    m->ctx = PVMI_CTX_TC;
    m->tag = (int32_t)PVMI_TC_SIBLINGS;
    if (!pvmi_message_pack(m, PVM_INT, &count, 1, 1) && !pvmi_message_pack(m, PVM_INT, tids, count, 1))
        pvmd_relay_message(m);
    pvmi_message_unref(m);
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
    for (uint32_t i = 0; !rc && i < count; i++) {
        struct pvmd_task *task = pvmd_task_by_tid((pvmi_tid)tids[i]);
        if (task)
            tell(task, tids, (int)count);
    }
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
            tell(task, &own, 1);
        }
}

void pvmd_siblings_start(void)
{
    pvmd_dm_handle(PVMD_DM_SIBLINGS, siblings_question);
}
