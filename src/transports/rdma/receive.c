/* receive.c - messages that came in: what the transport says to itself, and frames in their order. */
#include <string.h>
#include <utlist.h>
#include "../../core/buf.h"
#include "../../core/error.h"
#include "rdma.h"

static void malformed(struct rdma_link *l, const char *what)
{
    pvmi_rdma_link_fail(l, PVMI_EFORMAT, what);
}

/* ---- frames ---- */

static bool is_whole(const struct pvmi_frame_header *h)
{
    return h->length == h->body_length && !h->flags;
}

static void hand_up(struct rdma_link *l, const struct pvmi_frame_header *h, const uint8_t *data)
{
    struct pvmi_transport *t = l->base.transport;
    if (t->callbacks->rx_whole && is_whole(h)) {
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

static void take_frame(struct rdma_link *l, struct pvmi_buf *b, struct rdma_slot *slot)
{
    struct pvmi_frame_header h;
    if (pvmi_rdma_header_decode(&l->rx, b, &h) || pvmi_buf_left(b) != h.length) {
        pvmi_rdma_slot_free(pvmi_rdma_of(l), NULL, slot);
        malformed(l, "a frame is malformed");
        return;
    }
    hand_up(l, &h, pvmi_buf_get_bytes(b, h.length));
    pvmi_rdma_slot_free(pvmi_rdma_of(l), l, slot);
}

/* Where a large frame lies: its pieces make up its length. */
static unsigned read_pieces(struct pvmi_buf *b, uint32_t length, struct rdma_piece pieces[PVMI_FRAME_PIECES_MAX])
{
    unsigned count = pvmi_buf_get_u8(b);
    uint64_t sum = 0;
    for (unsigned i = 0; i < count && i < PVMI_FRAME_PIECES_MAX; i++) {
        pieces[i].address = pvmi_buf_get_u64(b);
        pieces[i].key = pvmi_buf_get_u32(b);
        pieces[i].bytes = pvmi_buf_get_u32(b);
        sum += pieces[i].bytes;
        if (!pieces[i].bytes)
            return 0;
    }
    return pvmi_buf_end(b) || sum != length ? 0 : count;
}

static void take_large(struct rdma_link *l, struct pvmi_buf *b, struct rdma_slot *slot)
{
    struct pvmi_frame_header h;
    struct rdma_piece pieces[PVMI_FRAME_PIECES_MAX];
    int rc = pvmi_rdma_header_decode(&l->rx, b, &h);
    unsigned count = rc ? 0 : read_pieces(b, h.length, pieces);
    if (count && count <= PVMI_FRAME_PIECES_MAX) {
        pvmi_rdma_read_begin(l, &h, pieces, count, slot);
        return;
    }
    pvmi_rdma_slot_free(pvmi_rdma_of(l), NULL, slot);
    malformed(l, "a large frame is malformed");
}

static void deliver(struct rdma_link *l, struct rdma_slot *slot)
{
    struct pvmi_buf b;
    pvmi_buf_view(&b, slot->data + RDMA_PREFIX_BYTES, slot->length - RDMA_PREFIX_BYTES);
    if (l->parted || l->deaf)
        pvmi_rdma_slot_free(pvmi_rdma_of(l), NULL, slot);
    else if ((slot->data[0] & ~RDMA_STARVED) == RDMA_FRAME)
        take_frame(l, &b, slot);
    else
        take_large(l, &b, slot);
}

void pvmi_rdma_deliver_backlog(struct rdma_link *l)
{
    while (l->backlog && !l->read.active) {
        struct rdma_slot *slot = l->backlog;
        l->backlog = slot->next;
        deliver(l, slot);
    }
}

void pvmi_rdma_drop_backlog(struct rdma_link *l)
{
    while (l->backlog) {
        struct rdma_slot *slot = l->backlog;
        l->backlog = slot->next;
        pvmi_rdma_slot_free(pvmi_rdma_of(l), NULL, slot);
    }
}

/* Frames keep their order behind a large one that is being read. */
static void take_in_turn(struct rdma_link *l, struct rdma_slot *slot)
{
    if (!l->backlog && !l->read.active) {
        deliver(l, slot);
        return;
    }
    slot->next = NULL;
    if (l->backlog)
        l->last_backlog->next = slot;
    else
        l->backlog = slot;
    l->last_backlog = slot;
}

/* ---- the transport's own ---- */

/* The offering side shows that it is the one that made the offer. */
static void take_hello(struct rdma_link *l, const struct rdma_slot *slot)
{
    if (l->state != RDMA_JOINING || slot->length != RDMA_PREFIX_BYTES + PVMI_RDMA_TOKEN_BYTES ||
        memcmp(slot->data + RDMA_PREFIX_BYTES, l->token, PVMI_RDMA_TOKEN_BYTES)) {
        malformed(l, "a greeting is not from who made the offer");
        return;
    }
    l->state = RDMA_UP;
    pvmi_rdma_of(l)->attention = true; /* what was refused or taken meanwhile goes out now */
}

/* A peer that has to wait gets more room, as long as there is some for all. */
static void widen(struct rdma_link *l)
{
    struct rdma_transport *t = pvmi_rdma_of(l);
    unsigned more = l->window;
    if (l->window + more > RDMA_WINDOW_MAX || t->extra + more > RDMA_EXTRA_MAX || l->parted)
        return;
    if (pvmi_rdma_slots_promise(l, more))
        return;
    t->extra += more;
    l->owed += more;
}

/* Credits and the like; false: the peer gives what there is not. */
static bool take_prefix(struct rdma_link *l, const struct rdma_slot *slot)
{
    l->credits += slot->data[1];
    if (l->credits > RDMA_WINDOW_MAX || !pvmi_rdma_loans_end(l, slot->data[2])) {
        malformed(l, "it gives back more than it got");
        return false;
    }
    if (slot->data[0] & RDMA_STARVED)
        widen(l);
    return true;
}

static void take_own(struct rdma_link *l, unsigned kind, struct rdma_slot *slot)
{
    if (kind == RDMA_HELLO)
        take_hello(l, slot);
    else if (kind == RDMA_BYE)
        l->ended = true;
    else if (kind != RDMA_NEWS)
        malformed(l, "a message is of unknown kind");
    pvmi_rdma_slot_free(pvmi_rdma_of(l), l, slot);
}

void pvmi_rdma_receive(struct rdma_link *l, struct rdma_slot *slot)
{
    struct rdma_transport *t = pvmi_rdma_of(l);
    l->ticks = 0;
    if (l->deaf || l->ended || slot->length < RDMA_PREFIX_BYTES || !take_prefix(l, slot)) {
        if (!l->deaf && !l->ended)
            malformed(l, "a message is too short");
        pvmi_rdma_slot_free(t, NULL, slot);
        return;
    }
    unsigned kind = slot->data[0] & ~RDMA_STARVED;
    bool frame = kind == RDMA_FRAME || kind == RDMA_LARGE;
    if (frame && l->state == RDMA_UP)
        take_in_turn(l, slot);
    else
        take_own(l, frame ? 0 : kind, slot);
    if (l->refused || l->ended || l->read_frames || pvmi_rdma_owes_many(l) || l->parted)
        t->attention = true;
    t->credits_due |= pvmi_rdma_owes_some(l);
}
