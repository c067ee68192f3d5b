/* receive.c - incoming messages: who sent them, what their prefix says, and frames in order. */
#include <stdlib.h>
#include <string.h>
#include "core/buf.h"
#include "core/error.h"
#include "core/log.h"
#include "ofi_transport.h"

static void malformed(struct ofi_link *l, const char *what)
{
    pvmt_ofi_link_fail(l, PVMC_EFORMAT, what);
}

/* ---- frames ---- */

static void hand_up(struct ofi_link *l, const struct pvmc_frame_header *h, const uint8_t *data)
{
    struct pvmt_transport *t = l->base.transport;
    if (t->callbacks->rx_whole && h->length == h->body_length && !h->flags) {
        t->callbacks->rx_whole(t->arg, &l->base, h, NULL, data);
        return;
    }
    uint8_t *place = t->callbacks->rx_place(t->arg, &l->base, h);
    if (!place || l->parted)
        return;
    if (h->length)
        memcpy(place, data, h->length);
    t->callbacks->rx_done(t->arg, &l->base, h);
}

/* Delivers a message, from its kind on. */
static void deliver(struct ofi_link *l, const uint8_t *message, size_t length)
{
    struct pvmc_frame_header h;
    struct ofi_place place = {0, 0};
    struct pvmc_buf b;
    bool large = (message[20] & ~OFI_ANSWER) == OFI_LARGE;
    pvmc_buf_view(&b, message + OFI_PREFIX_BYTES, length - OFI_PREFIX_BYTES);
    const uint8_t *header = pvmc_buf_get_bytes(&b, PVMC_FRAME_HEADER_BYTES);
    l->rx_next++;
    l->owed++;
    if (large) {
        place.at = pvmc_buf_get_u64(&b);
        place.key = pvmc_buf_get_u64(&b);
    }
    if (!header || pvmc_frame_decode(header, &h) || pvmc_buf_left(&b) != (large ? 0 : h.length) || pvmc_buf_error(&b))
        malformed(l, "a frame is malformed");
    else if (large)
        pvmt_ofi_read_begin(l, &h, place);
    else
        hand_up(l, &h, pvmc_buf_get_bytes(&b, h.length));
}

/* ---- order ---- */

static bool may_deliver(const struct ofi_link *l)
{
    return l->state == OFI_UP && !l->parted && !l->failed && !l->read;
}

void pvmt_ofi_deliver_early(struct ofi_link *l)
{
    while (l->early_count && may_deliver(l)) {
        struct ofi_early *e = &l->early[l->rx_next % OFI_WINDOW], taken = *e;
        if (!e->data)
            return;
        e->data = NULL;
        l->early_count--;
        deliver(l, taken.data, taken.length);
        free(taken.data);
    }
}

void pvmt_ofi_drop_early(struct ofi_link *l)
{
    for (unsigned i = 0; i < OFI_WINDOW; i++) {
        free(l->early[i].data);
        l->early[i].data = NULL;
    }
    l->early_count = 0;
}

static void keep_early(struct ofi_link *l, uint32_t number, const uint8_t *message, size_t length)
{
    struct ofi_early *e = &l->early[number % OFI_WINDOW];
    if (e->data) {
        malformed(l, "a frame came twice");
        return;
    }
    e->data = malloc(length);
    e->length = length;
    if (!e->data) {
        pvmt_ofi_link_fail(l, PVMC_ENOMEM, "no memory for a frame that must wait");
        return;
    }
    memcpy(e->data, message, length);
    l->early_count++;
}

static void take_frame(struct ofi_link *l, uint32_t number, const uint8_t *message, size_t length)
{
    if (number - l->rx_next >= (l->ended ? l->end - l->rx_next : OFI_WINDOW)) {
        malformed(l, "a frame is out of turn");
        return;
    }
    if (number != l->rx_next || l->read) {
        keep_early(l, number, message, length);
        return;
    }
    deliver(l, message, length);
    pvmt_ofi_deliver_early(l);
}

/* ---- messages ---- */

/* The link that this message is for, if its sender knows both numbers of the link. */
static struct ofi_link *find(struct ofi_transport *t, uint64_t to, uint64_t from)
{
    struct ofi_link *l;
    HASH_FIND(hh, t->by_key, &to, sizeof to, l);
    return l && l->state != OFI_OFFERED && l->peer_key == from ? l : NULL;
}

static void note_sign_of_life(struct ofi_link *l)
{
    l->silent_ticks = 0;
    l->awaiting = false;
    if (l->state == OFI_UP)
        return;
    l->ready_due = l->state == OFI_GREETING;
    l->state = OFI_UP;
    pvmt_ofi_of(l)->attention = true;
}

static void take(struct ofi_link *l, unsigned kind, uint32_t number, const uint8_t *message, size_t length)
{
    struct ofi_transport *t = pvmt_ofi_of(l);
    bool answer = kind & OFI_ANSWER, revoked = kind & OFI_REVOKED;
    kind &= ~(unsigned)(OFI_ANSWER | OFI_REVOKED);
    if (kind == OFI_FRAME || kind == OFI_LARGE) {
        take_frame(l, number, message, length);
    } else if (kind == OFI_BYE && number - l->rx_next > OFI_WINDOW) {
        malformed(l, "it says goodbye after a frame that it may not have sent");
    } else if (kind == OFI_BYE && !l->ended) {
        l->ended = t->watching = true;
        l->end = number;
        l->revoked = revoked;
    } else if (kind != OFI_NEWS) {
        malformed(l, "a message is of unknown kind");
    }
    l->news_due |= answer;
    if (answer || l->refused || l->ended || l->owed * 2 >= OFI_WINDOW || l->read_frames)
        t->attention = true;
}

void pvmt_ofi_receive(struct ofi_transport *t, const uint8_t *data, size_t length)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, data, length);
    uint64_t to = pvmc_buf_get_u64(&b), from = pvmc_buf_get_u64(&b);
    uint32_t number = pvmc_buf_get_u32(&b);
    unsigned kind = pvmc_buf_get_u8(&b), credits = pvmc_buf_get_u8(&b), read = pvmc_buf_get_u8(&b);
    pvmc_buf_get_u8(&b);
    struct ofi_link *l = pvmc_buf_error(&b) ? NULL : find(t, to, from);
    if (!l) {
        pvmc_log(PVMC_LOG_DEBUG, "ofi: dropped a message of %zu bytes that belongs to no link", length);
        return;
    }
    if (l->failed)
        return;
    note_sign_of_life(l);
    l->credits += credits;
    if (l->credits > OFI_WINDOW || !pvmt_ofi_loans_end(l, read))
        malformed(l, "it returned more than it had");
    else
        take(l, kind, number, data, length);
}
