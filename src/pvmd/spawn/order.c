/* order.c - see order.h. */
#include "order.h"
#include <stdlib.h>
#include <string.h>
#include "core/error.h"

static void free_texts(char **texts)
{
    for (char **t = texts; t && *t; t++)
        free(*t);
    free(texts);
}

/* Reads a list of strings that ends with NULL. Returns NULL with the buffer's error set, or when memory is out. */
static char **get_texts(struct pvmc_buf *b, uint32_t *count)
{
    *count = pvmc_buf_get_u32(b);
    if (*count > pvmc_buf_left(b) / 4) {
        pvmc_buf_get_bytes(b, SIZE_MAX); /* each text has at least its length field */
        return NULL;
    }
    if (*count > PVMD_ORDER_TEXTS_MAX)
        b->error = PVMC_ELIMIT;
    char **texts = b->error ? NULL : calloc((size_t)*count + 1, sizeof *texts);
    for (uint32_t i = 0; texts && i < *count; i++) {
        texts[i] = pvmc_buf_get_string(b);
        if (!texts[i]) {
            free_texts(texts);
            return NULL;
        }
    }
    return texts;
}

static void put_texts(struct pvmc_buf *b, char *const *texts, uint32_t count)
{
    pvmc_buf_put_u32(b, count);
    for (uint32_t i = 0; i < count; i++)
        pvmc_buf_put_string(b, texts[i]);
}

static void get_collector(struct pvmc_buf *b, struct pvmd_collector *c)
{
    c->tid = pvmc_buf_get_u32(b);
    c->ctx = pvmc_buf_get_u32(b);
    c->tag = pvmc_buf_get_i32(b);
}

static void put_collector(struct pvmc_buf *b, const struct pvmd_collector *c)
{
    pvmc_buf_put_u32(b, c->tid);
    pvmc_buf_put_u32(b, c->ctx);
    pvmc_buf_put_i32(b, c->tag);
}

static char *get_path(struct pvmc_buf *b)
{
    char *path = pvmc_buf_get_string(b);
    if (path && strlen(path) > PVMD_ORDER_PATH_MAX)
        b->error = PVMC_ELIMIT;
    return path;
}

int pvmd_order_get(struct pvmc_buf *b, struct pvmd_order *order)
{
    *order = (struct pvmd_order){0};
    order->file = get_path(b);
    order->arguments = get_texts(b, &order->argument_count);
    order->flags = pvmc_buf_get_u32(b);
    order->where = get_path(b);
    order->count = pvmc_buf_get_u32(b);
    order->environment = get_texts(b, &order->environment_count);
    order->context = pvmc_buf_get_u32(b);
    get_collector(b, &order->output);
    get_collector(b, &order->trace);
    order->trace_mask = pvmc_buf_get_string(b);
    order->trace_buffer = pvmc_buf_get_i32(b);
    order->trace_options = pvmc_buf_get_i32(b);
    if (pvmc_buf_error(b))
        return pvmc_buf_error(b);
    return order->arguments && order->environment ? 0 : PVMC_ENOMEM;
}

void pvmd_order_put(struct pvmc_buf *b, const struct pvmd_order *order, const char *where, uint32_t count)
{
    pvmc_buf_put_string(b, order->file);
    put_texts(b, order->arguments, order->argument_count);
    pvmc_buf_put_u32(b, order->flags);
    pvmc_buf_put_string(b, where);
    pvmc_buf_put_u32(b, count);
    put_texts(b, order->environment, order->environment_count);
    pvmc_buf_put_u32(b, order->context);
    put_collector(b, &order->output);
    put_collector(b, &order->trace);
    pvmc_buf_put_string(b, order->trace_mask);
    pvmc_buf_put_i32(b, order->trace_buffer);
    pvmc_buf_put_i32(b, order->trace_options);
}

void pvmd_order_free(struct pvmd_order *order)
{
    free(order->file);
    free_texts(order->arguments);
    free(order->where);
    free_texts(order->environment);
    free(order->trace_mask);
    *order = (struct pvmd_order){0};
}
