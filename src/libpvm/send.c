/* send.c - pvm_send, pvm_mcast, pvm_psend: a message is cut into frames, which go to the daemon one after the other. */
#include "send.h"
#include <stdlib.h>
#include <string.h>
#include "../core/error.h"
#include "../core/proto.h"
#include "buffer.h"
#include "compat.h"
#include "handler.h"
#include "link.h"
#include "options.h"
#include "peer.h"
#include "perror.h"
#include "request.h"
#include "task.h"
#include "wait.h"

/* ---- to ourselves ---- */

/* The body is shared: who packs on gets a copy of it. */
static int send_to_self(const struct pvmi_message *m)
{
    bool inplace = pvmi_message_is_inplace(m);
    struct pvmi_message *twin = pvmi_message_new(inplace ? m->dsig : m->enc);
    if (!twin)
        return PVMI_ENOMEM;
    twin->src = m->src;
    twin->dst = m->dst;
    twin->tag = m->tag;
    twin->ctx = m->ctx;
    twin->wid = m->wid;
    twin->crc = m->crc;
    twin->dsig = m->dsig;
    int rc = inplace ? pvmi_buffer_append(twin, m) : 0;
    if (!inplace && m->length) {
        twin->mem = pvmi_mem_ref(m->mem);
        twin->length = m->length;
    }
    if (rc)
        pvmi_message_unref(twin);
    else
        pvmi_link_deliver(twin);
    return rc;
}

/* ---- by the daemon ---- */

struct receivers {
    const int *tids;
    unsigned count;
};

static bool nobody_held(void *arg)
{
    const struct receivers *r = arg;
    if (!pvmi_link_is_up())
        return true;
    for (unsigned i = 0; i < r->count; i++)
        if (pvmi_peer_is_held((pvmi_tid)r->tids[i]))
            return false;
    return true;
}

static bool link_ready(void *arg)
{
    (void)arg;
    return pvmi_link_ready();
}

static bool link_idle(void *arg)
{
    (void)arg;
    return pvmi_link_idle();
}

/* The next frame of m, at *offset, which moves on. */
static int send_frame(struct pvmi_message *m, uint64_t *offset, uint32_t seq)
{
    struct pvmi_frame *f = pvmi_message_frame(m, *offset, pvmi_link_frame_max(), seq);
    if (!f)
        return PVMI_ENOMEM;
    int rc;
    while ((rc = pvmi_link_send(f)) == PVMI_EAGAIN) {
        rc = pvmi_wait_until(link_ready, NULL, PVMI_WAIT_FOREVER);
        if (rc)
            break;
    }
    *offset += f->h.length;
    pvmi_frame_unref(f);
    return rc;
}

/* All frames of m; *seq moves on. Nothing else may be sent meanwhile, so handlers wait. */
static int send_frames(struct pvmi_message *m, uint32_t *seq, struct receivers to)
{
    uint64_t offset = 0, bytes = pvmi_message_bytes(m);
    int rc;
    pvmi_handler_defer();
    do {
        rc = nobody_held(&to) ? 0 : pvmi_wait_until(nobody_held, &to, PVMI_WAIT_FOREVER);
        if (!rc)
            rc = send_frame(m, &offset, (*seq)++);
    } while (!rc && offset < bytes);
    if (!rc && !pvmi_link_idle())
        rc = pvmi_wait_until(link_idle, NULL, PVMI_WAIT_FOREVER);
    pvmi_handler_allow();
    return rc;
}

int pvmi_send_message(struct pvmi_message *m)
{
    if (m->dst == pvmi_task.tid && m->dst)
        return send_to_self(m);
    uint32_t uncounted = 0;
    struct pvmi_peer *peer = NULL;
    int to = (int)m->dst;
    if (!pvmi_peer_counts(m->dst, m->ctx))
        return send_frames(m, &uncounted, (struct receivers){&to, 1});
    peer = pvmi_peer_get(m->dst);
    if (!peer)
        return PVMI_ENOMEM;
    uint32_t seq = peer->tx_seq;
    int rc = send_frames(m, &seq, (struct receivers){&to, 1});
    peer = pvmi_peer_get(m->dst); /* the old one may have been forgotten meanwhile, with its host */
    if (peer)
        peer->tx_seq = seq;
    return rc;
}

/* ---- public calls ---- */

static bool may_receive(int tid)
{
    return pvmi_tid_names_task((pvmi_tid)tid) || (pvmi_options.resv_tids && tid);
}

static bool may_carry(int tag)
{
    return tag >= 0 || pvmi_options.resv_tids;
}

static void address(struct pvmi_message *m, pvmi_tid dst, int tag)
{
    m->src = pvmi_task.tid;
    m->dst = dst;
    m->tag = tag;
    m->ctx = (uint32_t)pvmmyctx;
}

static int send_active(int tid, int tag)
{
    struct pvmi_message *m = pvmi_send_buffer.m;
    if (!m)
        return PvmNoBuf;
    if (!may_receive(tid) || !may_carry(tag))
        return PVMI_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    address(m, (pvmi_tid)tid, tag);
    rc = pvmi_send_message(m);
    pvmi_handler_run();
    return rc;
}

int pvm_send(int tid, int tag)
{
    return pvmi_return("pvm_send", send_active(tid, tag));
}

static int compare_tids(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* Leaves each receiver once and ourselves not at all; returns how many are left. */
static unsigned unique_others(int *tids, unsigned count)
{
    unsigned kept = 0;
    qsort(tids, count, sizeof *tids, compare_tids);
    for (unsigned i = 0; i < count; i++)
        if (tids[i] != (int)pvmi_task.tid && (!kept || tids[i] != tids[kept - 1]))
            tids[kept++] = tids[i];
    return kept;
}

/* Each sending has a multicast tid of its own for as long as it lasts. */
static pvmi_tid new_multicast_tid(void)
{
    static uint32_t counter;
    counter = (counter + 1) & PVMI_TID_LOCAL_MASK;
    return PVMI_TID_MULTICAST | pvmi_tid_host(pvmi_task.tid) | counter;
}

/* Tells the daemon who is behind the multicast tid and with which number each receiver's frames go on. */
static int announce_multicast(pvmi_tid group, const int *tids, unsigned count)
{
    struct pvmi_buf body;
    pvmi_buf_init(&body);
    pvmi_buf_put_u32(&body, group);
    pvmi_buf_put_u32(&body, count);
    for (unsigned i = 0; i < count; i++) {
        struct pvmi_peer *peer = pvmi_peer_get((pvmi_tid)tids[i]);
        if (!peer) {
            pvmi_buf_free(&body);
            return PVMI_ENOMEM;
        }
        pvmi_buf_put_u32(&body, (uint32_t)tids[i]);
        pvmi_buf_put_u32(&body, peer->tx_seq);
    }
    return pvmi_request_one_way(PVMI_TM_MULTICAST, &body);
}

static int multicast(struct pvmi_message *m, const int *tids, unsigned count)
{
    uint32_t frames = 0;
    m->dst = new_multicast_tid();
    pvmi_handler_defer(); /* the numbers announced must be those of the next frames */
    int rc = announce_multicast(m->dst, tids, count);
    if (!rc)
        rc = send_frames(m, &frames, (struct receivers){tids, count});
    for (unsigned i = 0; i < count; i++) {
        struct pvmi_peer *peer = pvmi_peer_get((pvmi_tid)tids[i]);
        if (peer)
            peer->tx_seq += frames;
    }
    pvmi_handler_allow();
    return rc;
}

static int send_to_many(struct pvmi_message *m, int *tids, int count, int tag)
{
    unsigned others = unique_others(tids, (unsigned)count);
    address(m, others ? (pvmi_tid)tids[0] : 0, tag);
    if (!others)
        return 0;
    return others == 1 ? pvmi_send_message(m) : multicast(m, tids, others);
}

static int mcast_active(const int *tids, int count, int tag)
{
    struct pvmi_message *m = pvmi_send_buffer.m;
    if (!m)
        return PvmNoBuf;
    if (count < 0 || (count && !tids) || !may_carry(tag))
        return PVMI_EPARAM;
    for (int i = 0; i < count; i++)
        if (!pvmi_tid_names_task((pvmi_tid)tids[i]))
            return PVMI_EPARAM;
    int rc = pvmi_task_need();
    if (rc || !count)
        return rc;
    int *copy = malloc(count * sizeof *copy);
    if (!copy)
        return PVMI_ENOMEM;
    memcpy(copy, tids, count * sizeof *copy);
    rc = send_to_many(m, copy, count, tag);
    free(copy);
    pvmi_handler_run();
    return rc;
}

int pvm_mcast(int *tids, int count, int tag)
{
    return pvmi_return("pvm_mcast", mcast_active(tids, count, tag));
}

static int send_data(int tid, int tag, const void *data, int n, int type)
{
    if (type == PVM_STR)
        return PVMI_EUNSUPPORTED;
    if (!may_receive(tid) || !may_carry(tag))
        return PVMI_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmi_message *m = pvmi_message_new(PVMI_ENC_INPLACE);
    if (!m)
        return PVMI_ENOMEM;
    rc = pvmi_message_pack(m, type, data, n, 1);
    if (!rc) {
        address(m, (pvmi_tid)tid, tag);
        rc = pvmi_send_message(m);
    }
    pvmi_message_unref(m);
    pvmi_handler_run();
    return rc;
}

int pvm_psend(int tid, int tag, void *data, int n, int type)
{
    return pvmi_return("pvm_psend", send_data(tid, tag, data, n, type));
}
