/* hoster.c - see hoster.h. */
#include "hoster.h"
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "pvmd/base/self.h"
#include "pvmproto.h"
#include "pvmd/tasks/service.h"
#include "pvmd/tasks/tasks.h"

struct pvmd_hosting {
    pvmc_tid host;
    char *options, *login, *command;
    int32_t wid; /* of the message that asked; 0: not asked yet */
    const struct pvmd_hosting_events *events;
    void *owner;
    struct pvmd_hosting *prev, *next;
};

static pvmc_tid hoster;
static struct pvmd_hosting *hostings;
static ev_timer gather, lost;

pvmc_tid pvmd_hoster(void)
{
    return hoster;
}

/* ---- hostings ---- */

static void hosting_free(struct pvmd_hosting *h)
{
    free(h->options);
    free(h->login);
    free(h->command);
    free(h);
}

void pvmd_hoster_cancel(struct pvmd_hosting *h)
{
    DL_DELETE(hostings, h);
    hosting_free(h);
}

struct pvmd_hosting *pvmd_hoster_ask(const struct pvmd_hosting_order *order, const struct pvmd_hosting_events *events,
                                     void *owner)
{
    struct pvmd_hosting *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->host = order->host;
    h->options = strdup(order->options);
    h->login = strdup(order->login);
    h->command = strdup(order->command);
    h->events = events;
    h->owner = owner;
    if (!h->options || !h->login || !h->command) {
        hosting_free(h);
        return NULL;
    }
    DL_APPEND(hostings, h);
    if (!ev_is_active(&gather)) {
        ev_timer_set(&gather, PVMD_HOSTER_GATHER_S, 0.);
        ev_timer_start(pvmd.loop, &gather);
    }
    return h;
}

/* Takes out one that was asked for. The owner may free h, and others with it. */
static void end_hosting(struct pvmd_hosting *h, const char *result)
{
    const struct pvmd_hosting_events *events = h->events;
    void *owner = h->owner;
    DL_DELETE(hostings, h);
    hosting_free(h);
    if (result)
        events->answered(owner, result);
    else
        events->lost(owner);
}

/* ---- SM_STHOST ---- */

static int mark_open(int32_t wid)
{
    int count = 0;
    struct pvmd_hosting *h;
    DL_FOREACH (hostings, h)
        if (!h->wid) {
            h->wid = wid;
            count++;
        }
    return count;
}

/* The last two fields are PVM 3.4's: a command for Windows hosts, and the name of the machine. */
static void put_host(struct pvmc_message **m, const struct pvmd_hosting *h)
{
    pvmd_service_put_int(m, (int)h->host);
    pvmd_service_put_text(m, h->options);
    pvmd_service_put_text(m, h->login);
    pvmd_service_put_text(m, h->command);
    pvmd_service_put_text(m, "");
    pvmd_service_put_text(m, pvmc_config_text(PVMC_SETTING_VMID));
}

static void ask_gathered(EV_P_ ev_timer *timer, int events)
{
    static int32_t wid;
    (void)loop, (void)timer, (void)events;
    if (!hoster)
        return; /* `lost` will tell the owners */
    wid = wid == INT32_MAX ? 1 : wid + 1;
    int count = mark_open(wid);
    if (!count)
        return;
    struct pvmc_message *m = pvmd_service_new(SM_STHOST, wid);
    struct pvmd_hosting *h;
    pvmd_service_put_int(&m, count);
    DL_FOREACH (hostings, h)
        if (h->wid == wid)
            put_host(&m, h);
    if (!pvmd_service_send(m, hoster))
        pvmc_log(PVMC_LOG_ERROR, "no memory to ask the hoster for %d hosts", count);
}

/* ---- SM_STHOSTACK ---- */

static struct pvmd_hosting *find(int32_t wid, pvmc_tid host)
{
    struct pvmd_hosting *h;
    DL_FOREACH (hostings, h)
        if (h->wid == wid && (!host || h->host == host))
            return h;
    return NULL;
}

/* One host's result. */
static void take_result(const struct pvmc_message *m, pvmc_tid host, const char *result)
{
    struct pvmd_hosting *h = m->wid ? find(m->wid, host) : NULL;
    if (h)
        end_hosting(h, result);
    else
        pvmc_log(PVMC_LOG_WARNING,
                 "ignored hoster t%x's answer for %x: not asked for, or already answered (wait id %d)", m->src, host,
                 m->wid);
}

/*
 * Reads a count and pairs of host and result, as PVM 3.4.6 does; or pairs only, as its man page says. A count is less
 * than any host's tid. Hosts that are missing in the answer have failed.
 */
static int take_answer(struct pvmc_message *m)
{
    int rc = 0;
    int first = pvmd_service_get_int(m, &rc);
    bool counted = (pvmc_tid)first <= PVMC_HOST_INDEX_MAX;
    int left = counted ? first : PVMC_HOST_INDEX_MAX;
    while (!rc && left-- > 0 && (!counted || m->position < m->length)) {
        int host = counted ? pvmd_service_get_int(m, &rc) : first;
        char *result = pvmd_service_get_text(m, &rc);
        if (!rc && host)
            take_result(m, (pvmc_tid)host, result);
        free(result);
        if (!counted && m->position >= m->length)
            break;
        if (!counted)
            first = pvmd_service_get_int(m, &rc);
    }
    struct pvmd_hosting *missing;
    while (m->wid && (missing = find(m->wid, 0)))
        end_hosting(missing, "PvmDSysErr (its answer lacks this host)");
    return rc;
}

static bool may_send(pvmc_tid src)
{
    return src && src == hoster;
}

/* ---- its end ---- */

/* From the loop: we start the remaining hosts ourselves. */
static void tell_lost(EV_P_ ev_timer *timer, int events)
{
    (void)loop, (void)timer, (void)events;
    while (hostings && !hoster)
        end_hosting(hostings, NULL);
}

void pvmd_hoster_set(pvmc_tid tid)
{
    if (hoster)
        pvmd_service_forget(hoster);
    hoster = tid;
    if (hoster || !hostings)
        return;
    ev_timer_set(&lost, 0., 0.);
    ev_timer_start(pvmd.loop, &lost);
}

void pvmd_hoster_task_left(const struct pvmd_task *task)
{
    if (!(task->flags & PVMD_TASK_HOSTER) || task->tid != hoster)
        return;
    pvmc_log(PVMC_LOG_INFO, "hoster t%x has ended: this daemon starts others itself again", task->tid);
    pvmd_hoster_set(0);
}

void pvmd_hoster_start(void)
{
    ev_timer_init(&gather, ask_gathered, 0., 0.);
    ev_timer_init(&lost, tell_lost, 0., 0.);
    pvmd_service_handle(SM_STHOSTACK, may_send, take_answer);
}

void pvmd_hoster_stop(void)
{
    hoster = 0;
    while (hostings)
        pvmd_hoster_cancel(hostings);
}
