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
#include "arrivals.h"
#include "call.h"
#include "compat.h"
#include "farewell.h"
#include "link.h"
#include "options.h"
#include "peer.h"
#include "perror.h"
#include "request.h"
#include "task.h"

/* Events that we see ourselves. */
struct wish {
    int what;
    pvmi_tid tid; /* RouteDelete: of which task */
    int tag;
    uint32_t ctx;
    int left; /* RouteAdd: how many more; below 0: all */
    struct wish *prev, *next;
};

static struct wish *wishes;

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

/* What is notified of for these, comes from ourselves. */
static int deliver_own(const struct wish *w, pvmi_tid tid)
{
    return deliver(w->what == PvmTaskExit ? PVMI_TID_DAEMON : pvmi_task.tid, w->tag, w->ctx, (int)tid);
}

static int want(int what, pvmi_tid tid, int tag, int count)
{
    struct wish *w = malloc(sizeof *w);
    if (!w)
        return PVMI_ENOMEM;
    *w = (struct wish){.what = what, .tid = tid, .tag = tag, .ctx = (uint32_t)pvmmyctx, .left = count};
    DL_APPEND(wishes, w);
    return 0;
}

static void drop(struct wish *w)
{
    DL_DELETE(wishes, w);
    free(w);
}

/* One wish of that kind, tag and our context; it is reported at once, as if it had come true. */
static int cancel(int what, pvmi_tid tid, int tag, bool report)
{
    struct wish *w, *next;
    int rc = 0;
    DL_FOREACH_SAFE (wishes, w, next)
        if (w->what == what && w->tid == tid && w->tag == tag && w->ctx == (uint32_t)pvmmyctx) {
            if (report)
                rc = deliver_own(w, tid);
            drop(w);
            return rc;
        }
    return 0;
}

void pvmi_notify_own_exit(void)
{
    struct wish *w;
    DL_FOREACH (wishes, w)
        if (w->what == PvmTaskExit)
            deliver_own(w, pvmi_task.tid);
    pvmi_notify_clear();
}

void pvmi_notify_route_added(pvmi_tid tid)
{
    struct wish *w, *next;
    DL_FOREACH_SAFE (wishes, w, next)
        if (w->what == PvmRouteAdd) {
            deliver_own(w, tid);
            if (w->left > 0 && !--w->left)
                drop(w);
        }
}

void pvmi_notify_route_deleted(pvmi_tid tid)
{
    struct wish *w, *next;
    DL_FOREACH_SAFE (wishes, w, next)
        if (w->what == PvmRouteDelete && w->tid == tid) {
            deliver_own(w, tid);
            drop(w);
        }
}

void pvmi_notify_clear(void)
{
    while (wishes)
        drop(wishes);
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
    return pvmi_request_aside(PVMI_TM_NOTIFY, &body);
}

/* Exit of other tasks is asked of the daemon in one go, our own is kept here. */
static int notify_exits(int what, int tag, int count, const int *tids)
{
    int *others = malloc(count * sizeof *others), n = 0, rc = others ? 0 : PVMI_ENOMEM;
    for (int i = 0; i < count && !rc; i++)
        if (tids[i] != (int)pvmi_task.tid)
            others[n++] = tids[i];
        else
            rc = what & PvmNotifyCancel ? cancel(PvmTaskExit, pvmi_task.tid, tag, true)
                                        : want(PvmTaskExit, pvmi_task.tid, tag, 1);
    pvmi_farewell_bypass(what & PvmNotifyCancel);
    if (n && !rc)
        rc = ask_daemon(what, tag, n, others, n);
    pvmi_farewell_bypass(false);
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

/* Where there is no direct link, it is gone already. */
static int notify_routes_lost(int what, int tag, int count, const int *tids)
{
    int rc = 0;
    for (int i = 0; i < count && !rc; i++) {
        pvmi_tid tid = (pvmi_tid)tids[i];
        const struct pvmi_peer *p = pvmi_peer_find(tid);
        if (what & PvmNotifyCancel)
            rc = cancel(PvmRouteDelete, tid, tag, true);
        else if (p && p->link)
            rc = want(PvmRouteDelete, tid, tag, 1);
        else
            rc = deliver(pvmi_task.tid, tag, (uint32_t)pvmmyctx, tids[i]);
    }
    return rc;
}

/* The next `count` direct links; -1: all from now on; 0: no more. */
static int notify_routes_made(int what, int tag, int count)
{
    int rc = cancel(PvmRouteAdd, 0, tag, false);
    return rc || !count || what & PvmNotifyCancel ? rc : want(PvmRouteAdd, 0, tag, count);
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
        return notify_routes_lost(what, tag, count, tids);
    default:
        return notify_routes_made(what, tag, count);
    }
}

int pvm_notify(int what, int tag, int count, int *tids)
{
    PVMI_BEGIN(TEV_NOTIFY, PVMI_INT(NE, what), PVMI_INT(NMC, tag), PVMI_INTS(NTL, tids, tids && count > 0 ? count : 0));
    int done = request_event(what, tag, count, tids);
    pvmi_arrivals_pass();
    int rc = pvmi_return("pvm_notify", done < 0 ? done : 0);
    PVMI_END(TEV_NOTIFY, PVMI_INT(CC, rc));
    return rc;
}
