/* relay.c - see relay.h. The way of every message on the daemon route: short, and without a copy of the payload. */
#include "relay.h"
#include <stdlib.h>
#include <unistd.h>
#include "../core/error.h"
#include "../core/hash.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "daemon.h"
#include "hold.h"
#include "hosts.h"
#include "inbox.h"
#include "link.h"
#include "membership.h"
#include "multicast.h"
#include "overrun.h"
#include "rpc.h"
#include "service.h"
#include "stats.h"
#include "tasks.h"

#define FRAME_BYTES 65536 /* payload of our own messages' frames */

struct pvmd_stats pvmd_stats;

/* ---- messages of other daemons for this one ---- */

struct daemon_inbox {
    unsigned host;
    struct pvmd_inbox inbox;
    UT_hash_handle hh;
};

static struct daemon_inbox *inboxes;

static struct daemon_inbox *inbox_of(unsigned host)
{
    struct daemon_inbox *d;
    HASH_FIND_INT(inboxes, &host, d);
    if (d)
        return d;
    d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->host = host;
    if (!PVMI_HASH_ADD(hh, inboxes, host, d)) {
        free(d);
        return NULL;
    }
    return d;
}

static void drop_inbox(struct daemon_inbox *d)
{
    HASH_DEL(inboxes, d);
    pvmd_inbox_clear(&d->inbox);
    free(d);
}

/* By sender, not by link: the master's brings those of slaves, too, that do not reach each other. */
static void receive_question(const struct pvmi_frame *f, unsigned from_host)
{
    struct daemon_inbox *d = inbox_of(pvmi_tid_host_index(f->h.src));
    struct pvmi_message *whole = NULL;
    int rc = d ? pvmd_inbox_add(&d->inbox, f, &whole) : PVMI_ENOMEM;
    if (rc) {
        pvmi_log(PVMI_LOG_ERROR, "message %#x of host %u dropped: %s", (unsigned)f->h.tag, from_host,
                 pvmi_error_text(rc));
        return;
    }
    if (whole)
        pvmd_rpc_receive(from_host, whole);
    pvmi_message_unref(whole);
}

static void to_self(const struct pvmi_frame *f, unsigned from_host)
{
    if (pvmd_hold_is(&f->h))
        pvmd_hold_receive(f);
    else if (from_host && f->h.ctx == PVMI_CTX_DM)
        receive_question(f, from_host);
    else if (from_host && pvmd_service_is(&f->h))
        pvmd_service_frame(f);
    else
        pvmd_stats.dropped++;
}

/* ---- all others ---- */

/*
 * Nothing of hosts that are leaving: our tasks have been told that their tasks are gone, and have forgotten what number
 * is due from them.
 */
static void to_task(struct pvmi_frame *f, unsigned from_host)
{
    bool gone = from_host && !pvmd_host_by_index(pvmi_tid_host_index(f->h.src));
    struct pvmd_task *task = gone ? NULL : pvmd_task_by_tid(f->h.dst);
    if (task && pvmd_hold_is(&f->h))
        pvmd_overrun_told(task, f);
    if (task)
        pvmd_task_send(task, f);
    else
        pvmd_stats.dropped++;
}

static void to_host(struct pvmi_frame *f, unsigned index)
{
    struct pvmd_host *host = pvmd_host_by_index(index);
    if (host)
        pvmd_link_send(host, f);
    else
        pvmd_stats.dropped++;
}

/* A descriptor goes from one task of this host to another and nowhere else. */
static void settle_descriptor(struct pvmi_frame *f, unsigned from_host)
{
    if (!from_host && pvmd_task_by_tid(f->h.dst))
        return;
    f->h.flags &= (uint8_t)~PVMI_FRAME_FD;
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

void pvmd_relay(struct pvmi_frame *f, unsigned from_host)
{
    pvmi_tid dst = f->h.dst;
    if (f->h.flags & PVMI_FRAME_FD)
        settle_descriptor(f, from_host);
    pvmd_stats.frames++;
    pvmd_stats.bytes += f->h.length;
    if (pvmi_tid_is_multicast(dst))
        pvmd_multicast_relay(f, from_host);
    else if (dst != PVMI_TID_DAEMON && pvmi_tid_host_index(dst) != pvmd.host_index)
        to_host(f, pvmi_tid_host_index(dst));
    else if (pvmi_tid_is_daemon(dst))
        to_self(f, from_host);
    else
        to_task(f, from_host);
}

void pvmd_relay_message(struct pvmi_message *m)
{
    uint64_t offset = 0;
    do {
        struct pvmi_frame *f = pvmi_message_frame(m, offset, FRAME_BYTES, 0);
        if (!f) {
            pvmd_task_cut(m->dst);
            return; /* logged */
        }
        offset += f->h.length;
        pvmd_relay(f, 0);
        pvmi_frame_unref(f);
    } while (offset < m->length);
}

/* ---- hosts that leave ---- */

static void tell_gone(struct pvmd_task *task, pvmi_tid host)
{
    struct pvmi_buf body;
    pvmi_buf_init(&body);
    pvmi_buf_put_u32(&body, host);
    pvmd_task_tell(task, PVMI_CTX_TC, (int32_t)PVMI_TC_GONE, 0, &body);
    pvmi_buf_free(&body);
}

void pvmd_relay_host_left(unsigned index)
{
    struct daemon_inbox *d;
    HASH_FIND_INT(inboxes, &index, d);
    if (d)
        drop_inbox(d);
    pvmd_multicast_host_left(index);
    pvmd_overrun_host_left(index);
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        tell_gone(task, pvmi_tid_of_host_index(index));
}

void pvmd_relay_stop(void)
{
    struct daemon_inbox *d, *next;
    HASH_ITER (hh, inboxes, d, next)
        drop_inbox(d);
    pvmd_multicast_stop();
}
