/* enrol.c - see enrol.h. Both return 0, or a PVMI_E code for a malformed request. */
#include "enrol.h"
#include <stdlib.h>
#include <string.h>
#include "../core/dsig.h"
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "daemon.h"
#include "manager.h"
#include "request.h"

struct introduction {
    uint32_t protocol, pid, cookie, dsig;
    char *name;
};

static int read_introduction(struct pvmi_buf *b, struct introduction *i)
{
    i->protocol = pvmi_buf_get_u32(b);
    i->pid = pvmi_buf_get_u32(b);
    i->cookie = pvmi_buf_get_u32(b);
    i->dsig = pvmi_buf_get_u32(b);
    i->name = pvmi_buf_get_string(b);
    return pvmi_buf_end(b);
}

/* A spawned task keeps the name that it was spawned by, whatever the process is, or calls itself. */
static void name_task(struct pvmd_task *task, struct introduction *i)
{
    if (*task->name)
        return;
    free(task->name);
    task->name = i->name;
    i->name = NULL;
}

/* The task that we started the process for, if it tells its cookie; else a new one, as for programs from a shell. */
static struct pvmd_task *task_of(struct introduction *i)
{
    struct pvmd_task *task = pvmd_task_by_cookie(i->cookie);
    if (!task)
        task = pvmd_task_new("");
    if (task)
        name_task(task, i);
    return task;
}

static void put_collector(struct pvmi_buf *b, const struct pvmd_collector *c)
{
    pvmi_buf_put_u32(b, c->tid);
    pvmi_buf_put_u32(b, c->ctx);
    pvmi_buf_put_i32(b, c->tag);
}

static bool is_spawned(const struct pvmd_task *task)
{
    return task->flags & PVMD_TASK_FORKED || task->tasker;
}

static struct pvmi_frame *welcome(const struct pvmd_request *r, const struct pvmd_task *task)
{
    struct pvmi_buf b;
    struct pvmd_request to = {.tid = task->tid, .tag = r->tag, .wid = r->wid};
    pvmi_buf_init(&b);
    pvmi_buf_put_u32(&b, task->tid);
    pvmi_buf_put_i32(&b, task->parent);
    pvmi_buf_put_u32(&b, task->context);
    put_collector(&b, &task->output);
    put_collector(&b, &task->trace);
    pvmi_buf_put_u32(&b, pvmd_manager());
    pvmi_buf_put_u8(&b, is_spawned(task));
    struct pvmi_frame *f = pvmi_buf_error(&b) ? NULL : pvmd_request_answer_frame(&to, PvmOk, &b);
    pvmi_buf_free(&b);
    return f;
}

static int send_away(struct pvmd_client *c, const struct pvmd_request *r, int code)
{
    struct pvmi_frame *f = pvmd_request_answer_frame(r, code, NULL);
    if (f)
        pvmd_client_left(c, f);
    pvmi_frame_unref(f);
    return f ? 0 : PVMI_ENOMEM;
}

static int enrol(struct pvmd_client *c, const struct pvmd_request *r, struct introduction *i)
{
    struct pvmd_task *task = task_of(i);
    if (!task)
        return send_away(c, r, PvmOutOfRes);
    struct pvmi_frame *answer = welcome(r, task);
    if (!answer)
        return send_away(c, r, PvmNoMem);
    task->cookie = 0;
    task->flags |= PVMD_TASK_CONNECTED;
    if (c->pid > 0)
        task->pid = c->pid;
    pvmd_client_enrolled(c, task, answer);
    pvmd_manager_task_enrolled(task, is_spawned(task));
    pvmi_frame_unref(answer);
    return 0;
}

int pvmd_enrol_connect(struct pvmd_client *c, const struct pvmd_request *r, struct pvmi_buf *body)
{
    struct introduction i;
    int rc = read_introduction(body, &i);
    if (!rc && (i.protocol != PVMI_TASK_PROTOCOL || !pvmi_dsig_valid(i.dsig))) {
        pvmi_log(
            PVMI_LOG_WARNING,
            "process %d speaks protocol %u and has data format 0x%08x, we speak %u: linked with another version of "
            "libpvm3?",
            (int)c->pid, i.protocol, i.dsig, PVMI_TASK_PROTOCOL);
        rc = send_away(c, r, PvmBadVersion);
    } else if (!rc) {
        rc = enrol(c, r, &i);
    }
    free(i.name);
    return rc;
}

int pvmd_enrol_exit(struct pvmd_client *c, const struct pvmd_request *r, struct pvmi_buf *body)
{
    int rc = pvmi_buf_end(body);
    if (rc)
        return rc;
    struct pvmi_frame *answer = pvmd_request_answer_frame(r, PvmOk, NULL);
    struct pvmd_task *task = c->task;
    if (!answer)
        return PVMI_ENOMEM;
    pvmd_client_left(c, answer);
    pvmi_frame_unref(answer);
    pvmd_task_leave(task);
    return 0;
}
