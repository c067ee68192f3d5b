/* receive.c - incoming messages: those of the transport itself, and frames in order. */
#include <string.h>
#include <utlist.h>
#include "core/buf.h"
#include "core/error.h"
#include "rdma.h"

static void malformed(struct rdma_link *l, const char *what)
{
    pvmt_rdma_link_fail(l, PVMC_EFORMAT, what);
}

/* ---- frames ---- */

static bool is_whole(const struct pvmc_frame_header *h)
{
    return h->length == h->body_length && !h->flags;
}

static void hand_up(struct rdma_link *l, const struct pvmc_frame_header *h, const uint8_t *data)
{
    struct pvmt_transport *t = l->base.transport;
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

static void take_frame(struct rdma_link *l, struct pvmc_buf *b, struct rdma_slot *slot)
{
    struct pvmc_frame_header h;
    if (pvmt_rdma_header_decode(&l->rx, b, &h) || pvmc_buf_left(b) != h.length) {
        pvmt_rdma_slot_free(pvmt_rdma_of(l), NULL, slot);
        malformed(l, "a frame is malformed");
        return;
    }
    hand_up(l, &h, pvmc_buf_get_bytes(b, h.length));
    pvmt_rdma_slot_free(pvmt_rdma_of(l), l, slot);
}

/* Reads the location of a large frame. The lengths of its pieces must add up to its own. */
static unsigned read_pieces(struct pvmc_buf *b, uint32_t length, struct rdma_piece pieces[PVMC_FRAME_PIECES_MAX])
{
    unsigned count = pvmc_buf_get_u8(b);
    uint64_t sum = 0;
    for (unsigned i = 0; i < count && i < PVMC_FRAME_PIECES_MAX; i++) {
        pieces[i].address = pvmc_buf_get_u64(b);
        pieces[i].key = pvmc_buf_get_u32(b);
        pieces[i].bytes = pvmc_buf_get_u32(b);
        sum += pieces[i].bytes;
        if (!pieces[i].bytes)
            return 0;
    }
    return pvmc_buf_end(b) || sum != length ? 0 : count;
}

static void take_large(struct rdma_link *l, struct pvmc_buf *b, struct rdma_slot *slot)
{
    struct pvmc_frame_header h;
    struct rdma_piece pieces[PVMC_FRAME_PIECES_MAX];
    int rc = pvmt_rdma_header_decode(&l->rx, b, &h);
    unsigned count = rc ? 0 : read_pieces(b, h.length, pieces);
    if (count && count <= PVMC_FRAME_PIECES_MAX) {
        pvmt_rdma_read_begin(l, &h, pieces, count, slot);
        return;
    }
    pvmt_rdma_slot_free(pvmt_rdma_of(l), NULL, slot);
    malformed(l, "a large frame is malformed");
}

static void deliver(struct rdma_link *l, struct rdma_slot *slot)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, slot->data + RDMA_PREFIX_BYTES, slot->length - RDMA_PREFIX_BYTES);
    if (l->parted || l->deaf)
        pvmt_rdma_slot_free(pvmt_rdma_of(l), NULL, slot);
    else if ((slot->data[0] & ~RDMA_STARVED) == RDMA_FRAME)
        take_frame(l, &b, slot);
    else
        take_large(l, &b, slot);
}

void pvmt_rdma_deliver_backlog(struct rdma_link *l)
{
    while (l->backlog && !l->read.active) {
        struct rdma_slot *slot = l->backlog;
        l->backlog = slot->next;
        deliver(l, slot);
    }
}

void pvmt_rdma_drop_backlog(struct rdma_link *l)
{
    while (l->backlog) {
        struct rdma_slot *slot = l->backlog;
        l->backlog = slot->next;
        pvmt_rdma_slot_free(pvmt_rdma_of(l), NULL, slot);
    }
}

/* Frames wait behind a large one that is being read, to keep their order. */
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

/* ---- messages of the transport itself ---- */

/* The token proves that this is the side that made the offer. */
static void take_hello(struct rdma_link *l, const struct rdma_slot *slot)
{
    if (l->state != RDMA_JOINING || slot->length != RDMA_PREFIX_BYTES + PVMT_RDMA_TOKEN_BYTES ||
        memcmp(slot->data + RDMA_PREFIX_BYTES, l->token, PVMT_RDMA_TOKEN_BYTES)) {
        malformed(l, "a greeting comes from another sender than the offer");
        return;
    }
    l->state = RDMA_UP;
    pvmt_rdma_of(l)->attention = true; /* sends what was refused or accepted meanwhile */
}

/* Gives a waiting peer more room, as long as there is some left for all. */
static void widen(struct rdma_link *l)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    unsigned more = l->window;
    if (l->window + more > RDMA_WINDOW_MAX || t->extra + more > RDMA_EXTRA_MAX || l->parted)
        return;
    if (pvmt_rdma_slots_promise(l, more))
        return;
    t->extra += more;
    l->owed += more;
}

/* Processes returned credits and the like; false: the peer returns more than it can have. */
static bool take_prefix(struct rdma_link *l, const struct rdma_slot *slot)
{
    l->credits += slot->data[1];
    if (l->credits > RDMA_WINDOW_MAX || !pvmt_rdma_loans_end(l, slot->data[2])) {
        malformed(l, "it returned more credits than it had");
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
    pvmt_rdma_slot_free(pvmt_rdma_of(l), l, slot);
}

void pvmt_rdma_receive(struct rdma_link *l, struct rdma_slot *slot)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    l->ticks = 0;
    if (l->deaf || l->ended || slot->length < RDMA_PREFIX_BYTES || !take_prefix(l, slot)) {
        if (!l->deaf && !l->ended)
            malformed(l, "a message is too short");
        pvmt_rdma_slot_free(t, NULL, slot);
        return;
    }
    unsigned kind = slot->data[0] & ~RDMA_STARVED;
    bool frame = kind == RDMA_FRAME || kind == RDMA_LARGE;
    if (frame && l->state == RDMA_UP)
        take_in_turn(l, slot);
    else
        take_own(l, frame ? 0 : kind, slot);
    if (l->refused || l->ended || l->read_frames || pvmt_rdma_owes_many(l) || l->parted)
        t->attention = true;
    t->credits_due |= pvmt_rdma_owes_some(l);
}
