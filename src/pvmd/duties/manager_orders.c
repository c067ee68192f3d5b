/* manager_orders.c - see manager_orders.h. */
#include "manager_orders.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "../core/error.h"
#include "../core/log.h"
#include "daemon.h"
#include "hosts.h"
#include "manager.h"
#include "order.h"
#include "output.h"
#include "pvmproto.h"
#include "service.h"
#include "watch.h"

/* An SM message of the manager that waits for its answer. */
struct errand {
    pvmi_tid from;
    int32_t wid;
};

/*
 * Tasks started by one SM_EXEC. Their spawner's library tells them of their siblings, on all hosts, when the manager
 * has answered it. Should it end before, they have each other.
 */
struct brood {
    struct errand errand;
    struct pvmd_collector output;
    int32_t parent; /* or PvmParentNotSet */
    int *tids;
    uint32_t count;
    struct pvmd_watch *watch; /* on the spawner */
    struct brood *prev, *next;
};

static struct brood *broods; /* those that are not told yet, as far as we know */

static bool is_manager(pvmi_tid src)
{
    return src && src == pvmd_manager();
}

/* ---- siblings ---- */

static void brood_free(struct brood *b)
{
    pvmd_watch_cancel(b->watch);
    free(b->tids);
    free(b);
}

static bool is_waiting(const struct brood *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct pvmd_task *task = pvmd_task_by_tid((pvmi_tid)b->tids[i]);
        if (task && task->siblings_from)
            return true;
    }
    return false;
}

static void tell_each_other(const struct brood *b)
{
    struct pvmi_buf body;
    pvmi_buf_init(&body);
    pvmi_buf_put_u32(&body, b->count);
    for (uint32_t i = 0; i < b->count; i++)
        pvmi_buf_put_i32(&body, b->tids[i]);
    pvmd_ask(pvmd.host_index, PVMD_DM_SIBLINGS, &body, NULL, NULL);
    pvmi_buf_free(&body);
}

static void spawner_ended(void *arg, pvmi_tid tid)
{
    (void)tid;
    struct brood *b = arg;
    b->watch = NULL; /* freed by watch.c */
    DL_DELETE(broods, b);
    if (is_waiting(b))
        tell_each_other(b);
    brood_free(b);
}

static void forget_told(void)
{
    struct brood *b, *next;
    DL_FOREACH_SAFE (broods, b, next) {
        if (is_waiting(b))
            continue;
        DL_DELETE(broods, b);
        brood_free(b);
    }
}

/* ---- SM_EXEC ---- */

static void answer_exec(const struct errand *e, const int *results, uint32_t count)
{
    struct pvmi_message *m = pvmd_service_new(SM_EXECACK, e->wid);
    pvmd_service_put_int(&m, (int)count);
    for (uint32_t i = 0; i < count; i++)
        pvmd_service_put_int(&m, results[i]);
    pvmd_service_send(m, e->from);
}

static void take_results(struct brood *b, uint32_t count, int code, struct pvmi_buf *body)
{
    int *results = calloc(count + 1, sizeof *results);
    uint32_t n = code < 0 ? 0 : pvmi_buf_get_u32(body);
    for (uint32_t i = 0; results && i < count; i++) {
        results[i] = i < n ? pvmi_buf_get_i32(body) : code < 0 ? code : PvmDSysErr;
        if (results[i] <= 0)
            continue;
        pvmd_output_spawned(&b->output, (pvmi_tid)results[i], b->parent);
        b->tids[b->count++] = results[i];
    }
    if (results)
        answer_exec(&b->errand, results, count);
    free(results);
}

static void executed(void *arg, unsigned host_index, int code, struct pvmi_buf *body)
{
    (void)host_index;
    struct brood *b = arg;
    uint32_t asked = b->count;
    b->count = 0;
    take_results(b, asked, code, body);
    forget_told();
    DL_APPEND(broods, b);
    if (b->parent > 0)
        b->watch = pvmd_watch((pvmi_tid)b->parent, spawner_ended, b);
    else
        tell_each_other(b);
}

/* What a libpvm has put into the environment for the daemon: there is no room for it elsewhere in the message. */
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
    return order->trace_mask && order->where ? 0 : PVMI_ENOMEM;
}

static void read_collector(struct pvmi_message *m, struct pvmd_collector *c, int *rc)
{
    c->tid = (pvmi_tid)pvmd_service_get_int(m, rc);
    c->ctx = (uint32_t)pvmd_service_get_int(m, rc);
    c->tag = pvmd_service_get_int(m, rc);
}

/* The message's fields; first and total say which of the spawn's tasks these are. */
static int read_exec(struct pvmi_message *m, struct pvmd_order *order, int *parent, int *first, int *total)
{
    int rc = 0;
    *parent = pvmd_service_get_int(m, &rc);
    order->file = pvmd_service_get_text(m, &rc);
    order->flags = (uint32_t)pvmd_service_get_int(m, &rc);
    order->count = (uint32_t)pvmd_service_get_int(m, &rc);
    order->arguments = pvmd_service_get_texts(m, &order->argument_count, &rc);
    read_collector(m, &order->output, &rc);
    read_collector(m, &order->trace, &rc);
    order->environment = pvmd_service_get_texts(m, &order->environment_count, &rc);
    *first = pvmd_service_get_int(m, &rc);
    *total = pvmd_service_get_int(m, &rc);
    if (!rc && (!order->count || order->count > PVMD_ORDER_COUNT_MAX))
        rc = PVMI_EPARAM;
    return rc ? rc : read_settings(order);
}

static void ask_ourselves(struct brood *b, const struct pvmd_order *order, int first, int total)
{
    struct pvmi_buf body;
    pvmi_buf_init(&body);
    pvmd_order_put(&body, order, "", order->count);
    pvmi_buf_put_i32(&body, b->parent);
    pvmi_buf_put_u32(&body, (uint32_t)first);
    pvmi_buf_put_u32(&body, (uint32_t)total);
    pvmd_ask(pvmd.host_index, PVMD_DM_EXEC, &body, executed, b);
    pvmi_buf_free(&body);
}

static int take_exec(struct pvmi_message *m)
{
    struct pvmd_order order = {0};
    struct brood *b = calloc(1, sizeof *b);
    int first, total, parent, rc = read_exec(m, &order, &parent, &first, &total);
    if (b && !rc)
        b->tids = calloc(order.count + 1, sizeof *b->tids);
    if (!rc && (!b || !b->tids))
        rc = PVMI_ENOMEM;
    if (!rc) {
        b->errand = (struct errand){.from = m->src, .wid = m->wid};
        b->output = order.output;
        b->parent = order.flags & PvmNoSpawnParent || !pvmi_tid_is_task((pvmi_tid)parent) ? PvmParentNotSet : parent;
        b->count = order.count;
        ask_ourselves(b, &order, first, total);
    } else {
        int code = pvmi_error_public(rc);
        answer_exec(&(struct errand){.from = m->src, .wid = m->wid}, &code, 1);
        free(b);
    }
    pvmd_order_free(&order);
    return rc;
}

/* ---- SM_ADD ---- */

static void put_host(struct pvmi_message **m, int status)
{
    const struct pvmd_host *h = status > 0 ? pvmd_host_by_index(pvmi_tid_host_index((pvmi_tid)status)) : NULL;
    pvmd_service_put_int(m, status);
    pvmd_service_put_text(m, h ? h->name : "");
    pvmd_service_put_text(m, h && h->arch ? h->arch : "");
    pvmd_service_put_int(m, h ? h->speed : 0);
    pvmd_service_put_int(m, h ? (int)h->dsig : 0);
}

/* The answer to ADDHOSTS; the words after the status of each are for people, and stay here. */
static void added(void *arg, unsigned host_index, int code, struct pvmi_buf *body)
{
    (void)host_index;
    struct errand *e = arg;
    uint32_t n = code < 0 ? 0 : pvmi_buf_get_u32(body);
    struct pvmi_message *m = pvmd_service_new(SM_ADDACK, e->wid);
    pvmd_service_put_int(&m, code < 0 ? code : (int)n);
    pvmd_service_put_int(&m, 0);
    for (uint32_t i = 0; i < n && !pvmi_buf_error(body); i++)
        put_host(&m, pvmi_buf_get_i32(body));
    pvmd_service_send(m, e->from);
    free(e);
}

static int take_add(struct pvmi_message *m)
{
    int rc = 0;
    uint32_t count;
    struct errand *e = malloc(sizeof *e);
    char **names = pvmd_service_get_texts(m, &count, &rc);
    struct pvmi_buf body;
    if (!rc && !e)
        rc = PVMI_ENOMEM;
    if (!rc && (!count || count > PVMI_HOST_INDEX_MAX))
        rc = PVMI_EPARAM;
    if (!rc) {
        *e = (struct errand){.from = m->src, .wid = m->wid};
        pvmi_buf_init(&body);
        pvmi_buf_put_u32(&body, count);
        for (uint32_t i = 0; i < count; i++)
            pvmi_buf_put_string(&body, names[i]);
        pvmd_ask(pvmd.master_index, PVMD_DM_ADDHOSTS, &body, added, e);
        pvmi_buf_free(&body);
    } else {
        free(e);
    }
    for (char **n = names; n && *n; n++)
        free(*n);
    free(names);
    return rc;
}

/* ---- SM_HANDOFF ---- */

static int take_handoff(struct pvmi_message *m)
{
    int rc = 0;
    pvmi_tid new = (pvmi_tid)pvmd_service_get_int(m, &rc);
    if (!rc && new && !pvmi_tid_is_task(new))
        rc = PVMI_EPARAM;
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
    struct brood *b, *next;
    DL_FOREACH_SAFE (broods, b, next) {
        b->watch = NULL; /* watch.c frees it */
        brood_free(b);
    }
    broods = NULL;
}
