/* exit_notice.c - see exit_notice.h. */
#include "exit_notice.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "pvmtev.h"
#include "core/clock.h"
#include "libpvm/engine/arrivals.h"
#include "libpvm/engine/carrier.h"
#include "libpvm/engine/peer.h"
#include "route.h"

#define LIMIT_US        2000000
#define LIMIT_UNSEEN_US 50000 /* if no link can tell: time to receive what was sent */

struct notice {
    struct pvmc_message *m; /* the notice; NULL: for the library only */
    pvmc_tid tid;
    int64_t deadline_us;
    bool unseen; /* no link sees the end: its links are then closed */
    struct notice *prev, *next;
};

static struct notice *waiting;
static bool bypassed, at_once;

/* The tid in a notification; 0 for other messages. */
static pvmc_tid notified(const struct pvmc_message *m)
{
    int32_t tid;
    if (bypassed || m->src != PVMC_TID_DAEMON || m->length != sizeof tid)
        return 0;
    memcpy(&tid, m->mem->data, sizeof tid);
    return (pvmc_tid)tid;
}

/*
 * The task of an endtask event, in the layout of pvmtev(7); 0 for other messages. The daemon always includes this
 * description.
 */
static pvmc_tid traced(struct pvmc_message *m)
{
    int head[2], data[9]; /* seconds, microseconds, task id: of each kind, type and value */
    char name[16];
    if (pvmc_message_unpack(m, PVM_INT, head, 2, 1) || head[0] != TEV_MARK_EVENT_DESC || head[1] != TEV_ENDTASK ||
        pvmc_message_unpack_string(m, name, sizeof name) || pvmc_message_unpack(m, PVM_INT, data, 9, 1))
        return 0;
    return (pvmc_tid)data[8];
}

/* The task whose end m tells of; 0 for other messages. */
static pvmc_tid subject(struct pvmc_message *m)
{
    pvmc_tid tid = notified(m);
    if (tid || m->length < sizeof(int32_t[11]))
        return tid;
    tid = traced(m);
    m->position = 0;
    return tid;
}

/* Whether no link to p sees the end of its peer: after the delay, nothing more of p will arrive. */
static bool is_unseen(const struct pvmi_peer *p)
{
    const struct pvmi_link *l;
    DL_FOREACH (pvmi_links, l)
        if (l->peer == p && !l->carrier->attributes.end_unseen)
            return false;
    return true;
}

/* Keeps m (may be NULL) and the reference until the links to p are down. False: out of memory. */
static bool keep(struct pvmi_peer *p, struct pvmc_message *m)
{
    struct notice *f = calloc(1, sizeof *f);
    if (!f)
        return false;
    f->unseen = is_unseen(p);
    f->m = m;
    f->tid = p->tid;
    f->deadline_us = pvmc_clock_us() + (f->unseen ? LIMIT_UNSEEN_US : LIMIT_US);
    DL_APPEND(waiting, f);
    pvmi_link_end_is_due = true;
    pvmi_carrier_alarm(f->deadline_us);
    return true;
}

bool pvmi_exit_notice_take(struct pvmc_message *m)
{
    pvmc_tid tid = subject(m);
    struct pvmi_peer *p = tid ? pvmi_peer_find(tid) : NULL;
    if (p)
        pvmi_route_withdraw(p);
    return p && (p->links || pvmi_peer_awaits_shadow(p)) && !at_once && keep(p, m);
}

void pvmi_exit_notice_note(struct pvmi_peer *p)
{
    if (p->links && is_unseen(p))
        keep(p, NULL);
}

void pvmi_exit_notice_bypass(bool on)
{
    bypassed = on;
}

void pvmi_exit_notice_never_delay(void)
{
    at_once = true;
}

static void unlist(struct notice *f)
{
    DL_DELETE(waiting, f);
    pvmi_link_end_is_due = waiting;
}

/* Frees f. */
static void deliver(struct notice *f)
{
    unlist(f);
    if (f->m)
        pvmi_arrivals_put(f->m);
    free(f);
}

void pvmi_exit_notice_deliver(pvmc_tid tid)
{
    struct notice *f, *next;
    DL_FOREACH_SAFE (waiting, f, next)
        if (f->tid == tid)
            deliver(f);
}

static bool awaits_shadow(pvmc_tid tid)
{
    const struct pvmi_peer *p = pvmi_peer_find(tid);
    return p && pvmi_peer_awaits_shadow(p);
}

/* The first notice whose time limit has passed. */
static struct notice *late(int64_t now_us)
{
    struct notice *f;
    DL_FOREACH (waiting, f)
        if (f->deadline_us > now_us)
            pvmi_carrier_alarm(f->deadline_us);
        else if (!awaits_shadow(f->tid))
            return f;
    return NULL;
}

int pvmi_exit_notice_expire(int64_t now_us)
{
    int n = 0;
    struct notice *f;
    for (; (f = late(now_us)); n++) {
        struct pvmi_peer *p = f->unseen ? pvmi_peer_find(f->tid) : NULL;
        if (p && p->links)
            pvmi_route_forget(p); /* delivers all notices of that task */
        else
            deliver(f);
    }
    return n;
}

void pvmi_exit_notice_clear(void)
{
    struct notice *f, *next;
    DL_FOREACH_SAFE (waiting, f, next) {
        unlist(f);
        pvmc_message_unref(f->m);
        free(f);
    }
}
