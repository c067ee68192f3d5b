/* link.c - life cycle of a link: its queue pair goes from "offered" to "up" to "stopped". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "rdma.h"

#define ACK_TIMEOUT     16 /* 4.096 us * 2^16 = 0.27 s until a packet is sent again, ... */
#define ACK_RETRIES     6  /* ... at most this often; soft-RoCE takes 7 as "for ever" */
#define RNR_TIMER       12 /* 0.64 ms until a message is sent again to a peer without buffers, which credits ... */
#define RNR_RETRIES     7  /* ... normally prevent. 7: for ever */
#define HOPS            64
#define BYE_TICKS       2  /* time for our goodbye to arrive */
#define PROBE_TICKS     2  /* silence of the peer until we probe */
#define SILENCE_TICKS   15 /* until a probe counts as unanswered; the device gives up much sooner */
#define NUMBER_MASK     0xffffffu
#define INLINE_HALVINGS 4

/* ---- queue pairs ---- */

/* Creates a queue pair with as much room for inline data as the device grants. */
static struct ibv_qp *create_queue(struct rdma_transport *t, unsigned *inline_max)
{
    for (unsigned i = 0; i <= INLINE_HALVINGS; i++) {
        struct ibv_qp_init_attr init = {.send_cq = t->cq,
                                        .recv_cq = t->cq,
                                        .srq = t->srq,
                                        .qp_type = IBV_QPT_RC,
                                        .cap = {.max_send_wr = RDMA_SEND_QUEUE, .max_send_sge = 1}};
        if (!t->srq) {
            init.cap.max_recv_wr = RDMA_WINDOW_MAX;
            init.cap.max_recv_sge = 1;
        }
        init.cap.max_inline_data = i < INLINE_HALVINGS ? RDMA_INLINE_WANTED >> i : 0;
        struct ibv_qp *qp = t->verbs->create_qp(t->pd, &init);
        *inline_max = init.cap.max_inline_data < RDMA_INLINE_MAX ? init.cap.max_inline_data : RDMA_INLINE_MAX;
        if (qp || errno != EINVAL)
            return qp;
    }
    return NULL;
}

static int initialise(struct rdma_link *l)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = t->port.number,
                               .qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};
    return t->verbs->modify_qp(l->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int ready_to_receive(struct rdma_link *l, const struct pvmt_rdma_offer *peer)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = peer->mtu < t->port.mtu ? (enum ibv_mtu)peer->mtu : t->port.mtu,
                               .dest_qp_num = peer->queue,
                               .rq_psn = peer->first,
                               .max_dest_rd_atomic = peer->reads < t->reads_max ? peer->reads : t->reads_max,
                               .min_rnr_timer = RNR_TIMER,
                               .ah_attr = {.dlid = peer->lid, .port_num = t->port.number}};
    if (t->port.ethernet || !peer->lid) {
        attr.ah_attr.is_global = 1;
        attr.ah_attr.grh.hop_limit = HOPS;
        attr.ah_attr.grh.sgid_index = t->port.gid_index;
        memcpy(attr.ah_attr.grh.dgid.raw, peer->gid, sizeof peer->gid);
    }
    return t->verbs->modify_qp(l->qp, &attr,
                               IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int ready_to_send(struct rdma_link *l, const struct pvmt_rdma_offer *peer)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
                               .timeout = ACK_TIMEOUT,
                               .retry_cnt = ACK_RETRIES,
                               .rnr_retry = RNR_RETRIES,
                               .sq_psn = l->first,
                               .max_rd_atomic = peer->reads < t->reads_max ? peer->reads : t->reads_max};
    return t->verbs->modify_qp(l->qp, &attr,
                               IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                   IBV_QP_MAX_QP_RD_ATOMIC);
}

/* ---- beginning ---- */

static int make_queue(struct rdma_link *l)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    if (getrandom(l->token, sizeof l->token, 0) != sizeof l->token ||
        getrandom(&l->first, sizeof l->first, 0) != sizeof l->first)
        return PVMC_ESYSTEM;
    l->first &= NUMBER_MASK;
    l->qp = create_queue(t, &l->inline_max);
    int failed = l->qp ? initialise(l) : errno;
    if (failed) {
        pvmc_log(PVMC_LOG_INFO, "rdma: %s provides no queue pair: %s", t->port.device, strerror(failed));
        return PVMC_ELIMIT;
    }
    l->number = l->qp->qp_num;
    if (!PVMC_HASH_ADD(hh, t->by_number, number, l)) {
        l->number = 0;
        return PVMC_ENOMEM;
    }
    return pvmt_rdma_slots_promise(l, RDMA_WINDOW_START);
}

struct rdma_link *pvmt_rdma_link_new(struct rdma_transport *t, void *owner, int *error)
{
    struct rdma_link *l = t->dead || t->port_down ? NULL : calloc(1, sizeof *l);
    *error = t->dead || t->port_down ? PVMC_EUNREACHABLE : PVMC_ENOMEM;
    if (!l)
        return NULL;
    l->base = (struct pvmt_endpoint){.transport = &t->base, .owner = owner};
    DL_APPEND(t->links, l);
    *error = make_queue(l);
    if (!*error)
        return l;
    pvmt_rdma_link_bury(l);
    return NULL;
}

int pvmt_rdma_link_describe(const struct rdma_link *l, uint8_t blob[PVMT_OFFER_MAX])
{
    const struct rdma_transport *t = pvmt_rdma_of(l);
    struct pvmt_rdma_offer o = {.ethernet = t->port.ethernet,
                                .lid = t->port.lid,
                                .queue = l->number,
                                .first = l->first,
                                .mtu = (uint8_t)t->port.mtu,
                                .reads = t->reads_max,
                                .credits = RDMA_WINDOW_START};
    memcpy(o.gid, t->port.gid.raw, sizeof o.gid);
    memcpy(o.token, l->token, sizeof o.token);
    return pvmt_rdma_offer_encode(&o, blob);
}

int pvmt_rdma_link_connect(struct rdma_link *l, const struct pvmt_rdma_offer *peer)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    if (peer->ethernet != t->port.ethernet || peer->credits > RDMA_WINDOW_MAX)
        return PVMC_EUNREACHABLE;
    int failed = ready_to_receive(l, peer);
    if (!failed)
        failed = ready_to_send(l, peer);
    if (failed) {
        pvmc_log(PVMC_LOG_INFO, "rdma: no path to the peer through %s: %s", t->port.device, strerror(failed));
        return PVMC_EUNREACHABLE;
    }
    l->credits = peer->credits;
    l->ticks = 0;
    return 0;
}

struct rdma_link *pvmt_rdma_link_find(struct rdma_transport *t, uint32_t number)
{
    struct rdma_link *l = t->latest;
    if (l && l->number == number)
        return l;
    HASH_FIND(hh, t->by_number, &number, sizeof number, l);
    return t->latest = l;
}

/* ---- the end ---- */

void pvmt_rdma_link_fail(struct rdma_link *l, int reason, const char *what)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    if (l->failed)
        return;
    if (!l->parted && !l->ended)
        pvmc_log(reason == PVMC_EFORMAT ? PVMC_LOG_WARNING : PVMC_LOG_INFO, "rdma: a link over %s has ended: %s",
                 t->port.device, what);
    l->failed = true;
    l->deaf = reason == PVMC_EFORMAT || l->read.active;
    if (!l->ended)
        l->reason = reason;
    t->attention = true;
    if (l->qp)
        t->verbs->modify_qp(l->qp, &attr, IBV_QP_STATE);
}

/*
 * Ends all work on the link's memory at once and takes it out of service. Its memory stays until nothing can use it.
 * Completions are saved to the stash first, because some devices drop them with the queue pair.
 */
static void stop(struct rdma_link *l)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    if (!l->qp)
        return;
    pvmt_rdma_stash(t);
    if (l->number)
        HASH_DEL(t->by_number, l);
    t->latest = NULL;
    l->number = 0;
    t->verbs->destroy_qp(l->qp);
    l->qp = NULL;
    l->failed = true;
    pvmt_rdma_sent(l, UINT64_MAX);
    pvmt_rdma_loans_end(l, l->loan_count);
    pvmt_rdma_read_drop(l);
    pvmt_rdma_drop_backlog(l);
}

void pvmt_rdma_link_bury(struct rdma_link *l)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    t->burials++;
    stop(l);
    DL_DELETE(t->links, l);
    DL_APPEND(t->graveyard, l);
}

void pvmt_rdma_link_free(struct rdma_link *l)
{
    pvmt_rdma_slots_release(l);
    pvmc_frame_unref(l->greeting);
    free(l);
}

void pvmt_rdma_link_part(struct rdma_link *l)
{
    bool politely = l->state == RDMA_UP && !l->failed && !l->ended && !l->loan_count && !l->read.active;
    l->parted = true;
    l->base.owner = NULL;
    l->ticks = 0;
    pvmt_rdma_of(l)->attention = true;
    pvmt_rdma_drop_backlog(l);
    if (politely)
        l->said_bye = pvmt_rdma_send_bye(l);
    else
        pvmt_rdma_link_bury(l);
}

/* ---- periodic work ---- */

/* The goodbye has been sent, or never will be. */
static int attend_parted(struct rdma_link *l)
{
    if (!l->said_bye && !l->failed && !l->ended)
        l->said_bye = pvmt_rdma_send_bye(l);
    bool over = l->failed || l->ended || (l->said_bye && l->done == l->posted);
    if (over || l->ticks > BYE_TICKS)
        pvmt_rdma_link_bury(l);
    return over;
}

static void send_greeting(struct rdma_link *l)
{
    struct pvmc_frame *f = l->greeting;
    if (!f || l->state != RDMA_UP)
        return;
    l->greeting = NULL;
    if (pvmt_rdma_send(&l->base, f) == PVMC_EAGAIN)
        l->greeting = f;
    else
        pvmc_frame_unref(f);
}

static int tell_ready(struct rdma_link *l)
{
    struct pvmt_transport *t = l->base.transport;
    if (!l->ready_due && !(l->refused && !l->greeting && pvmt_rdma_can_send(l)))
        return 0;
    l->ready_due = l->refused = false;
    t->callbacks->tx_ready(t->arg, &l->base);
    return 1;
}

static int tell_down(struct rdma_link *l)
{
    struct pvmt_transport *t = l->base.transport;
    stop(l);
    l->state = RDMA_DOWN;
    t->callbacks->down(t->arg, &l->base, l->reason);
    return 1;
}

int pvmt_rdma_link_attend(struct rdma_link *l, bool drained)
{
    int n = 0;
    if (l->parted)
        return attend_parted(l);
    if (l->state == RDMA_DOWN)
        return 0;
    if (!l->failed && l->state == RDMA_UP) {
        send_greeting(l);
        if (l->read.active)
            pvmt_rdma_read_post(l);
        if (!l->ended)
            n += tell_ready(l);
        if (!l->parted && !l->failed && !l->ended)
            pvmt_rdma_send_news(l, false);
    }
    bool over = l->failed || (l->ended && !l->read.active && !l->backlog);
    if (l->parted || !over)
        return n;
    if (drained)
        return n + tell_down(l);
    pvmt_rdma_of(l)->attention = true;
    return n;
}

/* ---- time ---- */

void pvmt_rdma_link_tick(struct rdma_link *l)
{
    if (l->failed || l->state == RDMA_DOWN || l->state == RDMA_OFFERED)
        return;
    l->ticks++;
    if (l->state == RDMA_JOINING && l->ticks > pvmt_rdma_of(l)->wait_ticks)
        pvmt_rdma_link_fail(l, PVMC_ELIMIT, "the offering side did not answer in time");
    else if (l->state == RDMA_UP && l->ticks > SILENCE_TICKS && l->probing)
        pvmt_rdma_link_fail(l, PVMC_ETIMEOUT, "the device does not complete its work requests");
    else if (l->state == RDMA_UP && l->ticks >= PROBE_TICKS && !l->parted)
        pvmt_rdma_send_probe(l);
    pvmt_rdma_of(l)->attention |= l->parted;
}
