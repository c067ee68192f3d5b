/*
 * notify.c - pvm_notify. The daemons report events of hosts and other tasks; the library itself reports our own exit
 * and our routes.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <utlist.h>
#include "core/error.h"
#include "core/message/message.h"
#include "core/message/proto.h"
#include "libpvm/engine/arrivals.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/route/exit_notice.h"
#include "libpvm/engine/link.h"
#include "libpvm/base/options.h"
#include "libpvm/engine/peer.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/request.h"
#include "enrol.h"
#include "libpvm/route/route.h"

/* A request for an event that the library itself reports. */
struct wish {
    int what;
    pvmc_tid tid; /* RouteDelete: of which task */
    int tag;
    uint32_t ctx;
    int left; /* RouteAdd: how many more; below 0: all */
    struct wish *prev, *next;
};

static struct wish *wishes;

/* Delivers an event in the form that daemons use. */
static int deliver(pvmc_tid src, int tag, uint32_t ctx, int tid)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    if (!m || pvmc_message_pack(m, PVM_INT, &tid, 1, 1)) {
        pvmc_message_unref(m);
        return PVMC_ENOMEM;
    }
    m->src = src;
    m->dst = pvmi_task.tid;
    m->tag = tag;
    m->ctx = ctx;
    pvmi_link_deliver(m);
    return 0;
}

/* Delivers an event of this task. For its exit the source is the daemon, else this task. */
static int deliver_own(const struct wish *w, pvmc_tid tid)
{
    return deliver(w->what == PvmTaskExit ? PVMC_TID_DAEMON : pvmi_task.tid, w->tag, w->ctx, (int)tid);
}

static void drop(struct wish *w)
{
    DL_DELETE(wishes, w);
    free(w);
}

static void clear(void)
{
    while (wishes)
        drop(wishes);
}

static void tell_own_exit(void)
{
    struct wish *w;
    DL_FOREACH (wishes, w)
        if (w->what == PvmTaskExit)
            deliver_own(w, pvmi_task.tid);
    clear();
}

static void tell_route_added(pvmc_tid tid)
{
    struct wish *w, *next;
    DL_FOREACH_SAFE (wishes, w, next)
        if (w->what == PvmRouteAdd) {
            deliver_own(w, tid);
            if (w->left > 0 && !--w->left)
                drop(w);
        }
}

static void tell_route_deleted(pvmc_tid tid)
{
    struct wish *w, *next;
    DL_FOREACH_SAFE (wishes, w, next)
        if (w->what == PvmRouteDelete && w->tid == tid) {
            deliver_own(w, tid);
            drop(w);
        }
}

static void subscribe(void)
{
    static const struct pvmi_route_listener of_routes = {.added = tell_route_added, .deleted = tell_route_deleted};
    static struct pvmi_leaver of_exit = {.leaves = tell_own_exit, .left = clear};
    pvmi_route_listener = &of_routes;
    pvmi_enrol_on_leave(&of_exit);
}

static int want(int what, pvmc_tid tid, int tag, int count)
{
    struct wish *w = malloc(sizeof *w);
    if (!w)
        return PVMC_ENOMEM;
    *w = (struct wish){.what = what, .tid = tid, .tag = tag, .ctx = (uint32_t)pvmmyctx, .left = count};
    DL_APPEND(wishes, w);
    subscribe();
    return 0;
}

/*
 * Cancels one request of that kind and tag in our context. With `report` it is reported at once, as if the event had
 * occurred.
 */
static int cancel(int what, pvmc_tid tid, int tag, bool report)
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

__attribute__((destructor)) static void free_all(void)
{
    clear();
}

static int ask_daemon(int what, int tag, int count, const int *tids, int tid_count)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, (uint32_t)what);
    pvmc_buf_put_i32(&body, tag);
    pvmc_buf_put_u32(&body, (uint32_t)pvmmyctx);
    pvmc_buf_put_i32(&body, count);
    pvmc_buf_put_u32(&body, (uint32_t)tid_count);
    for (int i = 0; i < tid_count; i++)
        pvmc_buf_put_u32(&body, (uint32_t)tids[i]);
    return pvmi_request_aside(PVMC_TM_NOTIFY, &body);
}

/* One request to the daemon covers the exits of other tasks; our own exit is handled here. */
static int notify_exits(int what, int tag, int count, const int *tids)
{
    int *others = malloc(count * sizeof *others), n = 0, rc = others ? 0 : PVMC_ENOMEM;
    for (int i = 0; i < count && !rc; i++)
        if (tids[i] != (int)pvmi_task.tid)
            others[n++] = tids[i];
        else
            rc = what & PvmNotifyCancel ? cancel(PvmTaskExit, pvmi_task.tid, tag, true)
                                        : want(PvmTaskExit, pvmi_task.tid, tag, 1);
    pvmi_exit_notice_bypass(what & PvmNotifyCancel);
    if (n && !rc)
        rc = ask_daemon(what, tag, n, others, n);
    pvmi_exit_notice_bypass(false);
    free(others);
    return rc;
}

static int notify_hosts_lost(int what, int tag, int count, const int *tids)
{
    int *hosts = malloc(count * sizeof *hosts);
    if (!hosts)
        return PVMC_ENOMEM;
    for (int i = 0; i < count; i++)
        hosts[i] = (int)pvmc_tid_host((pvmc_tid)tids[i]);
    int rc = ask_daemon(what, tag, count, hosts, count);
    free(hosts);
    return rc;
}

/* Without a direct link the route is gone already. */
static int notify_routes_lost(int what, int tag, int count, const int *tids)
{
    int rc = 0;
    for (int i = 0; i < count && !rc; i++) {
        pvmc_tid tid = (pvmc_tid)tids[i];
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
        if (!pvmc_tid_is_task((pvmc_tid)tids[i]))
            return false;
    return true;
}

static bool all_hosts(int count, const int *tids)
{
    for (int i = 0; i < count; i++)
        if (!pvmc_tid_host((pvmc_tid)tids[i]))
            return false;
    return true;
}

static int request_event(int what, int tag, int count, const int *tids)
{
    int kind = what & ~PvmNotifyCancel;
    bool listed = kind == PvmTaskExit || kind == PvmHostDelete || kind == PvmRouteDelete;
    if (kind < PvmTaskExit || kind > PvmRouteDelete || (tag < 0 && !pvmi_options.resv_tids) ||
        (listed && (count < 1 || !tids)))
        return PVMC_EPARAM;
    if (listed && (kind == PvmHostDelete ? !all_hosts(count, tids) : !all_tasks(count, tids)))
        return PVMC_EPARAM;
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
