/*
 * rdma.c - frames over reliable connected queue pairs: InfiniBand, RoCE, soft-RoCE (see rdma.h for the parts).
 *
 * An offer is the number and the address of a queue pair (offer.h); the reply is the same from the joining side. Then
 * both connect their queue pairs, without rdma_cm. The joining side sends nothing until the offering side has sent its
 * hello, because the offering side's queue pair would drop earlier messages.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "rdma.h"

#define COMPLETIONS    8192 /* entries of the completion queue, more than all links can use */
#define CALLS_PER_LOOK 4096 /* progress() calls of a polling task between two checks of its descriptors */
#define BATCHES_MAX    4    /* of completions, per progress() */
#define FAREWELL_US    100000

static struct rdma_transport *of(struct pvmt_transport *t)
{
    return (struct rdma_transport *)t;
}

static struct rdma_link *link_of(const struct pvmt_endpoint *ep)
{
    return (struct rdma_link *)ep;
}

static int rdma_available(char *why, size_t size)
{
    struct pvmt_rdma_port port;
    return pvmt_rdma_port_choose(&port, why, size);
}

/* Soft-RoCE is slower than TCP and ranks behind it. */
static void rdma_query(const struct pvmt_transport *t, struct pvmt_attributes *out)
{
    struct pvmt_rdma_port port = {.speed_mbs = 0};
    char why[8];
    if (t)
        port = ((const struct rdma_transport *)t)->port;
    else if (pvmt_rdma_port_choose(&port, why, sizeof why))
        port.speed_mbs = 0;
    *out = (struct pvmt_attributes){.frame_max = PVMC_FRAME_PAYLOAD_MAX,
                                    .copy_max = (uint32_t)pvmc_config_integer(PVMC_SETTING_RDMA_EAGER),
                                    .latency_ns = port.soft ? 10000 : 1500,
                                    .bandwidth_mbs = port.soft        ? 1000
                                                     : port.speed_mbs ? port.speed_mbs
                                                                      : 6000,
                                    .by_name_only = true,
                                    .secrecy = "in the clear",
                                    .end_unseen = true,
                                    .registers = true};
}

/* ---- opening ---- */

static void read_settings(struct rdma_transport *t)
{
    t->eager_bytes = (unsigned)pvmc_config_integer(PVMC_SETTING_RDMA_EAGER);
    t->inplace_bytes = (size_t)pvmc_config_integer(PVMC_SETTING_RDMA_INPLACE);
    t->cache_bytes = (size_t)pvmc_config_integer(PVMC_SETTING_RDMA_CACHE);
    t->wait_ticks = (unsigned)(pvmc_config_us(PVMC_SETTING_RDMA_TIMEOUT) / RDMA_TICK_US);
    unsigned pieces = PVMC_FRAME_PIECES_MAX * (unsigned)sizeof(struct rdma_piece);
    unsigned payload = t->eager_bytes > pieces ? t->eager_bytes : pieces;
    t->slot_bytes = (payload + RDMA_MESSAGE_EXTRA + 63) & ~63u;
}

static int say_no(const struct rdma_transport *t, const char *what)
{
    int failed = errno;
    pvmc_log(PVMC_LOG_WARNING, "rdma: %s %s: %s", t->port.device, what, strerror(failed));
    return failed == EMFILE || failed == ENFILE || failed == ENOMEM ? PVMC_ELIMIT : PVMC_ESYSTEM;
}

static int create_completions(struct rdma_transport *t)
{
    struct ibv_device_attr attr;
    int entries = COMPLETIONS;
    if (t->verbs->query_device(t->context, &attr))
        return say_no(t, "does not report its capabilities");
    if (attr.max_cqe > 0 && attr.max_cqe < entries)
        entries = attr.max_cqe;
    t->cq = t->verbs->create_cq(t->context, entries, t->channel);
    return t->cq ? 0 : say_no(t, "provides no completion queue");
}

static int set_up(struct rdma_transport *t)
{
    char why[512];
    read_settings(t);
    int rc = pvmt_rdma_port_choose(&t->port, why, sizeof why);
    t->verbs = rc ? NULL : pvmt_verbs_load(why, sizeof why);
    if (!t->verbs) {
        pvmc_log(PVMC_LOG_WARNING, "no direct RDMA links: %s", why);
        return rc ? rc : PVMC_EUNSUPPORTED;
    }
    errno = 0;
    if (!(t->context = pvmt_rdma_device_open(t->verbs, t->port.device)))
        return say_no(t, "cannot be opened");
    if (!(t->pd = t->verbs->alloc_pd(t->context)))
        return say_no(t, "provides no protection domain");
    if (!(t->channel = t->verbs->create_comp_channel(t->context)))
        return say_no(t, "provides no completion channel");
    rc = create_completions(t);
    if (!rc)
        rc = pvmt_rdma_slots_open(t);
    return rc ? rc : pvmt_rdma_events_open(t);
}

static void take_down(struct rdma_transport *t)
{
    pvmt_rdma_events_close(t);
    if (t->pd)
        pvmt_rdma_slots_close(t, false);
    if (t->cq)
        t->verbs->destroy_cq(t->cq);
    if (t->channel)
        t->verbs->destroy_comp_channel(t->channel);
    if (t->pd)
        t->verbs->dealloc_pd(t->pd);
    if (t->context)
        t->verbs->close_device(t->context);
    free(t->stash);
    free(t);
}

static int rdma_open(const char *address, const struct pvmt_callbacks *callbacks, void *arg,
                     struct pvmt_transport **out)
{
    extern const struct pvmt_transport_ops pvmt_rdma_ops;
    struct rdma_transport *t = address ? NULL : calloc(1, sizeof *t);
    if (!t)
        return address ? PVMC_EUNSUPPORTED : PVMC_ENOMEM;
    t->base = (struct pvmt_transport){.ops = &pvmt_rdma_ops, .callbacks = callbacks, .arg = arg};
    t->pid = getpid();
    t->epoll = t->timer = -1;
    int rc = set_up(t);
    if (rc) {
        take_down(t);
        return rc;
    }
    pvmt_rdma_regions_open(t);
    *out = &t->base;
    return 0;
}

/* ---- closing ---- */

static void tidy(struct rdma_transport *t)
{
    struct rdma_link *l, *next;
    DL_FOREACH_SAFE (t->graveyard, l, next) {
        DL_DELETE(t->graveyard, l);
        pvmt_rdma_link_free(l);
    }
}

/* Says goodbye on all links, and waits a short time for the device to send it. */
static void part_from_all(struct rdma_transport *t)
{
    struct rdma_link *l, *next;
    int64_t end_us = pvmc_clock_us() + FAREWELL_US;
    DL_FOREACH_SAFE (t->links, l, next)
        if (!l->parted)
            pvmt_rdma_link_part(l);
    while (t->links && !t->dead && !t->port_down && pvmc_clock_us() < end_us)
        t->base.ops->progress(&t->base);
    while (t->links)
        pvmt_rdma_link_bury(t->links);
}

static void forget_loans(struct rdma_link *l)
{
    while (l->loans) {
        struct rdma_loan *loan = l->loans;
        l->loans = loan->next;
        for (unsigned i = 0; i < loan->count; i++)
            if (!loan->regions[i]->kept)
                free(loan->regions[i]);
        pvmc_mem_unref(loan->mem);
        pvmc_frame_unref(loan->frame);
        free(loan);
    }
}

/* The objects in a forked child's memory are the parent's, so the child only closes its copies of descriptors. */
static void forget_copies(struct rdma_transport *t)
{
    struct rdma_link *l, *next;
    HASH_CLEAR(hh, t->by_number);
    DL_CONCAT(t->graveyard, t->links);
    DL_FOREACH_SAFE (t->graveyard, l, next) {
        forget_loans(l);
        pvmc_mem_unref(l->read.copy);
        pvmc_frame_unref(l->greeting);
        free(l);
    }
    pvmt_rdma_regions_close(t, true);
    pvmt_rdma_slots_close(t, true);
    pvmt_rdma_events_close(t);
    close(t->channel->fd);
    t->verbs->close_device(t->context);
    free(t->stash);
    free(t);
}

static void rdma_close(struct pvmt_transport *base)
{
    struct rdma_transport *t = of(base);
    if (t->pid != getpid()) {
        forget_copies(t);
        return;
    }
    part_from_all(t);
    tidy(t);
    pvmt_rdma_regions_close(t, false);
    take_down(t);
}

/* ---- connecting ---- */

/* Writes what the peer must know of a new link. Its length, or a PVMC_E code and no link. */
static int describe(struct rdma_link *l, uint8_t blob[PVMT_OFFER_MAX], struct pvmt_endpoint **out)
{
    int length = pvmt_rdma_link_describe(l, blob);
    *out = length < 0 ? NULL : &l->base;
    if (length < 0)
        pvmt_rdma_link_bury(l);
    return length;
}

static int rdma_offer(struct pvmt_transport *base, void *owner, uint8_t blob[PVMT_OFFER_MAX], int *fd,
                      struct pvmt_endpoint **out)
{
    int rc;
    struct rdma_link *l = pvmt_rdma_link_new(of(base), owner, &rc);
    *fd = -1;
    if (!l)
        return rc;
    l->state = RDMA_OFFERED;
    return describe(l, blob, out);
}

static int rdma_join(struct pvmt_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                     uint8_t reply[PVMT_OFFER_MAX], struct pvmt_endpoint **out)
{
    struct pvmt_rdma_offer peer;
    if (fd >= 0)
        close(fd);
    int rc = pvmt_rdma_offer_decode(blob, length, &peer);
    struct rdma_link *l = rc ? NULL : pvmt_rdma_link_new(of(base), owner, &rc);
    if (!l)
        return rc;
    memcpy(l->token, peer.token, sizeof l->token);
    rc = pvmt_rdma_link_connect(l, &peer);
    if (rc) {
        pvmt_rdma_link_bury(l);
        return rc;
    }
    l->state = RDMA_JOINING;
    return describe(l, reply, out);
}

static int rdma_joined(struct pvmt_endpoint *ep, const uint8_t *reply, size_t length)
{
    struct rdma_link *l = link_of(ep);
    struct pvmt_rdma_offer peer;
    if (l->state != RDMA_OFFERED)
        return PVMC_EEXISTS;
    int rc = pvmt_rdma_offer_decode(reply, length, &peer);
    if (!rc && memcmp(peer.token, l->token, sizeof l->token))
        rc = PVMC_EDENIED;
    if (!rc)
        rc = pvmt_rdma_link_connect(l, &peer);
    if (rc)
        return rc;
    l->state = RDMA_UP;
    l->ready_due = true;
    of(ep->transport)->attention = true;
    if (!pvmt_rdma_send_hello(l))
        pvmt_rdma_link_fail(l, PVMC_EDOWN, "cannot send the hello to the peer");
    return 0;
}

static void rdma_disconnect(struct pvmt_endpoint *ep)
{
    pvmt_rdma_link_part(link_of(ep));
}

static size_t rdma_pending(const struct pvmt_endpoint *ep)
{
    return link_of(ep)->loan_count;
}

/* ---- progress ---- */

static const char *status_text(const struct ibv_wc *wc)
{
    switch (wc->status) {
    case IBV_WC_RETRY_EXC_ERR:
        return "the peer does not answer any more";
    case IBV_WC_RNR_RETRY_EXC_ERR:
        return "the peer has no buffer for a message";
    case IBV_WC_WR_FLUSH_ERR:
        return "its queue pair has been stopped";
    case IBV_WC_REM_ACCESS_ERR:
        return "the peer's memory can no longer be read";
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
        return "the device may not use a part of our memory";
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_ABORT_ERR:
        return "the peer's device refuses our work";
    default:
        return "the device has failed";
    }
}

static void take_received(struct rdma_transport *t, struct rdma_link *l, const struct ibv_wc *wc)
{
    struct rdma_slot *slot = (struct rdma_slot *)(uintptr_t)wc->wr_id;
    slot->length = wc->byte_len;
    if (wc->status && l)
        pvmt_rdma_link_fail(l, PVMC_EDOWN, status_text(wc));
    if (wc->status || !l || !l->qp || wc->byte_len > t->slot_bytes)
        pvmt_rdma_slot_free(t, NULL, slot);
    else
        pvmt_rdma_receive(l, slot);
}

static void take_completion(struct rdma_transport *t, const struct rdma_event *e)
{
    const struct ibv_wc *wc = &e->wc;
    struct rdma_link *l = e->link;
    enum rdma_work work = wc->wr_id & ((1u << RDMA_WORK_BITS) - 1);
    if (work == RDMA_WORK_RECEIVE) {
        take_received(t, l, wc);
        return;
    }
    if (!l || !l->qp)
        return;
    if (wc->status) {
        pvmt_rdma_link_fail(l, PVMC_EDOWN, status_text(wc));
        return;
    }
    pvmt_rdma_sent(l, wc->wr_id >> RDMA_WORK_BITS);
    if (work == RDMA_WORK_PROBE) {
        l->probing = false;
        l->ticks = 0;
    } else if (work == RDMA_WORK_READ) {
        pvmt_rdma_read_done(l);
    }
}

static int take_stash(struct rdma_transport *t)
{
    struct rdma_event *events = t->stash;
    unsigned count = t->stashed;
    t->stash = NULL; /* callbacks may stash more */
    t->stashed = t->stash_capacity = 0;
    for (unsigned i = 0; i < count; i++)
        take_completion(t, &events[i]);
    free(events);
    return (int)count;
}

/* *drained: there are no more. */
static int take_batch(struct rdma_transport *t, bool *drained)
{
    struct ibv_wc wc[RDMA_EVENTS];
    struct rdma_event events[RDMA_EVENTS];
    int n = t->verbs->poll_cq(t->cq, RDMA_EVENTS, wc);
    *drained = n < RDMA_EVENTS;
    for (int i = 0; i < n; i++) /* copy all first: a callback may end links */
        events[i] = (struct rdma_event){wc[i], pvmt_rdma_link_find(t, wc[i].qp_num)};
    for (int i = 0; i < n; i++)
        take_completion(t, &events[i]);
    return n;
}

static int attend_all(struct rdma_transport *t, bool drained)
{
    struct rdma_link *l, *next;
    int n = 0;
    t->attention = false;
    t->bounce_short = t->bounce_short && !t->free_bounces;
    unsigned burials = t->burials;
    DL_FOREACH_SAFE (t->links, l, next) {
        n += pvmt_rdma_link_attend(l, drained);
        if (t->burials != burials) { /* the list has changed; the other links get their turn next time */
            t->attention = true;
            break;
        }
    }
    return n;
}

/* Returns credits that no message of the program has carried. */
static void give_back(struct rdma_transport *t)
{
    struct rdma_link *l;
    t->credits_due = false;
    DL_FOREACH (t->links, l)
        if (l->state == RDMA_UP && !l->parted && !l->failed && !l->ended)
            pvmt_rdma_send_news(l, true);
}

static int rdma_progress(struct pvmt_transport *base)
{
    struct rdma_transport *t = of(base);
    bool drained = false;
    int n = 0;
    if (t->slept || ++t->turn % CALLS_PER_LOOK == 0) {
        pvmt_rdma_events_look(t);
        t->slept = false;
    }
    if (t->stashed)
        n += take_stash(t);
    for (int i = 0; i < BATCHES_MAX && !drained && !t->stashed; i++) {
        int taken = take_batch(t, &drained);
        if (taken < 0)
            pvmt_rdma_device_lost(t, "its completions cannot be read");
        n += taken > 0 ? taken : 0;
    }
    if (t->attention)
        n += attend_all(t, drained && !t->stashed);
    else if (t->credits_due && !n)
        give_back(t);
    if (t->spare && !n)
        pvmt_rdma_slots_post(t);
    if (t->graveyard && !t->stashed)
        tidy(t);
    return n;
}

static int rdma_fd(struct pvmt_transport *base)
{
    return of(base)->epoll;
}

static int rdma_arm(struct pvmt_transport *base)
{
    struct rdma_transport *t = of(base);
    if (t->credits_due)
        give_back(t);
    if (t->spare)
        pvmt_rdma_slots_post(t);
    if (t->stashed || t->attention || pvmt_rdma_events_arm(t))
        return 1;
    t->slept = true;
    return 0;
}

const struct pvmt_transport_ops pvmt_rdma_ops = {
    .name = "rdma",
    .summary = "RDMA verbs: InfiniBand, RoCE, soft-RoCE",
    .available = rdma_available,
    .describe = pvmt_rdma_ports_describe,
    .open = rdma_open,
    .close = rdma_close,
    .query = rdma_query,
    .offer = rdma_offer,
    .join = rdma_join,
    .joined = rdma_joined,
    .disconnect = rdma_disconnect,
    .send = pvmt_rdma_send,
    .pending = rdma_pending,
    .progress = rdma_progress,
    .fd = rdma_fd,
    .arm = rdma_arm,
};
