/*
 * context.c - a context is a number that belongs to a host, like a tid, and is unique in the machine. It has no owner
 * and lasts until some task frees it. When the numbers run out, those created by tasks that have ended are reused.
 */
#include "context.h"
#include <stdlib.h>
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/net/rpc.h"
#include "pvmd/tasks/tasks.h"

#define MADE_MAX  16384                      /* by one task */
#define LOCAL_MAX (PVMC_TID_LOCAL_MASK - 10) /* the last ten are the system contexts of host 1, and spare elsewhere */

enum { CONTEXT_NEW = 1, CONTEXT_FREE = 2 };

struct context {
    uint32_t number;
    pvmc_tid maker;
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

static int new_context(pvmc_tid maker, uint32_t *number)
{
    struct pvmd_task *task = pvmd_task_by_tid(maker);
    *number = task && task->contexts < MADE_MAX ? next_number() : 0;
    struct context *c = *number ? calloc(1, sizeof *c) : NULL;
    if (c)
        *c = (struct context){.number = *number, .maker = maker};
    if (!c || !PVMC_HASH_ADD(hh, contexts, number, c)) {
        pvmc_log(PVMC_LOG_ERROR, "no context left for t%x", maker);
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
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, number);
    pvmd_request_answer(r, code, code < 0 ? NULL : &b);
    pvmc_buf_free(&b);
}

/* ---- contexts of other hosts ---- */

struct asked {
    struct pvmd_request request;
    uint32_t number;
};

static void freed_there(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
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
        return PVMC_ENOMEM;
    *asked = (struct asked){*r, number};
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, number);
    pvmd_ask(pvmc_tid_host_index(number), PVMD_DM_CONTEXT_FREE, &b, freed_there, asked);
    pvmc_buf_free(&b);
    return 0;
}

static int free_for_other(const struct pvmd_question *q, struct pvmc_buf *body)
{
    uint32_t number = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (!rc)
        pvmd_answer(q, free_context(number), NULL);
    return rc;
}

/* ---- requests ---- */

static int context_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    uint8_t op = pvmc_buf_get_u8(body);
    uint32_t number = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (rc || (op != CONTEXT_NEW && op != CONTEXT_FREE))
        return rc ? rc : PVMC_EFORMAT;
    if (op == CONTEXT_FREE && pvmc_tid_host(number) != pvmd_host_tid())
        return free_there(r, number);
    int code = op == CONTEXT_NEW ? new_context(r->tid, &number) : free_context(number);
    answer(r, code, number);
    return 0;
}

void pvmd_context_start(void)
{
    pvmd_tm_handle(PVMC_TM_CONTEXT, context_request);
    pvmd_dm_handle(PVMD_DM_CONTEXT_FREE, free_for_other);
}

void pvmd_context_stop(void)
{
    struct context *c, *next;
    HASH_ITER (hh, contexts, c, next)
        forget(c);
}
