/* send.c - outgoing messages: frames, references to frames, and messages of the transport itself. */
#include <endian.h>
#include <string.h>
#include "core/error.h"
#include "ofi_transport.h"

/* ---- messages ---- */

static uint8_t *put64(uint8_t *at, uint64_t v)
{
    v = htole64(v);
    memcpy(at, &v, sizeof v);
    return at + sizeof v;
}

static uint8_t *put32(uint8_t *at, uint32_t v)
{
    v = htole32(v);
    memcpy(at, &v, sizeof v);
    return at + sizeof v;
}

/* Writes the prefix; returns where the body begins. */
static uint8_t *put_prefix(const struct ofi_link *l, unsigned kind, uint8_t *at)
{
    at = put64(at, l->peer_key);
    at = put64(at, l->own_key);
    at = put32(at, l->tx_next);
    *at++ = (uint8_t)kind;
    *at++ = (uint8_t)l->owed;
    *at++ = (uint8_t)l->read_frames;
    *at++ = 0;
    return at;
}

/* The provider has no room: a later attempt may find some. */
static int no_room(struct ofi_link *l, struct ofi_work *w)
{
    struct ofi_transport *t = pvmt_ofi_of(l);
    if (w)
        pvmt_ofi_slot_free(t, w);
    t->stuffed = t->watching = l->awaiting = true;
    return PVMC_EAGAIN;
}

/*
 * Sends what is in w, up to `end`. If somebody waits for it to leave, an operation is under way until then. 0,
 * PVMC_EAGAIN or PVMC_EDOWN; w is taken in any case.
 */
static int transmit(struct ofi_link *l, struct ofi_work *w, const uint8_t *end, bool is_awaited)
{
    struct ofi_transport *t = pvmt_ofi_of(l);
    size_t length = (size_t)(end - w->data);
    bool at_once = !is_awaited && length <= t->info->tx_attr->inject_size; /* a copy, without a completion */
    ssize_t rc = l->peer->gone ? -FI_ESHUTDOWN
                 : at_once     ? fi_inject(t->ep, w->data, length, l->peer->number)
                               : fi_send(t->ep, w->data, length, w->descriptor, l->peer->number, &w->context);
    if (rc == -FI_EAGAIN)
        return no_room(l, w);
    l->owed = l->read_frames = 0; /* the prefix has told */
    if (!rc && !at_once) {
        w->link = l;
        w->peer = l->peer;
        l->peer->uses++;
        l->sending++;
        t->operations++;
        return 0;
    }
    pvmt_ofi_slot_free(t, w);
    if (rc)
        pvmt_ofi_link_fail(l, PVMC_EDOWN, t->lib->strerror((int)-rc));
    return rc ? PVMC_EDOWN : 0;
}

bool pvmt_ofi_send_own(struct ofi_link *l, unsigned kind)
{
    struct ofi_work *w = pvmt_ofi_slot_take(pvmt_ofi_of(l));
    if (!w)
        return no_room(l, NULL) != PVMC_EAGAIN;
    if (kind & OFI_ANSWER)
        l->awaiting = pvmt_ofi_of(l)->watching = true;
    return transmit(l, w, put_prefix(l, kind, w->data), kind & OFI_BYE) != PVMC_EAGAIN;
}

void pvmt_ofi_sent(struct ofi_transport *t, struct ofi_work *w, int error)
{
    struct ofi_link *l = w->link;
    pvmt_ofi_peer_put(t, w->peer);
    pvmt_ofi_slot_free(t, w);
    t->operations--;
    if (!l)
        return;
    l->sending--;
    t->attention |= l->refused;
    if (error && !l->ended) /* who has said goodbye takes nothing any more */
        pvmt_ofi_link_fail(l, PVMC_EDOWN, t->lib->strerror(error));
}

/* ---- frames ---- */

bool pvmt_ofi_can_send(const struct ofi_link *l)
{
    return l->state == OFI_UP && l->credits && l->loan_count < OFI_LOANS_MAX;
}

static int refuse(struct ofi_link *l)
{
    l->refused = true;
    pvmt_ofi_of(l)->watching |= l->state == OFI_UP;
    return PVMC_EAGAIN;
}

static void count_frame(struct ofi_link *l)
{
    l->tx_next++;
    l->credits--;
    l->awaiting = pvmt_ofi_of(l)->watching = true;
}

uint8_t *pvmt_ofi_gather(const struct pvmc_frame *f, uint8_t *to)
{
    for (unsigned i = 0; i < f->piece_count; i++) {
        memcpy(to, f->pieces[i].iov_base, f->pieces[i].iov_len);
        to += f->pieces[i].iov_len;
    }
    return to;
}

static int send_small(struct ofi_link *l, const struct pvmc_frame *f, struct ofi_work *w)
{
    uint8_t *at = put_prefix(l, OFI_FRAME, w->data);
    pvmc_frame_encode(&f->h, at);
    return transmit(l, w, pvmt_ofi_gather(f, at + PVMC_FRAME_HEADER_BYTES), false);
}

static int send_large(struct ofi_link *l, const struct pvmc_frame *f, struct ofi_work *w)
{
    struct ofi_loan *loan = pvmt_ofi_lend(l, f);
    if (!loan) {
        pvmt_ofi_slot_free(pvmt_ofi_of(l), w);
        pvmt_ofi_link_fail(l, PVMC_ELIMIT, "there is no memory to lend");
        return PVMC_EDOWN;
    }
    uint8_t *at = put_prefix(l, OFI_LARGE, w->data);
    pvmc_frame_encode(&f->h, at);
    at = put64(at + PVMC_FRAME_HEADER_BYTES, pvmt_ofi_location(pvmt_ofi_of(l), loan->data, loan->data));
    int rc = transmit(l, w, put64(at, fi_mr_key(loan->region)), false);
    if (rc)
        pvmt_ofi_loan_spare(l, loan);
    else
        pvmt_ofi_loan_begin(l, loan);
    return rc;
}

int pvmt_ofi_send(struct pvmt_endpoint *ep, struct pvmc_frame *f)
{
    struct ofi_link *l = (struct ofi_link *)ep;
    struct ofi_transport *t = pvmt_ofi_of(l);
    if (l->failed || l->ended || l->state == OFI_DOWN)
        return PVMC_EDOWN;
    if (!pvmt_ofi_can_send(l))
        return refuse(l);
    struct ofi_work *w = pvmt_ofi_slot_take(t);
    if (!w) { /* other links have them all */
        t->stuffed = true;
        return refuse(l);
    }
    int rc = f->h.length <= t->eager_bytes ? send_small(l, f, w) : send_large(l, f, w);
    if (rc == PVMC_EAGAIN)
        return refuse(l);
    if (!rc)
        count_frame(l);
    return rc;
}
