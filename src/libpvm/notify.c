/*
 * notify.c - pvm_notify. Events of hosts and other tasks are the daemons' business; our own exit and routes are ours.
 */
#include "notify.h"
#include <stdbool.h>
#include <stdlib.h>
#include <utlist.h>
#include "../core/error.h"
#include "../core/message.h"
#include "../core/proto.h"
#include "compat.h"
#include "handler.h"
#include "link.h"
#include "options.h"
#include "perror.h"
#include "request.h"
#include "task.h"

struct own_exit {
    int tag;
    uint32_t ctx;
    struct own_exit *prev, *next;
};

static struct own_exit *own_exits; /* requests for PvmTaskExit of ourselves */

/* An event in the form that daemons report theirs. */
static int deliver(pvmi_tid src, int tag, uint32_t ctx, int tid)
{
    struct pvmi_message *m = pvmi_message_new(PVMI_ENC_DEFAULT);
    if (!m || pvmi_message_pack(m, PVM_INT, &tid, 1, 1)) {
        pvmi_message_unref(m);
        return PVMI_ENOMEM;
    }
    m->src = src;
    m->dst = pvmi_task.tid;
    m->tag = tag;
    m->ctx = ctx;
    pvmi_link_deliver(m);
    return 0;
}

static int want_own_exit(int tag)
{
    struct own_exit *e = malloc(sizeof *e);
    if (!e)
        return PVMI_ENOMEM;
    *e = (struct own_exit){.tag = tag, .ctx = (uint32_t)pvmmyctx};
    DL_APPEND(own_exits, e);
    return 0;
}

static int cancel_own_exit(int tag)
{
    struct own_exit *e, *next;
    DL_FOREACH_SAFE (own_exits, e, next)
        if (e->tag == tag && e->ctx == (uint32_t)pvmmyctx) {
            DL_DELETE(own_exits, e);
            free(e);
            return deliver(PVMI_TID_DAEMON, tag, (uint32_t)pvmmyctx, (int)pvmi_task.tid);
        }
    return 0;
}

void pvmi_notify_own_exit(void)
{
    struct own_exit *e;
    DL_FOREACH (own_exits, e)
        deliver(PVMI_TID_DAEMON, e->tag, e->ctx, (int)pvmi_task.tid);
    pvmi_notify_clear();
}

void pvmi_notify_clear(void)
{
    struct own_exit *e, *next;
    DL_FOREACH_SAFE (own_exits, e, next) {
        DL_DELETE(own_exits, e);
        free(e);
    }
}

__attribute__((destructor)) static void free_all(void)
{
    pvmi_notify_clear();
}

static int ask_daemon(int what, int tag, int count, const int *tids, int tid_count)
{
    struct pvmi_buf body;
    pvmi_buf_init(&body);
    pvmi_buf_put_u32(&body, (uint32_t)what);
    pvmi_buf_put_i32(&body, tag);
    pvmi_buf_put_u32(&body, (uint32_t)pvmmyctx);
    pvmi_buf_put_i32(&body, count);
    pvmi_buf_put_u32(&body, (uint32_t)tid_count);
    for (int i = 0; i < tid_count; i++)
        pvmi_buf_put_u32(&body, (uint32_t)tids[i]);
    return pvmi_request(PVMI_TM_NOTIFY, &body, NULL);
}

/* Exit of other tasks is asked of the daemon in one go, our own is kept here. */
static int notify_exits(int what, int tag, int count, const int *tids)
{
    int *others = malloc(count * sizeof *others), n = 0, rc = others ? 0 : PVMI_ENOMEM;
    for (int i = 0; i < count && !rc; i++)
        if (tids[i] != (int)pvmi_task.tid)
            others[n++] = tids[i];
        else
            rc = what & PvmNotifyCancel ? cancel_own_exit(tag) : want_own_exit(tag);
    if (n && !rc)
        rc = ask_daemon(what, tag, n, others, n);
    free(others);
    return rc;
}

static int notify_hosts_lost(int what, int tag, int count, const int *tids)
{
    int *hosts = malloc(count * sizeof *hosts);
    if (!hosts)
        return PVMI_ENOMEM;
    for (int i = 0; i < count; i++)
        hosts[i] = (int)pvmi_tid_host((pvmi_tid)tids[i]);
    int rc = ask_daemon(what, tag, count, hosts, count);
    free(hosts);
    return rc;
}

/* All messages take the link to our daemon, so there is no direct route that could go: it is gone already. */
static int notify_routes_lost(int tag, int count, const int *tids)
{
    int rc = 0;
    for (int i = 0; i < count && !rc; i++)
        rc = deliver(pvmi_task.tid, tag, (uint32_t)pvmmyctx, tids[i]);
    return rc;
}

static bool all_tasks(int count, const int *tids)
{
    for (int i = 0; i < count; i++)
        if (!pvmi_tid_is_task((pvmi_tid)tids[i]))
            return false;
    return true;
}

static bool all_hosts(int count, const int *tids)
{
    for (int i = 0; i < count; i++)
        if (!pvmi_tid_host((pvmi_tid)tids[i]))
            return false;
    return true;
}

static int request_event(int what, int tag, int count, const int *tids)
{
    int kind = what & ~PvmNotifyCancel;
    bool listed = kind == PvmTaskExit || kind == PvmHostDelete || kind == PvmRouteDelete;
    if (kind < PvmTaskExit || kind > PvmRouteDelete || (tag < 0 && !pvmi_options.resv_tids) ||
        (listed && (count < 1 || !tids)))
        return PVMI_EPARAM;
    if (listed && (kind == PvmHostDelete ? !all_hosts(count, tids) : !all_tasks(count, tids)))
        return PVMI_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    switch (kind) {
    case PvmTaskExit:
        return notify_exits(what, tag, count, tids);
    case PvmHostDelete:
        return notify_hosts_lost(what, tag, count, tids);
    case PvmHostAdd:
        return ask_daemon(what, tag, count, NULL, 0);
    case PvmRouteDelete:
        return notify_routes_lost(tag, count, tids);
    default: /* PvmRouteAdd: none is ever added */
        return 0;
    }
}

int pvm_notify(int what, int tag, int count, int *tids)
{
    int rc = request_event(what, tag, count, tids);
    pvmi_handler_run();
    return pvmi_return("pvm_notify", rc < 0 ? rc : 0);
}
