/* task_list.c - TM_TASKS: the tasks of one host or all. */
#include "core/error.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "info.h"
#include "listing.h"

static void put_row(struct pvmc_buf *b, const struct pvmd_task *task)
{
    pvmc_buf_put_u32(b, task->tid);
    pvmc_buf_put_i32(b, task->parent == PvmNoParent ? 0 : task->parent);
    pvmc_buf_put_u32(b, pvmd_host_tid());
    pvmc_buf_put_u32(b, task->flags);
    pvmc_buf_put_string(b, task->name);
    pvmc_buf_put_i32(b, (int32_t)task->pid);
}

static uint32_t put_rows(struct pvmc_buf *rows, pvmc_tid where)
{
    uint32_t n = 0;
    for (const struct pvmd_task *task = pvmd_tasks; task; task = task->hh.next)
        if (pvmd_listing_covers(where, task)) {
            put_row(rows, task);
            n++;
        }
    return n;
}

static int tasks_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    return pvmd_listing_answer(q, body, put_rows);
}

static int tasks_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    return pvmd_listing_ask(r, body, PVMD_DM_TASKS);
}

void pvmd_task_list_start(void)
{
    pvmd_tm_handle(PVMC_TM_TASKS, tasks_request);
    pvmd_dm_handle(PVMD_DM_TASKS, tasks_question);
}
