/* enrol.c - see enrol.h. */
#include "enrol.h"
#include <stdlib.h>
#include <string.h>
#include "core/message/dsig.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/base/events.h"
#include "gauges.h"
#include "request.h"

struct introduction {
    uint32_t protocol, pid, cookie, dsig;
    char *name;
};

static int read_introduction(struct pvmc_buf *b, struct introduction *i)
{
    i->protocol = pvmc_buf_get_u32(b);
    i->pid = pvmc_buf_get_u32(b);
    i->cookie = pvmc_buf_get_u32(b);
    i->dsig = pvmc_buf_get_u32(b);
    i->name = pvmc_buf_get_string(b);
    return pvmc_buf_end(b);
}

/* A spawned task keeps the name by which it was spawned, whatever the process calls itself. */
static void name_task(struct pvmd_task *task, struct introduction *i)
{
    if (*task->name)
        return;
    free(task->name);
    task->name = i->name;
    i->name = NULL;
}

/* The task whose process we started, found by its cookie; else a new task, as for a program from a shell. */
static struct pvmd_task *task_of(struct introduction *i)
{
    struct pvmd_task *task = pvmd_task_by_cookie(i->cookie);
    if (!task)
        task = pvmd_task_new("");
    if (task)
        name_task(task, i);
    return task;
}

static void put_collector(struct pvmc_buf *b, const struct pvmd_collector *c)
{
    pvmc_buf_put_u32(b, c->tid);
    pvmc_buf_put_u32(b, c->ctx);
    pvmc_buf_put_i32(b, c->tag);
}

static struct pvmc_frame *welcome(const struct pvmd_request *r, const struct pvmd_task *task)
{
    struct pvmc_buf b;
    struct pvmd_request to = {.tid = task->tid, .tag = r->tag, .wid = r->wid};
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, task->tid);
    pvmc_buf_put_i32(&b, task->parent);
    pvmc_buf_put_u32(&b, task->context);
    put_collector(&b, &task->output);
    put_collector(&b, &task->trace);
    pvmc_buf_put_u32(&b, pvmd.manager);
    pvmc_buf_put_u8(&b, pvmd_task_is_spawned(task));
    struct pvmc_frame *f = pvmc_buf_error(&b) ? NULL : pvmd_request_answer_frame(&to, PvmOk, &b);
    pvmc_buf_free(&b);
    return f;
}

static int send_away(struct pvmd_client *c, const struct pvmd_request *r, int code)
{
    struct pvmc_frame *f = pvmd_request_answer_frame(r, code, NULL);
    if (f)
        pvmd_client_left(c, f);
    pvmc_frame_unref(f);
    return f ? 0 : PVMC_ENOMEM;
}

static int enrol(struct pvmd_client *c, const struct pvmd_request *r, struct introduction *i)
{
    struct pvmd_task *task = pvmc_failpoint(PVMC_FAILPOINT_TASK_ENROL) ? NULL : task_of(i);
    if (!task)
        return send_away(c, r, PvmOutOfRes);
    struct pvmc_frame *answer = welcome(r, task);
    if (!answer)
        return send_away(c, r, PvmNoMem);
    task->cookie = 0;
    task->flags |= PVMD_TASK_CONNECTED;
    if (c->pid > 0)
        task->pid = c->pid;
    task->gauges = pvmd_gauges_open(c->descriptor);
    pvmd_client_enrolled(c, task, answer);
    pvmc_failpoint_done(PVMC_FAILPOINT_TASK_ENROL);
    pvmd_tell_task_enrolled(task);
    pvmc_frame_unref(answer);
    return 0;
}

int pvmd_enrol_connect(struct pvmd_client *c, const struct pvmd_request *r, struct pvmc_buf *body)
{
    struct introduction i;
    int rc = read_introduction(body, &i);
    if (!rc && (i.protocol != PVMC_TASK_PROTOCOL || !pvmc_dsig_valid(i.dsig))) {
        pvmc_log(
            PVMC_LOG_WARNING,
            "process %d speaks protocol %u and has data format 0x%08x, we speak %u: linked with another version of "
            "libpvm3?",
            (int)c->pid, i.protocol, i.dsig, PVMC_TASK_PROTOCOL);
        rc = send_away(c, r, PvmBadVersion);
    } else if (!rc) {
        rc = enrol(c, r, &i);
    }
    free(i.name);
    return rc;
}

int pvmd_enrol_exit(struct pvmd_client *c, const struct pvmd_request *r, struct pvmc_buf *body)
{
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    struct pvmc_frame *answer = pvmd_request_answer_frame(r, PvmOk, NULL);
    struct pvmd_task *task = c->task;
    if (!answer)
        return PVMC_ENOMEM;
    pvmd_client_left(c, answer);
    pvmc_frame_unref(answer);
    pvmd_task_leave(task);
    return 0;
}
