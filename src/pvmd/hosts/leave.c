/* leave.c - see leave.h. */
#include "leave.h"
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/buf.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "pvmd/base/events.h"
#include "pvmd/base/self.h"
#include "pvmd/net/link.h"
#include "pvm3.h"
#include "pvmd/net/rpc.h"
#include "add.h"
#include "membership.h"
#include "tokens.h"

#define LIMIT_S 3. /* time limit for daemons to end */

/* A caller that waits until hosts have ended. */
struct waiting {
    int *status;       /* for each host; NULL: the whole machine ends */
    unsigned *indices; /* 0: not waited for */
    unsigned count;
    ev_timer limit;
    pvmd_deleted *out, *deleted;
    bool is_out; /* `out` has been called */
    void *arg;
    int exit_code;
    char why[128];
    struct waiting *prev, *next;
};

static struct waiting *all_waiting;

static void tell(unsigned to, unsigned index, uint32_t incarnation)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, index);
    pvmc_buf_put_u32(&body, incarnation);
    pvmd_ask(to, PVMD_DM_HOST_REMOVE, &body, NULL, NULL);
    pvmc_buf_free(&body);
}

void pvmd_leave_tell(unsigned index, uint32_t incarnation)
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        const struct pvmd_host *h = pvmd_host_by_index(i);
        if (h && h != pvmd_host_self() && i != index)
            tell(i, index, incarnation);
    }
}

void pvmd_leave_forget(struct pvmd_host *host)
{
    unsigned index = host->index;
    bool was_member = host->state == PVMD_HOST_UP;
    pvmc_failpoint(PVMC_FAILPOINT_HOST_FORGET);
    pvmd_link_close(host);
    pvmd_host_free(host);
    pvmd_rpc_host_left(index);
    pvmc_failpoint_done(PVMC_FAILPOINT_HOST_FORGET);
    if (was_member)
        pvmd_tell_host_left(index);
}

void pvmd_leave_lost(struct pvmd_host *host, const char *why)
{
    pvmc_log(PVMC_LOG_WARNING, "host %s has left the machine: %s", host->name, why);
    pvmd_tokens_host_lost(host);
    pvmd_leave_forget(host);
    pvmd_membership_changed();
}

/* ---- waiting for daemons to end ---- */

static void free_waiting(struct waiting *w)
{
    ev_timer_stop(pvmd.loop, &w->limit);
    DL_DELETE(all_waiting, w);
    free(w->status);
    free(w->indices);
    free(w);
}

static void finish(struct waiting *w)
{
    if (w->deleted)
        w->deleted(w->arg, w->count, w->status);
    else
        pvmd_end(w->exit_code, w->why);
    free_waiting(w);
}

/* All members are about to hear of it, before they hear of what the caller does now. */
static void tell_out(struct waiting *w)
{
    if (!w->deleted || w->is_out || !pvmd_membership_is_published())
        return;
    w->is_out = true;
    w->out(w->arg, w->count, w->status);
}

static bool is_over(const struct waiting *w)
{
    if (w->deleted && !w->is_out)
        return false;
    for (unsigned i = 0; i < w->count; i++)
        if (w->indices[i])
            return false;
    return true;
}

/* Daemons that have not ended in time will end by themselves when they lose their master. */
static void limit_event(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct waiting *w = timer->data;
    (void)loop, (void)events;
    for (unsigned i = 0; i < w->count; i++) {
        struct pvmd_host *h = w->indices[i] ? pvmd_host_any(w->indices[i]) : NULL;
        w->indices[i] = 0;
        if (!h)
            continue;
        pvmc_log(PVMC_LOG_WARNING, "host %s has not ended its daemon within %g s", h->name, LIMIT_S);
        pvmd_link_close(h);
        pvmd_host_free(h);
    }
    if (!w->deleted || is_over(w)) /* else it is not yet published */
        finish(w);
}

static void host_gone(unsigned index)
{
    struct waiting *w, *next;
    DL_FOREACH_SAFE (all_waiting, w, next) {
        for (unsigned i = 0; i < w->count; i++)
            if (w->indices[i] == index)
                w->indices[i] = 0;
        if (is_over(w))
            finish(w);
    }
}

void pvmd_leave_gone(struct pvmd_host *host)
{
    unsigned index = host->index;
    pvmd_link_close(host);
    pvmd_host_free(host);
    host_gone(index);
}

static struct waiting *new_waiting(unsigned count)
{
    struct waiting *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->status = calloc(count + 1, sizeof *w->status);
    w->indices = calloc(count + 1, sizeof *w->indices);
    w->count = count;
    ev_timer_init(&w->limit, limit_event, LIMIT_S, 0.);
    w->limit.data = w;
    DL_APPEND(all_waiting, w);
    if (w->status && w->indices)
        return w;
    free_waiting(w);
    return NULL;
}

/* Tells the host itself while it can still be reached, and only then removes it for all. */
static void dismiss(struct pvmd_host *host)
{
    unsigned index = host->index;
    pvmc_failpoint(PVMC_FAILPOINT_HOST_DISMISS);
    tell(index, index, host->incarnation);
    pvmd_host_set_state(host, PVMD_HOST_LEAVING);
    pvmc_failpoint_done(PVMC_FAILPOINT_HOST_DISMISS);
    pvmd_rpc_host_left(index);
    pvmd_tell_host_left(index);
    pvmd_membership_changed();
}

/* ---- deleting ---- */

static int delete_one(const char *name, unsigned *index)
{
    struct pvmd_host *host = pvmd_host_by_name(name);
    if (!*name)
        return PvmBadParam;
    if (!host || pvmd_add_concerns(host))
        return PvmNoHost;
    if (host == pvmd_host_self())
        return PvmBadParam;
    pvmc_log(PVMC_LOG_INFO, "host %s is deleted", host->name);
    *index = host->index;
    dismiss(host);
    return PvmOk;
}

int pvmd_leave_delete(const char *const *names, unsigned count, pvmd_deleted *out, pvmd_deleted *deleted, void *arg)
{
    struct waiting *w = new_waiting(count);
    if (!w)
        return PVMC_ENOMEM;
    w->out = out;
    w->deleted = deleted;
    w->arg = arg;
    for (unsigned i = 0; i < count; i++)
        w->status[i] = delete_one(names[i], &w->indices[i]);
    tell_out(w);
    if (is_over(w))
        finish(w);
    else
        ev_timer_start(pvmd.loop, &w->limit);
    return 0;
}

void pvmd_leave_committed(uint32_t seq)
{
    struct waiting *w, *next;
    (void)seq;
    DL_FOREACH_SAFE (all_waiting, w, next) {
        bool was_out = w->is_out;
        tell_out(w);
        if (w->is_out && !was_out && is_over(w))
            finish(w);
    }
}

/* ---- the end of the machine ---- */

/* They know the members, and would look for the next master. */
static void halt_newcomers(void)
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        const struct pvmd_host *h = pvmd_host_any(i);
        if (h && h->state == PVMD_HOST_JOINING)
            pvmd_ask(i, PVMD_DM_HALT, NULL, NULL, NULL);
    }
}

void pvmd_leave_all(int exit_code, const char *why)
{
    size_t count;
    struct pvmd_host **members = pvmd_host_list(&count);
    struct waiting *w = new_waiting((unsigned)count);
    if (!w) {
        pvmd_end(exit_code, why);
        return;
    }
    halt_newcomers();
    w->exit_code = exit_code;
    snprintf(w->why, sizeof w->why, "%s", why);
    for (size_t i = 0; i < count; i++)
        if (members[i] != pvmd_host_self())
            w->indices[i] = members[i]->index;
    for (unsigned i = 0; i < w->count; i++) {
        if (!w->indices[i])
            continue;
        pvmd_ask(w->indices[i], PVMD_DM_HALT, NULL, NULL, NULL);
        pvmd_host_set_state(pvmd_host_any(w->indices[i]), PVMD_HOST_LEAVING);
    }
    if (is_over(w))
        finish(w);
    else
        ev_timer_start(pvmd.loop, &w->limit);
}

void pvmd_leave_stop(void)
{
    while (all_waiting) {
        struct waiting *w = all_waiting;
        if (w->deleted)
            w->deleted(w->arg, w->count, w->status);
        free_waiting(w);
    }
}
