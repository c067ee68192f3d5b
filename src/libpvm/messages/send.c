/* send.c - pvm_send, pvm_mcast, pvm_psend: who a message goes to, and the shortest way there. */
#include "send.h"
#include <stdlib.h>
#include <string.h>
#include "../core/error.h"
#include "arrivals.h"
#include "buffer.h"
#include "call.h"
#include "claim.h"
#include "compat.h"
#include "link.h"
#include "multicast.h"
#include "options.h"
#include "outbox.h"
#include "peer.h"
#include "perror.h"
#include "route.h"
#include "task.h"
#include "trace.h"
#include "transfer.h"
#include "wait.h"

#define PSEND_COPIED 16 /* items that pvm_psend() copies */

static int send_to_self(const struct pvmi_message *m)
{
    bool inplace = pvmi_message_is_inplace(m);
    struct pvmi_message *twin = pvmi_message_twin(m, inplace ? m->dsig : m->enc);
    if (!twin)
        return PVMI_ENOMEM;
    int rc = 0;
    if (inplace)
        rc = pvmi_buffer_append(twin, m);
    else
        pvmi_message_share(twin, m);
    if (rc)
        pvmi_message_unref(twin);
    else
        pvmi_link_deliver(twin);
    return rc;
}

/* Not an empty one, which has no memory. */
static int send_whole(struct pvmi_link *l, const struct pvmi_message *m, uint32_t seq)
{
    struct pvmi_frame_header h = {
        .length = (uint32_t)m->length,
        .dst = m->dst,
        .src = m->src,
        .seq = seq,
        .tag = m->tag,
        .ctx = m->ctx,
        .wid = m->wid,
        .enc = m->enc,
        .dsig = m->dsig,
        .body_length = m->length,
        .crc = m->crc,
    };
    return pvmi_link_send_whole(l, &h, m->mem->data);
}

static int send_one_frame(struct pvmi_link *l, struct pvmi_message *m, uint32_t seq)
{
    struct pvmi_frame *f = pvmi_message_frame(m, 0, l->frame_max, seq);
    int rc = f ? pvmi_link_send(l, f) : PVMI_ENOMEM;
    pvmi_frame_unref(f);
    return rc;
}

/* The usual case, for the shortest way: a message of one frame over a direct link that takes it. False: not done. */
static bool send_at_once(struct pvmi_message *m, struct pvmi_peer *p)
{
    struct pvmi_link *l = pvmi_route_link(p);
    if (!l->peer || m->length > l->frame_max || pvmi_message_is_inplace(m) || !pvmi_link_is_ready(l) || !l->lossless ||
        pvmi_link_must_listen(l))
        return false;
    int rc = m->length ? send_whole(l, m, p->tx_seq) : PVMI_EUNSUPPORTED;
    if (rc == PVMI_EUNSUPPORTED)
        rc = send_one_frame(l, m, p->tx_seq);
    if (!rc)
        pvmi_transfer_count(p, l, (uint32_t)m->length);
    return !rc;
}

static int send_to_peer(struct pvmi_message *m, struct pvmi_peer *p)
{
    struct pvmi_message *held = pvmi_claim_message(m);
    if (!held)
        return PVMI_ENOMEM;
    struct pvmi_claim c = {&p, 1};
    int rc = pvmi_claim(&c);
    if (!rc) {
        rc = pvmi_transfer_all(held, p);
        pvmi_claim_end(&c);
    }
    pvmi_message_unref(held);
    return rc;
}

static bool is_daemon_free(void *arg)
{
    (void)arg;
    return !pvmi_outbox_is_held();
}

/* Uncounted messages: to our daemon, or control. */
static int send_to_daemon(struct pvmi_message *m)
{
    int rc = pvmi_transfer_resume(NULL);
    if (!rc)
        rc = is_daemon_free(NULL) ? 0 : pvmi_wait_until(is_daemon_free, NULL, PVMI_WAIT_FOREVER);
    return rc ? rc : pvmi_transfer_all(m, NULL);
}

int pvmi_send_message(struct pvmi_message *m)
{
    if (m->dst == pvmi_task.tid && m->dst)
        return send_to_self(m);
    bool counts = pvmi_peer_counts(m->dst, m->ctx);
    struct pvmi_peer *p = counts ? pvmi_peer_get(m->dst) : NULL;
    if (counts && !p)
        return PVMI_ENOMEM;
    if (p && p->link && !p->claimed && send_at_once(m, p))
        return 0;
    return p ? send_to_peer(m, p) : send_to_daemon(m);
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

/* As events tell it. */
static int bytes_to_send(void)
{
    return pvmi_send_buffer.m ? (int)pvmi_message_bytes(pvmi_send_buffer.m) : -1;
}

static int send_active(int tid, int tag)
{
    struct pvmi_message *m = pvmi_send_buffer.m;
    if (!m)
        return PvmNoBuf;
    if (tid == PVM_TRACE_TID && tag == PVM_TRACE_CODE)
        return pvmi_trace_send_user(m);
    if (!may_receive(tid) || !may_carry(tag))
        return PVMI_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    address(m, (pvmi_tid)tid, tag);
    rc = pvmi_send_message(m);
    pvmi_arrivals_pass();
    return rc;
}

static int send_now(int tid, int tag)
{
    return pvmi_return("pvm_send", send_active(tid, tag));
}

static PVMI_COLD int watched_send(int tid, int tag)
{
    PVMI_BEGIN(TEV_SEND, PVMI_INT(MNB, bytes_to_send()), PVMI_INT(DST, tid), PVMI_INT(MC, tag),
               PVMI_INT(MCX, pvmmyctx));
    int rc = send_now(tid, tag);
    PVMI_END(TEV_SEND, PVMI_INT(CC, rc));
    return rc;
}

int pvm_send(int tid, int tag)
{
    return pvmi_call_is_watched() ? watched_send(tid, tag) : send_now(tid, tag);
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

static int send_to_many(struct pvmi_message *m, int *tids, int count, int tag)
{
    unsigned others = unique_others(tids, (unsigned)count);
    address(m, others ? (pvmi_tid)tids[0] : 0, tag);
    if (!others)
        return 0;
    return others == 1 ? pvmi_send_message(m) : pvmi_multicast(m, tids, others);
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
    pvmi_arrivals_pass();
    return rc;
}

int pvm_mcast(int *tids, int count, int tag)
{
    PVMI_BEGIN(TEV_MCAST, PVMI_INT(MNB, bytes_to_send()), PVMI_INT(MC, tag), PVMI_INT(MCX, pvmmyctx),
               PVMI_INTS(MDL, tids, tids && count > 0 ? count : 0));
    int rc = pvmi_return("pvm_mcast", mcast_active(tids, count, tag));
    PVMI_END(TEV_MCAST, PVMI_INT(CC, rc));
    return rc;
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
    bool few = n >= 0 && n <= PSEND_COPIED; /* a copy costs less than the care for data that must stay */
    struct pvmi_message *m = pvmi_message_new(few ? pvmi_dsig_own() : PVMI_ENC_INPLACE);
    if (!m)
        return PVMI_ENOMEM;
    rc = pvmi_message_pack(m, type, data, n, 1);
    if (!rc) {
        address(m, (pvmi_tid)tid, tag);
        rc = pvmi_send_message(m);
    }
    pvmi_message_unref(m);
    pvmi_arrivals_pass();
    return rc;
}

int pvm_psend(int tid, int tag, void *data, int n, int type)
{
    PVMI_BEGIN(TEV_PSEND, PVMI_INT(DST, tid), PVMI_INT(MC, tag), PVMI_INT(MCX, pvmmyctx), PVMI_LONG(PDA, data),
               PVMI_INT(PC, n), PVMI_INT(PDT, type));
    int rc = pvmi_return("pvm_psend", send_data(tid, tag, data, n, type));
    PVMI_END(TEV_PSEND, PVMI_INT(CC, rc));
    return rc;
}
