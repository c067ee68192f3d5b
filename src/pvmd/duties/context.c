/*
 * context.c - a context is a number of its host, like a tid: unique in the machine. It belongs to nobody but is kept
 * until somebody frees it; when the numbers run out, those whose maker has ended are given out again.
 */
#include "context.h"
#include <stdlib.h>
#include "../core/error.h"
#include "../core/hash.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "daemon.h"
#include "rpc.h"
#include "tasks.h"

#define MADE_MAX  16384                      /* by one task */
#define LOCAL_MAX (PVMI_TID_LOCAL_MASK - 10) /* the last ten are the system contexts of host 1, and spare elsewhere */

enum { CONTEXT_NEW = 1, CONTEXT_FREE = 2 };

struct context {
    uint32_t number;
    pvmi_tid maker;
    UT_hash_handle hh;
};

static struct context *contexts;

static struct context *find(uint32_t number)
{
    struct context *c;
    HASH_FIND_INT(contexts, &number, c);
    return c;
}

static void forget(struct context *c)
{
    struct pvmd_task *maker = pvmd_task_by_tid(c->maker);
    if (maker && maker->contexts)
        maker->contexts--;
    HASH_DEL(contexts, c);
    free(c);
}

static uint32_t next_number(void)
{
    static uint32_t latest;
    for (uint32_t tries = 0; tries < LOCAL_MAX; tries++) {
        latest = latest % LOCAL_MAX + 1;
        struct context *c = find(pvmd_host_tid() | latest);
        if (c && pvmd_task_by_tid(c->maker))
            continue;
        if (c)
            forget(c);
        return pvmd_host_tid() | latest;
    }
    return 0;
}

static int new_context(pvmi_tid maker, uint32_t *number)
{
    struct pvmd_task *task = pvmd_task_by_tid(maker);
    *number = task && task->contexts < MADE_MAX ? next_number() : 0;
    struct context *c = *number ? calloc(1, sizeof *c) : NULL;
    if (c)
        *c = (struct context){.number = *number, .maker = maker};
    if (!c || !PVMI_HASH_ADD(hh, contexts, number, c)) {
        pvmi_log(PVMI_LOG_ERROR, "no context left for t%x", maker);
        free(c);
        return PvmOutOfRes;
    }
    task->contexts++;
    return PvmOk;
}

static int free_context(uint32_t number)
{
    struct context *c = find(number);
    if (!c)
        return PvmNotFound;
    forget(c);
    return PvmOk;
}

static void answer(const struct pvmd_request *r, int code, uint32_t number)
{
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmi_buf_put_u32(&b, number);
    pvmd_request_answer(r, code, code < 0 ? NULL : &b);
    pvmi_buf_free(&b);
}

/* ---- contexts of another host's making ---- */

struct asked {
    struct pvmd_request request;
    uint32_t number;
};

static void freed_there(void *arg, unsigned host_index, int code, struct pvmi_buf *body)
{
    (void)host_index;
    (void)body;
    struct asked *asked = arg;
    answer(&asked->request, code == PvmHostFail ? PvmNotFound : code, asked->number);
    free(asked);
}

static int free_there(const struct pvmd_request *r, uint32_t number)
{
    struct asked *asked = malloc(sizeof *asked);
    if (!asked)
        return PVMI_ENOMEM;
    *asked = (struct asked){*r, number};
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmi_buf_put_u32(&b, number);
    pvmd_ask(pvmi_tid_host_index(number), PVMD_DM_CONTEXT_FREE, &b, freed_there, asked);
    pvmi_buf_free(&b);
    return 0;
}

static int free_for_other(const struct pvmd_question *q, struct pvmi_buf *body)
{
    uint32_t number = pvmi_buf_get_u32(body);
    int rc = pvmi_buf_end(body);
    if (!rc)
        pvmd_answer(q, free_context(number), NULL);
    return rc;
}

/* ---- requests ---- */

static int context_request(const struct pvmd_request *r, struct pvmi_buf *body)
{
    uint8_t op = pvmi_buf_get_u8(body);
    uint32_t number = pvmi_buf_get_u32(body);
    int rc = pvmi_buf_end(body);
    if (rc || (op != CONTEXT_NEW && op != CONTEXT_FREE))
        return rc ? rc : PVMI_EFORMAT;
    if (op == CONTEXT_FREE && pvmi_tid_host(number) != pvmd_host_tid())
        return free_there(r, number);
    int code = op == CONTEXT_NEW ? new_context(r->tid, &number) : free_context(number);
    answer(r, code, number);
    return 0;
}

void pvmd_context_start(void)
{
    pvmd_tm_handle(PVMI_TM_CONTEXT, context_request);
    pvmd_dm_handle(PVMD_DM_CONTEXT_FREE, free_for_other);
}

void pvmd_context_stop(void)
{
    struct context *c, *next;
    HASH_ITER (hh, contexts, c, next)
        forget(c);
}
