/*
 * receive.c - records come out of the ring. The peer may write there at any time, so whatever a decision hangs on is
 * copied first and then checked.
 */
#include <string.h>
#include "../../core/error.h"
#include "link.h"

#define RECORDS_PER_LOOK 64 /* then it is the next link's turn */

static bool malformed(struct pvmi_shm_link *l, const char *what)
{
    pvmi_shm_link_fail(l, PVMI_EFORMAT, what);
    return false;
}

/* Small whole messages: by far the most. */
static inline void take_whole(struct pvmi_shm_link *l, const struct pvmi_cell *cell, uint32_t length)
{
    struct pvmi_transport *t = l->base.transport;
    struct pvmi_frame_header h = {
        .length = length,
        .dst = cell->dst,
        .src = cell->src,
        .seq = cell->seq,
        .tag = cell->tag,
        .ctx = cell->ctx,
        .wid = cell->wid,
        .enc = cell->enc,
        .dsig = cell->dsig,
        .body_length = length,
        .crc = cell->crc,
    };
    if (length && t->callbacks->rx_whole) {
        t->callbacks->rx_whole(t->arg, &l->base, &h, NULL, cell->data);
        return;
    }
    uint8_t *place = t->callbacks->rx_place(t->arg, &l->base, &h);
    if (!place || l->parted)
        return;
    memcpy(place, cell->data, length);
    t->callbacks->rx_done(t->arg, &l->base, &h);
}

static bool read_header(struct pvmi_shm_link *l, const struct pvmi_long_cell *cell, struct pvmi_frame_header *h)
{
    struct pvmi_long_cell c;
    memcpy(&c, cell, sizeof c);
    *h = (struct pvmi_frame_header){
        .flags = (uint8_t)c.flags,
        .length = c.length,
        .dst = c.dst,
        .src = c.src,
        .seq = c.seq,
        .tag = c.tag,
        .ctx = c.ctx,
        .wid = c.wid,
        .enc = c.enc,
        .dsig = c.dsig,
        .body_length = c.body_length,
        .offset = c.offset,
        .crc = c.crc,
    };
    bool abort = c.flags & PVMI_FRAME_ABORT;
    if (l->rx_left)
        return malformed(l, "a frame begins within another one");
    if (c.flags & ~(uint32_t)(PVMI_FRAME_ABORT | PVMI_FRAME_AGAIN))
        return malformed(l, "a frame has unknown flags");
    if (c.length > PVMI_SHM_FRAME_MAX || c.offset > c.body_length || c.length > c.body_length - c.offset)
        return malformed(l, "a frame's length or offset is wrong");
    if (abort ? c.length : !c.length && c.body_length)
        return malformed(l, "a frame is empty, or should be");
    return true;
}

/* Bytes of the frame that is on its way in. */
static bool take_bytes(struct pvmi_shm_link *l, const void *bytes, uint32_t length)
{
    struct pvmi_transport *t = l->base.transport;
    if (length > l->rx_left)
        return malformed(l, "a frame is longer than it said");
    if (l->rx_to) {
        pvmi_mem_copy(l->rx_to, bytes, length);
        l->rx_to += length;
    }
    l->rx_left -= length;
    if (l->rx_left || !l->rx_to)
        return true;
    l->rx_to = NULL;
    t->callbacks->rx_done(t->arg, &l->base, &l->rx_header);
    return true;
}

static void begin_frame(struct pvmi_shm_link *l)
{
    struct pvmi_transport *t = l->base.transport;
    l->rx_left = l->rx_header.length;
    l->rx_to = t->callbacks->rx_place(t->arg, &l->base, &l->rx_header);
}

static bool take_frame(struct pvmi_shm_link *l, const struct pvmi_long_cell *cell, uint32_t length)
{
    if (!read_header(l, cell, &l->rx_header))
        return false;
    begin_frame(l);
    return l->parted || take_bytes(l, cell + 1, length);
}

static bool take_chunk(struct pvmi_shm_link *l, const struct pvmi_long_cell *cell, uint32_t length)
{
    if (!l->rx_left || !length)
        return malformed(l, "bytes belong to no frame");
    return take_bytes(l, cell + 1, length);
}

static bool take_reference(struct pvmi_shm_link *l, const struct pvmi_long_cell *cell, uint32_t length)
{
    struct pvmi_frame_header h;
    struct pvmi_reference r;
    if (!read_header(l, cell, &h))
        return false;
    if (length != sizeof r || !h.length)
        return malformed(l, "a reference is malformed");
    memcpy(&r, cell + 1, sizeof r);
    return pvmi_shm_borrow(l, &h, &r);
}

static void answer_pull(struct pvmi_shm_link *l, bool done)
{
    pvmi_shm_tell(l, &l->mine->pulled, l->pulls_seen << 1 | !done, PVMI_WAKE_ROOM);
}

static bool take_pull(struct pvmi_shm_link *l, const struct pvmi_long_cell *cell, uint32_t length)
{
    struct pvmi_transport *t = l->base.transport;
    struct iovec pieces[PVMI_FRAME_PIECES_MAX];
    unsigned count = length / sizeof *pieces;
    if (!read_header(l, cell, &l->rx_header))
        return false;
    if (!count || count > PVMI_FRAME_PIECES_MAX || length % sizeof *pieces)
        return malformed(l, "addresses are malformed");
    memcpy(pieces, cell + 1, length);
    size_t sum = 0;
    for (unsigned i = 0; i < count && sum <= PVMI_SHM_FRAME_MAX; i++)
        sum += pieces[i].iov_len <= PVMI_SHM_FRAME_MAX ? pieces[i].iov_len : PVMI_SHM_FRAME_MAX + 1ul;
    if (!sum || sum != l->rx_header.length)
        return malformed(l, "addresses are malformed");
    begin_frame(l);
    l->pulls_seen++;
    if (l->parted)
        return true;
    bool done = !l->rx_to || pvmi_shm_pull(l->peer, l->rx_to, sum, pieces, count);
    if (__atomic_load_n(&l->theirs->withdrawn, __ATOMIC_SEQ_CST))
        return true; /* what was read is nothing; the end of the link follows */
    answer_pull(l, done);
    if (!done)
        return true; /* it will come in chunks */
    l->rx_left = 0;
    if (l->rx_to)
        t->callbacks->rx_done(t->arg, &l->base, &l->rx_header);
    l->rx_to = NULL;
    return true;
}

static bool take_long(struct pvmi_shm_link *l, enum pvmi_record kind, const struct pvmi_long_cell *cell,
                      uint32_t length)
{
    switch (kind) {
    case PVMI_RECORD_FRAME:
        return take_frame(l, cell, length);
    case PVMI_RECORD_CHUNK:
        return take_chunk(l, cell, length);
    case PVMI_RECORD_REFERENCE:
        return take_reference(l, cell, length);
    case PVMI_RECORD_PULL:
        return take_pull(l, cell, length);
    default:
        return malformed(l, "a record is of unknown kind");
    }
}

static bool take_record(struct pvmi_shm_link *l, const void *cell, uint32_t word)
{
    uint32_t length = pvmi_word_length(word);
    if (!pvmi_ring_can_hold(&l->rx, length))
        return malformed(l, "a record is longer than its ring");
    if (pvmi_word_kind(word) == PVMI_RECORD_WHOLE) {
        if (l->rx_left)
            return malformed(l, "a message begins within a frame");
        take_whole(l, cell, length);
        pvmi_ring_advance(&l->rx, pvmi_cells_of(offsetof(struct pvmi_cell, data) + length));
        if (pvmi_ring_lags(&l->rx))
            pvmi_shm_tell_taken(l);
        return true;
    }
    bool ok = take_long(l, pvmi_word_kind(word), cell, length);
    pvmi_ring_advance(&l->rx, 1 + pvmi_cells_of(length));
    pvmi_shm_tell_taken(l); /* at once: the sender may wait with the next bytes */
    return ok;
}

int pvmi_shm_link_receive(struct pvmi_shm_link *l)
{
    int n = 0;
    while (n < RECORDS_PER_LOOK && !l->parted && !l->failed) {
        uint32_t word;
        const void *cell = pvmi_ring_peek(&l->rx, &word);
        if (!cell)
            break;
        n++;
        if (!take_record(l, cell, word))
            break;
    }
    return n;
}
