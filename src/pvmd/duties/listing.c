/* listing.c - see listing.h. */
#include "listing.h"
#include <stdbool.h>
#include <stdlib.h>
#include "core/error.h"

struct part {
    unsigned host_index;
    uint32_t count;
    struct pvmc_buf rows;
};

struct listing {
    struct pvmd_request request;
    struct part *parts;
    size_t count;
    bool out_of_memory; /* some rows are missing */
};

/* ---- at the host that is asked ---- */

bool pvmd_listing_covers(pvmc_tid where, const struct pvmd_task *task)
{
    return !(where & PVMC_TID_LOCAL_MASK) || task->tid == where;
}

int pvmd_listing_answer(const struct pvmd_question *q, struct pvmc_buf *body, pvmd_listing_put *put)
{
    pvmc_tid where = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    struct pvmc_buf rows, b;
    pvmc_buf_init(&rows);
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, put(&rows, where));
    pvmc_buf_put_bytes(&b, rows.data, rows.length);
    pvmd_answer(q, pvmc_buf_error(&rows) ? PvmNoMem : PvmOk, &b);
    pvmc_buf_free(&rows);
    pvmc_buf_free(&b);
    return 0;
}

/* ---- at the host that asks ---- */

static void collect(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
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
    part->count = pvmc_buf_get_u32(body);
    pvmc_buf_init(&part->rows);
    size_t length = pvmc_buf_left(body);
    pvmc_buf_put_bytes(&part->rows, pvmc_buf_get_bytes(body, length), length);
    l->out_of_memory = l->out_of_memory || pvmc_buf_error(&part->rows) == PVMC_ENOMEM;
}

static int compare_parts(const void *a, const void *b)
{
    unsigned x = ((const struct part *)a)->host_index, y = ((const struct part *)b)->host_index;
    return x < y ? -1 : x > y;
}

static void finish(struct listing *l, int code)
{
    uint32_t n = 0;
    struct pvmc_buf b;
    if (l->out_of_memory)
        code = PvmNoMem;
    if (l->count)
        qsort(l->parts, l->count, sizeof *l->parts, compare_parts);
    for (size_t i = 0; i < l->count; i++)
        n += l->parts[i].count;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, n);
    for (size_t i = 0; i < l->count; i++) {
        pvmc_buf_put_bytes(&b, l->parts[i].rows.data, l->parts[i].rows.length);
        pvmc_buf_free(&l->parts[i].rows);
    }
    pvmd_request_answer(&l->request, code, code < 0 ? NULL : &b);
    pvmc_buf_free(&b);
    free(l->parts);
    free(l);
}

static void all_done(void *arg)
{
    finish(arg, PvmOk);
}

static void one_done(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    collect(arg, host_index, code, body);
    finish(arg, code == PvmHostFail ? PvmNoHost : code);
}

int pvmd_listing_ask(const struct pvmd_request *r, struct pvmc_buf *body, enum pvmd_dm what)
{
    struct pvmc_buf question = *body;
    pvmc_tid where = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    struct listing *l = calloc(1, sizeof *l);
    if (!l)
        return PVMC_ENOMEM;
    l->request = *r;
    if (where)
        pvmd_ask(pvmc_tid_host_index(where), what, &question, one_done, l);
    else
        pvmd_ask_all(what, &question, collect, all_done, l);
    return 0;
}
