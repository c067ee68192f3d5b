/* delegate.c - see delegate.h. */
#include "delegate.h"
#include <stdlib.h>
#include <utlist.h>
#include "core/buf.h"
#include "core/error.h"
#include "pvm3.h"
#include "pvmd/net/rpc.h"

struct pvmd_delegate {
    unsigned host_index;
    uint32_t number; /* by which the member knows it */
    const struct pvmd_launch_events *events;
    void *owner;   /* NULL: it has let go */
    bool answered; /* else it stays, because the answer will come */
    struct pvmd_delegate *prev, *next;
};

static struct pvmd_delegate *all;
static uint32_t last_number;

static void free_delegate(struct pvmd_delegate *d)
{
    DL_DELETE(all, d);
    free(d);
}

/* ---- the answer ---- */

static void fail(struct pvmd_delegate *d, int code, bool reached, const char *why)
{
    void *owner = d->owner;
    const struct pvmd_launch_events *events = d->events;
    free_delegate(d);
    events->failed(owner, code, reached, why);
}

static void tell_failure(struct pvmd_delegate *d, int code, struct pvmc_buf *body)
{
    char why[PVMD_START_LINE_MAX];
    bool reached = pvmc_buf_get_u8(body);
    pvmc_buf_get_string_to(body, why, sizeof why);
    if (pvmc_buf_end(body)) /* it has left, or does not know the question */
        fail(d, code, false, pvmc_error_text(code));
    else
        fail(d, code, reached, why);
}

static void tell_start(struct pvmd_delegate *d, struct pvmc_buf *body)
{
    char text[PVMD_START_LINE_MAX];
    struct pvmd_start_line line;
    pvmc_buf_get_string_to(body, text, sizeof text);
    if (pvmc_buf_end(body) || pvmd_start_line_parse(text, &line) != PVMD_LINE_START)
        fail(d, PvmCantStart, false, "its answer is not a daemon's line");
    else
        d->events->started(d->owner, &line);
}

static void answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    struct pvmd_delegate *d = arg;
    (void)host_index;
    d->answered = true;
    if (!d->owner)
        free_delegate(d);
    else if (code < 0)
        tell_failure(d, code, body);
    else
        tell_start(d, body);
}

/* ---- the question ---- */

static void put_order(struct pvmc_buf *b, uint32_t number, const struct pvmd_delegate_order *o)
{
    pvmc_buf_put_u32(b, number);
    pvmc_buf_put_u64(b, (uint64_t)o->limit_us);
    pvmc_buf_put_string(b, o->label);
    pvmc_buf_put_u32(b, o->command->count);
    for (unsigned i = 0; i < o->command->count; i++)
        pvmc_buf_put_string(b, o->command->argv[i]);
    pvmc_buf_put_string(b, o->text);
}

struct pvmd_delegate *pvmd_delegate_start(const struct pvmd_delegate_order *order,
                                          const struct pvmd_launch_events *events, void *owner)
{
    struct pvmc_buf body;
    struct pvmd_delegate *d = order->command->failed ? NULL : malloc(sizeof *d);
    if (!d)
        return NULL;
    *d = (struct pvmd_delegate){
        .host_index = order->host_index, .number = ++last_number, .events = events, .owner = owner};
    DL_APPEND(all, d);
    pvmc_buf_init(&body);
    put_order(&body, d->number, order);
    pvmd_ask(d->host_index, PVMD_DM_LAUNCH, &body, answered, d);
    pvmc_buf_free(&body);
    return d;
}

/* ---- the end ---- */

static void let_go(struct pvmd_delegate *d, bool linked)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, d->number);
    pvmc_buf_put_u8(&body, linked);
    pvmd_ask(d->host_index, PVMD_DM_LAUNCH_END, &body, NULL, NULL);
    pvmc_buf_free(&body);
    d->owner = NULL;
    if (d->answered)
        free_delegate(d);
}

void pvmd_delegate_release(struct pvmd_delegate *d)
{
    let_go(d, true);
}

void pvmd_delegate_cancel(struct pvmd_delegate *d)
{
    let_go(d, false);
}

void pvmd_delegate_stop(void)
{
    while (all)
        free_delegate(all);
}
