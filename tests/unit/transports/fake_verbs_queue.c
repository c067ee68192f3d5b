/* fake_verbs_queue.c - queues of the fake library, and their work requests: see fake_verbs.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include "fake_verbs_state.h"

#define LATE_BYTES 8 /* soft-RoCE: larger READs deliver their bytes only when the next work request is processed */

/* ---- completion queues ---- */

struct ibv_cq *fake_create_cq(struct ibv_context *c, int entries, struct ibv_comp_channel *channel)
{
    struct fake_cq *cq = fake_fails(FAKE_create_cq) ? NULL : calloc(1, sizeof *cq);
    if (!cq)
        return NULL;
    cq->base = (struct ibv_cq){.context = c, .channel = channel, .cqe = entries};
    cq->most = entries;
    ((struct fake_channel *)channel)->cq = cq;
    fake_objects++;
    return &cq->base;
}

int fake_destroy_cq(struct ibv_cq *base)
{
    struct fake_cq *cq = (struct fake_cq *)base;
    struct fake_entry *e, *next;
    if (cq->users || cq->unacknowledged)
        fake_violation("a completion queue goes before its queue pairs, or with events that were not acknowledged");
    DL_FOREACH_SAFE (cq->entries, e, next)
        free(e);
    free(cq);
    fake_objects--;
    return 0;
}

void fake_complete(struct fake_cq *cq, const struct ibv_wc *wc, struct fake_qp *sender, unsigned frees)
{
    static const char one = 1;
    struct fake_entry *e = calloc(1, sizeof *e);
    if (cq->count == cq->most)
        fake_violation("a completion queue overflows");
    *e = (struct fake_entry){.wc = *wc, .frees = frees, .sender = sender};
    DL_APPEND(cq->entries, e);
    cq->count++;
    if (!cq->notify)
        return;
    cq->notify = false;
    if (write(((struct fake_channel *)cq->base.channel)->write_end, &one, 1) != 1)
        fake_violation("the pipe of completions is full");
}

int fake_poll_cq(struct ibv_cq *base, int most, struct ibv_wc *wc)
{
    struct fake_cq *cq = (struct fake_cq *)base;
    int n = 0;
    if (fake_fails(FAKE_poll_cq))
        return -1;
    for (; n < most && cq->entries; n++) {
        struct fake_entry *e = cq->entries;
        wc[n] = e->wc;
        if (e->sender)
            e->sender->outstanding -= e->frees;
        DL_DELETE(cq->entries, e);
        cq->count--;
        free(e);
    }
    return n;
}

int fake_req_notify_cq(struct ibv_cq *base)
{
    if (fake_fails(FAKE_req_notify_cq))
        return ENOMEM;
    ((struct fake_cq *)base)->notify = true;
    return 0;
}

int fake_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq)
{
    char byte;
    if (fake_fails(FAKE_get_cq_event) || read(channel->fd, &byte, 1) != 1)
        return -1;
    struct fake_cq *found = ((struct fake_channel *)channel)->cq;
    found->unacknowledged++;
    *cq = &found->base;
    return 0;
}

void fake_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
    ((struct fake_cq *)cq)->unacknowledged -= count;
}

/* ---- receives ---- */

static struct fake_receive *receive_new(const struct ibv_recv_wr *wr)
{
    struct fake_receive *r = calloc(1, sizeof *r);
    if (wr->num_sge != 1)
        fake_violation("receives of one piece are known here");
    r->wr = *wr;
    r->sge = wr->sg_list[0];
    if (!fake_mr_find(r->sge.lkey, r->sge.addr, r->sge.length, IBV_ACCESS_LOCAL_WRITE))
        fake_violation("a receive goes to memory that is not registered for it");
    return r;
}

static void free_receives(struct fake_receive **list)
{
    struct fake_receive *r, *next;
    DL_FOREACH_SAFE (*list, r, next)
        free(r);
    *list = NULL;
}

static void run(struct fake_qp *q);

/* A sender may have waited for a buffer. */
static void run_all(void)
{
    struct fake_qp *q;
    DL_FOREACH (fake_qps, q)
        if (q->works)
            run(q);
}

struct ibv_srq *fake_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    struct fake_srq *s = fake_fails(FAKE_create_srq) ? NULL : calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->base = (struct ibv_srq){.context = pd->context, .pd = pd};
    s->most = attr->attr.max_wr;
    fake_objects++;
    return &s->base;
}

int fake_destroy_srq(struct ibv_srq *base)
{
    struct fake_srq *s = (struct fake_srq *)base;
    if (s->users)
        fake_violation("a shared receive queue goes before its queue pairs");
    free_receives(&s->receives);
    free(s);
    fake_objects--;
    return 0;
}

int fake_post_srq_recv(struct ibv_srq *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct fake_srq *s = (struct fake_srq *)base;
    for (; wr; wr = wr->next) {
        *bad = wr;
        if (fake_fails(FAKE_post_srq_recv) || s->count == s->most)
            return errno = ENOMEM;
        struct fake_receive *r = receive_new(wr);
        DL_APPEND(s->receives, r);
        s->count++;
    }
    run_all();
    return 0;
}

int fake_post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct fake_qp *q = (struct fake_qp *)base;
    *bad = wr;
    if (q->init.srq)
        fake_violation("post_recv() on a queue pair with a shared receive queue");
    if (fake_fails(FAKE_post_recv) || q->receive_count == q->init.cap.max_recv_wr)
        return errno = ENOMEM;
    struct fake_receive *r = receive_new(wr);
    DL_APPEND(q->receives, r);
    q->receive_count++;
    if (q->state == IBV_QPS_ERR)
        fake_qp_flush(q);
    run_all();
    return 0;
}

static struct fake_receive *take_receive(struct fake_qp *q)
{
    struct fake_srq *s = (struct fake_srq *)q->init.srq;
    struct fake_receive **list = s ? &s->receives : &q->receives, *r = *list;
    if (!r)
        return NULL;
    DL_DELETE(*list, r);
    if (s)
        s->count--;
    else
        q->receive_count--;
    return r;
}

/* ---- queue pairs ---- */

struct ibv_qp *fake_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    if (fake_fails(FAKE_create_qp))
        return NULL;
    if (attr->cap.max_inline_data > fake_device.inline_max) {
        errno = EINVAL;
        return NULL;
    }
    struct fake_qp *q = calloc(1, sizeof *q);
    q->base = (struct ibv_qp){.context = pd->context, .pd = pd, .qp_num = fake_next_number++};
    q->init = *attr;
    ((struct fake_cq *)attr->send_cq)->users++;
    if (attr->srq)
        ((struct fake_srq *)attr->srq)->users++;
    DL_APPEND(fake_qps, q);
    fake_objects++;
    return &q->base;
}

static void free_work(struct fake_qp *q, struct fake_work *w)
{
    DL_DELETE(q->works, w);
    free(w->inlined);
    free(w);
}

/* Its completions stay in the completion queue. */
int fake_destroy_qp(struct ibv_qp *base)
{
    struct fake_qp *q = (struct fake_qp *)base;
    struct fake_cq *cq = (struct fake_cq *)q->init.send_cq;
    struct fake_entry *e;
    while (q->works)
        free_work(q, q->works);
    free_receives(&q->receives);
    free(q->late.bytes);
    DL_FOREACH (cq->entries, e)
        if (e->sender == q)
            e->sender = NULL;
    cq->users--;
    if (q->init.srq)
        ((struct fake_srq *)q->init.srq)->users--;
    DL_DELETE(fake_qps, q);
    free(q);
    fake_objects--;
    return 0;
}

int fake_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask)
{
    struct fake_qp *q = (struct fake_qp *)base;
    bool in_order = attr->qp_state == IBV_QPS_ERR || (attr->qp_state == IBV_QPS_INIT && q->state == IBV_QPS_RESET) ||
                    (attr->qp_state == IBV_QPS_RTR && q->state == IBV_QPS_INIT) ||
                    (attr->qp_state == IBV_QPS_RTS && q->state == IBV_QPS_RTR);
    if (!(mask & IBV_QP_STATE))
        fake_violation("modify_qp() without a state");
    if (attr->qp_state != IBV_QPS_ERR && fake_fails(FAKE_modify_qp))
        return ENOMEM;
    if (!in_order)
        return EINVAL;
    q->state = attr->qp_state;
    if (mask & IBV_QP_DEST_QPN)
        q->peer = attr->dest_qp_num;
    if (mask & IBV_QP_ACCESS_FLAGS)
        q->access = (int)attr->qp_access_flags;
    if (q->state == IBV_QPS_ERR)
        fake_qp_flush(q);
    return 0;
}

static struct fake_qp *peer_of(const struct fake_qp *q)
{
    struct fake_qp *p;
    DL_FOREACH (fake_qps, p)
        if (p->base.qp_num == q->peer)
            return (p->state == IBV_QPS_RTR || p->state == IBV_QPS_RTS) && p->peer == q->base.qp_num ? p : NULL;
    return NULL;
}

/* ---- completions ---- */

/* The planned status, if this is the planned completion. */
static enum ibv_wc_status status_now(enum ibv_wc_status status)
{
    return ++fake_completions == fake_plan.status_at ? fake_plan.status : status;
}

static void break_queue(struct fake_qp *q)
{
    q->state = IBV_QPS_ERR;
    fake_qp_flush(q);
}

static void complete_send(struct fake_qp *q, const struct fake_work *w, enum ibv_wc_status status)
{
    struct ibv_wc wc = {.wr_id = w->wr.wr_id, .qp_num = q->base.qp_num};
    q->since_signal++;
    if (!status && !(w->wr.send_flags & IBV_SEND_SIGNALED))
        return;
    wc.status = status ? status : status_now(IBV_WC_SUCCESS);
    fake_complete((struct fake_cq *)q->init.send_cq, &wc, q, q->since_signal);
    q->since_signal = 0;
    if (wc.status && q->state != IBV_QPS_ERR)
        break_queue(q);
}

static void complete_receive(struct fake_qp *q, struct fake_receive *r, enum ibv_wc_status status, uint32_t bytes)
{
    struct ibv_wc wc = {.wr_id = r->wr.wr_id,
                        .qp_num = q->base.qp_num,
                        .opcode = IBV_WC_RECV,
                        .byte_len = bytes,
                        .status = status ? status : status_now(IBV_WC_SUCCESS)};
    free(r);
    fake_complete((struct fake_cq *)q->init.recv_cq, &wc, NULL, 0);
    if (wc.status && q->state != IBV_QPS_ERR)
        break_queue(q);
}

void fake_qp_flush(struct fake_qp *q)
{
    while (q->works) {
        complete_send(q, q->works, IBV_WC_WR_FLUSH_ERR);
        free_work(q, q->works);
    }
    while (!q->init.srq && q->receives)
        complete_receive(q, take_receive(q), IBV_WC_WR_FLUSH_ERR, 0);
}

/* ---- work ---- */

static const uint8_t *source_of(const struct fake_work *w)
{
    return w->inlined ? w->inlined : (const uint8_t *)(uintptr_t)w->sge.addr;
}

/* Delivers into the next buffer of `to`; false: there is none. */
static bool arrive(struct fake_qp *to, const void *data, uint32_t bytes, enum ibv_wc_status *status)
{
    struct fake_receive *r = take_receive(to);
    if (!r)
        return false;
    if (bytes > r->sge.length) {
        *status = IBV_WC_REM_INV_REQ_ERR;
        complete_receive(to, r, IBV_WC_LOC_LEN_ERR, 0);
        return true;
    }
    if (bytes)
        memcpy((void *)(uintptr_t)r->sge.addr, data, bytes);
    complete_receive(to, r, IBV_WC_SUCCESS, bytes);
    return true;
}

static void bring_late(struct fake_qp *q)
{
    if (q->late.bytes)
        memcpy(q->late.to, q->late.bytes, q->late.length);
    free(q->late.bytes);
    q->late.bytes = NULL;
}

static enum ibv_wc_status read_remote(struct fake_qp *q, struct fake_qp *peer, const struct fake_work *w)
{
    uint64_t from = w->wr.wr.rdma.remote_addr;
    void *to = (void *)(uintptr_t)w->sge.addr;
    if (!fake_mr_find(w->sge.lkey, w->sge.addr, w->sge.length, IBV_ACCESS_LOCAL_WRITE))
        fake_violation("a READ goes to memory that is not registered for it");
    if (!(peer->access & IBV_ACCESS_REMOTE_READ) ||
        !fake_mr_find(w->wr.wr.rdma.rkey, from, w->sge.length, IBV_ACCESS_REMOTE_READ)) {
        break_queue(peer);
        return IBV_WC_REM_ACCESS_ERR;
    }
    if (fake_device.soft && w->sge.length > LATE_BYTES) {
        q->late = (struct fake_late){.bytes = malloc(w->sge.length), .to = to, .length = w->sge.length};
        memcpy(q->late.bytes, (const void *)(uintptr_t)from, w->sge.length);
    } else {
        memcpy(to, (const void *)(uintptr_t)from, w->sge.length);
    }
    return IBV_WC_SUCCESS;
}

/* False: it waits for a buffer of the peer. */
static bool work_on(struct fake_qp *q, const struct fake_work *w)
{
    enum ibv_wc_status status = IBV_WC_SUCCESS;
    struct fake_qp *peer = peer_of(q);
    bring_late(q);
    if (!peer)
        status = IBV_WC_RETRY_EXC_ERR;
    else if (w->wr.opcode == IBV_WR_RDMA_READ)
        status = read_remote(q, peer, w);
    else if (w->wr.opcode == IBV_WR_RDMA_WRITE && w->wr.num_sge)
        fake_violation("only WRITEs of nothing are known here");
    else if (w->wr.opcode == IBV_WR_SEND && !arrive(peer, source_of(w), w->sge.length, &status))
        return false;
    complete_send(q, w, status);
    return true;
}

static void run(struct fake_qp *q)
{
    if (q->running)
        return;
    q->running = true;
    while (q->works && q->state == IBV_QPS_RTS) {
        struct fake_work *w = q->works;
        DL_DELETE(q->works, w);
        if (!work_on(q, w)) {
            DL_PREPEND(q->works, w);
            break;
        }
        free(w->inlined);
        free(w);
    }
    if (q->state == IBV_QPS_ERR)
        fake_qp_flush(q);
    q->running = false;
}

static void check_work(const struct fake_qp *q, const struct ibv_send_wr *wr)
{
    const struct ibv_sge *s = wr->num_sge ? wr->sg_list : NULL;
    if (wr->next || wr->num_sge > 1)
        fake_violation("work of one piece is known here, one at a time");
    if (q->outstanding == q->init.cap.max_send_wr)
        fake_violation("a send queue overflows");
    if (wr->send_flags & IBV_SEND_INLINE && s && s->length > q->init.cap.max_inline_data)
        fake_violation("too much inline data");
    if (wr->opcode == IBV_WR_SEND && !(wr->send_flags & IBV_SEND_INLINE) &&
        !fake_mr_find(s->lkey, s->addr, s->length, 0))
        fake_violation("a message lies in memory that is not registered");
}

int fake_post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct fake_qp *q = (struct fake_qp *)base;
    *bad = wr;
    if (q->state != IBV_QPS_RTS && q->state != IBV_QPS_ERR)
        fake_violation("work for a queue pair that is not connected");
    if (fake_fails(FAKE_post_send))
        return errno = ENOMEM;
    check_work(q, wr);
    struct fake_work *w = calloc(1, sizeof *w);
    w->wr = *wr;
    if (wr->num_sge)
        w->sge = wr->sg_list[0];
    if (wr->send_flags & IBV_SEND_INLINE && w->sge.length) {
        w->inlined = malloc(w->sge.length);
        memcpy(w->inlined, (const void *)(uintptr_t)w->sge.addr, w->sge.length);
    }
    q->outstanding++;
    if (fake_plan.silent_at && ++fake_works >= fake_plan.silent_at) { /* no completion will be reported */
        free(w->inlined);
        free(w);
        return 0;
    }
    DL_APPEND(q->works, w);
    run(q);
    return 0;
}

/* ---- functions for tests ---- */

void fake_verbs_break_queues(void)
{
    struct fake_qp *q;
    DL_FOREACH (fake_qps, q)
        break_queue(q);
}

uint32_t fake_verbs_queue(unsigned n)
{
    struct fake_qp *q;
    DL_FOREACH (fake_qps, q)
        if (!n--)
            return q->base.qp_num;
    fake_violation("there is no such queue pair");
}

void fake_verbs_say(uint32_t from, const void *data, size_t bytes)
{
    struct fake_qp *q;
    enum ibv_wc_status status;
    DL_FOREACH (fake_qps, q)
        if (q->base.qp_num == from && peer_of(q))
            arrive(peer_of(q), data, (uint32_t)bytes, &status);
}
