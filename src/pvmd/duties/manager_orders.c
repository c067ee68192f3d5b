/* manager_orders.c - see manager_orders.h. */
#include "manager_orders.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/base/hosts.h"
#include "manager.h"
#include "pvmd/quorum/petition.h"
#include "pvmd/spawn/order.h"
#include "pvmd/spawn/output.h"
#include "pvmproto.h"
#include "pvmd/tasks/service.h"
#include "pvmd/tasks/watch.h"

/* An SM message of the manager that waits for its answer. */
struct errand {
    pvmc_tid from;
    int32_t wid;
};

/*
 * Tasks started by one SM_EXEC. When the manager has answered the spawner, its library tells them of their siblings on
 * all hosts. If the spawner ends before that, we tell them of those in this batch.
 */
struct batch {
    struct errand errand;
    struct pvmd_collector output;
    int32_t parent; /* or PvmParentNotSet */
    int *tids;
    uint32_t count;
    struct pvmd_watch *watch; /* on the spawner */
    struct batch *prev, *next;
};

static struct batch *batches; /* those that may not have been told yet */

static bool is_manager(pvmc_tid src)
{
    return src && src == pvmd.manager;
}

/* ---- siblings ---- */

static void batch_free(struct batch *b)
{
    pvmd_watch_cancel(b->watch);
    free(b->tids);
    free(b);
}

static bool is_waiting(const struct batch *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct pvmd_task *task = pvmd_task_by_tid((pvmc_tid)b->tids[i]);
        if (task && task->siblings_from)
            return true;
    }
    return false;
}

static void tell_each_other(const struct batch *b)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, b->count);
    for (uint32_t i = 0; i < b->count; i++)
        pvmc_buf_put_i32(&body, b->tids[i]);
    pvmd_ask(pvmd.host_index, PVMD_DM_SIBLINGS, &body, NULL, NULL);
    pvmc_buf_free(&body);
}

static void spawner_ended(void *arg, pvmc_tid tid)
{
    (void)tid;
    struct batch *b = arg;
    b->watch = NULL; /* freed by watch.c */
    DL_DELETE(batches, b);
    if (is_waiting(b))
        tell_each_other(b);
    batch_free(b);
}

static void forget_told(void)
{
    struct batch *b, *next;
    DL_FOREACH_SAFE (batches, b, next) {
        if (is_waiting(b))
            continue;
        DL_DELETE(batches, b);
        batch_free(b);
    }
}

/* ---- SM_EXEC ---- */

static void answer_exec(const struct errand *e, const int *results, uint32_t count)
{
    struct pvmc_message *m = pvmd_service_new(SM_EXECACK, e->wid);
    pvmd_service_put_int(&m, (int)count);
    for (uint32_t i = 0; i < count; i++)
        pvmd_service_put_int(&m, results[i]);
    pvmd_service_send(m, e->from);
}

static void take_results(struct batch *b, uint32_t count, int code, struct pvmc_buf *body)
{
    int *results = calloc(count + 1, sizeof *results);
    uint32_t n = code < 0 ? 0 : pvmc_buf_get_u32(body);
    for (uint32_t i = 0; results && i < count; i++) {
        results[i] = i < n ? pvmc_buf_get_i32(body) : code < 0 ? code : PvmDSysErr;
        if (results[i] <= 0)
            continue;
        pvmd_output_spawned(&b->output, (pvmc_tid)results[i], b->parent);
        b->tids[b->count++] = results[i];
    }
    if (results)
        answer_exec(&b->errand, results, count);
    free(results);
}

static void executed(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)host_index;
    struct batch *b = arg;
    uint32_t asked = b->count;
    b->count = 0;
    take_results(b, asked, code, body);
    forget_told();
    DL_APPEND(batches, b);
    if (b->parent > 0)
        b->watch = pvmd_watch((pvmc_tid)b->parent, spawner_ended, b);
    else
        tell_each_other(b);
}

/* Reads what a libpvm has put into the environment for the daemon, since the message has no other room for it. */
static const char *value_of(const struct pvmd_order *order, const char *name)
{
    size_t length = strlen(name);
    for (char **e = order->environment; *e; e++)
        if (!strncmp(*e, name, length) && (*e)[length] == '=')
            return *e + length + 1;
    return "";
}

static int read_settings(struct pvmd_order *order)
{
    order->context = (uint32_t)strtoul(value_of(order, "PVMCTX"), NULL, 0);
    order->trace_mask = strdup(value_of(order, "PVMTMASK"));
    order->trace_buffer = (int32_t)strtol(value_of(order, "PVMTRCBUF"), NULL, 0);
    order->trace_options = (int32_t)strtol(value_of(order, "PVMTRCOPT"), NULL, 0);
    order->where = strdup("");
    return order->trace_mask && order->where ? 0 : PVMC_ENOMEM;
}

static void read_collector(struct pvmc_message *m, struct pvmd_collector *c, int *rc)
{
    c->tid = (pvmc_tid)pvmd_service_get_int(m, rc);
    c->ctx = (uint32_t)pvmd_service_get_int(m, rc);
    c->tag = pvmd_service_get_int(m, rc);
}

/* Reads the message's fields; first and total say which of the spawn's tasks these are. */
static int read_exec(struct pvmc_message *m, struct pvmd_order *order, int *parent, int *first, int *total)
{
    int rc = 0;
    *parent = pvmd_service_get_int(m, &rc);
    order->file = pvmd_service_get_text(m, &rc);
    order->flags = (uint32_t)pvmd_service_get_int(m, &rc) & ~(uint32_t)(PVMC_SPAWN_WHY | PVMD_ORDER_APART);
    order->count = (uint32_t)pvmd_service_get_int(m, &rc);
    order->arguments = pvmd_service_get_texts(m, &order->argument_count, &rc);
    read_collector(m, &order->output, &rc);
    read_collector(m, &order->trace, &rc);
    order->environment = pvmd_service_get_texts(m, &order->environment_count, &rc);
    *first = pvmd_service_get_int(m, &rc);
    *total = pvmd_service_get_int(m, &rc);
    if (!rc && (!order->count || order->count > PVMD_ORDER_COUNT_MAX))
        rc = PVMC_EPARAM;
    return rc ? rc : read_settings(order);
}

static void ask_ourselves(struct batch *b, const struct pvmd_order *order, int first, int total)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmd_order_put(&body, order, "", order->count);
    pvmc_buf_put_i32(&body, b->parent);
    pvmc_buf_put_u32(&body, (uint32_t)first);
    pvmc_buf_put_u32(&body, (uint32_t)total);
    pvmd_ask(pvmd.host_index, PVMD_DM_EXEC, &body, executed, b);
    pvmc_buf_free(&body);
}

static int take_exec(struct pvmc_message *m)
{
    struct pvmd_order order = {0};
    struct batch *b = calloc(1, sizeof *b);
    int first, total, parent, rc = read_exec(m, &order, &parent, &first, &total);
    if (b && !rc)
        b->tids = calloc(order.count + 1, sizeof *b->tids);
    if (!rc && (!b || !b->tids))
        rc = PVMC_ENOMEM;
    if (!rc) {
        b->errand = (struct errand){.from = m->src, .wid = m->wid};
        b->output = order.output;
        b->parent = order.flags & PvmNoSpawnParent || !pvmc_tid_is_task((pvmc_tid)parent) ? PvmParentNotSet : parent;
        b->count = order.count;
        ask_ourselves(b, &order, first, total);
    } else {
        int code = pvmc_error_public(rc);
        answer_exec(&(struct errand){.from = m->src, .wid = m->wid}, &code, 1);
        free(b);
    }
    pvmd_order_free(&order);
    return rc;
}

/* ---- SM_ADD ---- */

static void put_host(struct pvmc_message **m, int status)
{
    const struct pvmd_host *h = status > 0 ? pvmd_host_by_index(pvmc_tid_host_index((pvmc_tid)status)) : NULL;
    pvmd_service_put_int(m, status);
    pvmd_service_put_text(m, h ? h->name : "");
    pvmd_service_put_text(m, h && h->arch ? h->arch : "");
    pvmd_service_put_int(m, h ? h->speed : 0);
    pvmd_service_put_int(m, h ? (int)h->dsig : 0);
}

/* The answer to ADDHOSTS. The text after each status is for people, and is not sent on. */
static void added(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)host_index;
    struct errand *e = arg;
    uint32_t n = code < 0 ? 0 : pvmc_buf_get_u32(body);
    struct pvmc_message *m = pvmd_service_new(SM_ADDACK, e->wid);
    pvmd_service_put_int(&m, code < 0 ? code : (int)n);
    pvmd_service_put_int(&m, 0);
    for (uint32_t i = 0; i < n && !pvmc_buf_error(body); i++)
        put_host(&m, pvmc_buf_get_i32(body));
    pvmd_service_send(m, e->from);
    free(e);
}

static int take_add(struct pvmc_message *m)
{
    int rc = 0;
    uint32_t count;
    struct errand *e = malloc(sizeof *e);
    char **names = pvmd_service_get_texts(m, &count, &rc);
    struct pvmc_buf body;
    if (!rc && !e)
        rc = PVMC_ENOMEM;
    if (!rc && (!count || count > PVMC_HOST_INDEX_MAX))
        rc = PVMC_EPARAM;
    if (!rc) {
        *e = (struct errand){.from = m->src, .wid = m->wid};
        pvmc_buf_init(&body);
        pvmc_buf_put_u32(&body, count);
        for (uint32_t i = 0; i < count; i++)
            pvmc_buf_put_string(&body, names[i]);
        pvmd_ask_master(PVMD_DM_ADDHOSTS, &body, added, e);
        pvmc_buf_free(&body);
    } else {
        free(e);
    }
    for (char **n = names; n && *n; n++)
        free(*n);
    free(names);
    return rc;
}

/* ---- SM_HANDOFF ---- */

static int take_handoff(struct pvmc_message *m)
{
    int rc = 0;
    pvmc_tid new = (pvmc_tid)pvmd_service_get_int(m, &rc);
    if (!rc && new && !pvmc_tid_is_task(new))
        rc = PVMC_EPARAM;
    if (!rc)
        pvmd_manager_change(m->src, new, NULL, NULL);
    return rc;
}

void pvmd_manager_orders_start(void)
{
    pvmd_service_handle(SM_EXEC, is_manager, take_exec);
    pvmd_service_handle(SM_ADD, is_manager, take_add);
    pvmd_service_handle(SM_HANDOFF, is_manager, take_handoff);
}

void pvmd_manager_orders_stop(void)
{
    struct batch *b, *next;
    DL_FOREACH_SAFE (batches, b, next) {
        b->watch = NULL; /* watch.c frees it */
        batch_free(b);
    }
    batches = NULL;
}
