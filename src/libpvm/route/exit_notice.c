/* farewell.c - see farewell.h. */
#include "farewell.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "../../include/pvmtev.h"
#include "../core/clock.h"
#include "arrivals.h"
#include "carrier.h"
#include "peer.h"
#include "route.h"

#define LIMIT_US        2000000
#define LIMIT_UNSEEN_US 50000 /* no link will tell: only what has come already has to be taken in */

struct farewell {
    struct pvmi_message *m; /* the news; NULL: for us only */
    pvmi_tid tid;
    int64_t deadline_us;
    bool unseen; /* then its links are closed */
    struct farewell *prev, *next;
};

static struct farewell *waiting;
static bool bypassed;

/* The one int of a notification; 0 for other messages. */
static pvmi_tid notified(const struct pvmi_message *m)
{
    int32_t tid;
    if (bypassed || m->src != PVMI_TID_DAEMON || m->length != sizeof tid)
        return 0;
    memcpy(&tid, m->mem->data, sizeof tid);
    return (pvmi_tid)tid;
}

/* The task of an event endtask, as pvmtev(7) has it; 0 for other messages. The daemon always describes this one. */
static pvmi_tid traced(struct pvmi_message *m)
{
    int head[2], data[9]; /* seconds, microseconds, task id: of each kind, type and value */
    char name[16];
    if (pvmi_message_unpack(m, PVM_INT, head, 2, 1) || head[0] != TEV_MARK_EVENT_DESC || head[1] != TEV_ENDTASK ||
        pvmi_message_unpack_string(m, name, sizeof name) || pvmi_message_unpack(m, PVM_INT, data, 9, 1))
        return 0;
    return (pvmi_tid)data[8];
}

/* The task whose end m tells of; 0 for other messages. */
static pvmi_tid subject(struct pvmi_message *m)
{
    pvmi_tid tid = notified(m);
    if (tid || m->length < sizeof(int32_t[11]))
        return tid;
    tid = traced(m);
    m->position = 0;
    return tid;
}

/* Links that do not see the end of their peer: what it sent and did not come, will not. */
static bool is_unseen(const struct pvmi_peer *p)
{
    const struct pvmi_link *l;
    DL_FOREACH (pvmi_links, l)
        if (l->peer == p && !l->carrier->attributes.end_unseen)
            return false;
    return true;
}

/* Keeps m, which may be NULL, and the reference, until the links to p are down. False: out of memory. */
static bool keep(struct pvmi_peer *p, struct pvmi_message *m)
{
    struct farewell *f = calloc(1, sizeof *f);
    if (!f)
        return false;
    f->unseen = is_unseen(p);
    f->m = m;
    f->tid = p->tid;
    f->deadline_us = pvmi_clock_us() + (f->unseen ? LIMIT_UNSEEN_US : LIMIT_US);
    DL_APPEND(waiting, f);
    pvmi_carrier_alarm(f->deadline_us);
    return true;
}

bool pvmi_farewell_take(struct pvmi_message *m)
{
    pvmi_tid tid = subject(m);
    struct pvmi_peer *p = tid ? pvmi_peer_find(tid) : NULL;
    if (p)
        pvmi_route_withdraw(p);
    return p && p->links && keep(p, m);
}

void pvmi_farewell_note(struct pvmi_peer *p)
{
    if (p->links && is_unseen(p))
        keep(p, NULL);
}

bool pvmi_farewell_waits(void)
{
    return waiting;
}

void pvmi_farewell_bypass(bool on)
{
    bypassed = on;
}

/* Frees f. */
static void deliver(struct farewell *f)
{
    DL_DELETE(waiting, f);
    if (f->m)
        pvmi_arrivals_put(f->m);
    free(f);
}

void pvmi_farewell_deliver(pvmi_tid tid)
{
    struct farewell *f, *next;
    DL_FOREACH_SAFE (waiting, f, next)
        if (f->tid == tid)
            deliver(f);
}

/* The first whose time is over. */
static struct farewell *late(int64_t now_us)
{
    struct farewell *f;
    DL_FOREACH (waiting, f)
        if (f->deadline_us <= now_us)
            return f;
        else
            pvmi_carrier_alarm(f->deadline_us);
    return NULL;
}

int pvmi_farewell_expire(int64_t now_us)
{
    int n = 0;
    struct farewell *f;
    for (; (f = late(now_us)); n++) {
        struct pvmi_peer *p = f->unseen ? pvmi_peer_find(f->tid) : NULL;
        if (p && p->links)
            pvmi_route_forget(p); /* delivers it and others of that task */
        else
            deliver(f);
    }
    return n;
}

void pvmi_farewell_clear(void)
{
    struct farewell *f, *next;
    DL_FOREACH_SAFE (waiting, f, next) {
        DL_DELETE(waiting, f);
        pvmi_message_unref(f->m);
        free(f);
    }
}
