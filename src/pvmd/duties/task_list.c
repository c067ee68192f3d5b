/* task_list.c - TM_TASKS: asks one host or all for their tasks and answers in order of hosts. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "daemon.h"
#include "hosts.h"
#include "info.h"
#include "rpc.h"
#include "tasks.h"

struct part {
    unsigned host_index;
    uint32_t count;
    struct pvmi_buf rows;
};

struct listing {
    struct pvmd_request request;
    struct part *parts;
    size_t count;
    bool out_of_memory; /* some rows are missing */
};

/* ---- at the host that is asked ---- */

static void put_row(struct pvmi_buf *b, const struct pvmd_task *task)
{
    pvmi_buf_put_u32(b, task->tid);
    pvmi_buf_put_i32(b, task->parent == PvmNoParent ? 0 : task->parent);
    pvmi_buf_put_u32(b, pvmd_host_tid());
    pvmi_buf_put_u32(b, task->flags);
    pvmi_buf_put_string(b, task->name);
    pvmi_buf_put_i32(b, (int32_t)task->pid);
}

static int tasks_question(const struct pvmd_question *q, struct pvmi_buf *body)
{
    pvmi_tid where = pvmi_buf_get_u32(body);
    int rc = pvmi_buf_end(body);
    if (rc)
        return rc;
    uint32_t n = 0;
    struct pvmi_buf rows, b;
    pvmi_buf_init(&rows);
    pvmi_buf_init(&b);
    for (const struct pvmd_task *task = pvmd_tasks; task; task = task->hh.next)
        if (!(where & PVMI_TID_LOCAL_MASK) || task->tid == where) {
            put_row(&rows, task);
            n++;
        }
    pvmi_buf_put_u32(&b, n);
    pvmi_buf_put_bytes(&b, rows.data, rows.length);
    pvmd_answer(q, pvmi_buf_error(&rows) ? PvmNoMem : PvmOk, &b);
    pvmi_buf_free(&rows);
    pvmi_buf_free(&b);
    return 0;
}

/* ---- at the host that asks ---- */

static void collect(void *arg, unsigned host_index, int code, struct pvmi_buf *body)
{
    struct listing *l = arg;
    if (code < 0)
        return;
    struct part *parts = realloc(l->parts, (l->count + 1) * sizeof *parts);
    if (!parts) {
        l->out_of_memory = true;
        return;
    }
    l->parts = parts;
    struct part *part = &l->parts[l->count++];
    part->host_index = host_index;
    part->count = pvmi_buf_get_u32(body);
    pvmi_buf_init(&part->rows);
    size_t length = pvmi_buf_left(body);
    pvmi_buf_put_bytes(&part->rows, pvmi_buf_get_bytes(body, length), length);
    l->out_of_memory = l->out_of_memory || pvmi_buf_error(&part->rows) == PVMI_ENOMEM;
}

static int compare_parts(const void *a, const void *b)
{
    unsigned x = ((const struct part *)a)->host_index, y = ((const struct part *)b)->host_index;
    return x < y ? -1 : x > y;
}

static void finish(struct listing *l, int code)
{
    uint32_t n = 0;
    struct pvmi_buf b;
    if (l->out_of_memory)
        code = PvmNoMem;
    if (l->count)
        qsort(l->parts, l->count, sizeof *l->parts, compare_parts);
    for (size_t i = 0; i < l->count; i++)
        n += l->parts[i].count;
    pvmi_buf_init(&b);
    pvmi_buf_put_u32(&b, n);
    for (size_t i = 0; i < l->count; i++) {
        pvmi_buf_put_bytes(&b, l->parts[i].rows.data, l->parts[i].rows.length);
        pvmi_buf_free(&l->parts[i].rows);
    }
    pvmd_request_answer(&l->request, code, code < 0 ? NULL : &b);
    pvmi_buf_free(&b);
    free(l->parts);
    free(l);
}

static void all_done(void *arg)
{
    finish(arg, PvmOk);
}

static void one_done(void *arg, unsigned host_index, int code, struct pvmi_buf *body)
{
    collect(arg, host_index, code, body);
    finish(arg, code == PvmHostFail ? PvmNoHost : code);
}

static int tasks_request(const struct pvmd_request *r, struct pvmi_buf *body)
{
    struct pvmi_buf question = *body;
    pvmi_tid where = pvmi_buf_get_u32(body);
    int rc = pvmi_buf_end(body);
    if (rc)
        return rc;
    struct listing *l = calloc(1, sizeof *l);
    if (!l)
        return PVMI_ENOMEM;
    l->request = *r;
    if (where)
        pvmd_ask(pvmi_tid_host_index(where), PVMD_DM_TASKS, &question, one_done, l);
    else
        pvmd_ask_all(PVMD_DM_TASKS, &question, collect, all_done, l);
    return 0;
}

void pvmd_task_list_start(void)
{
    pvmd_tm_handle(PVMI_TM_TASKS, tasks_request);
    pvmd_dm_handle(PVMD_DM_TASKS, tasks_question);
}
