/*
 * receive.c - reads records from the ring. The peer may write there at any time, so data that decisions depend on is
 * copied first and then checked.
 */
#include <string.h>
#include "core/memory/copy.h"
#include "core/error.h"
#include "core/message/message.h"
#include "link.h"

#define RECORDS_PER_LOOK 64 /* per link and call, so that other links get their turn */

static __attribute__((cold, noinline)) bool malformed(struct pvmt_shm_link *l, const char *what)
{
    pvmt_shm_link_fail(l, PVMC_EFORMAT, what);
    return false;
}

static __attribute__((noinline)) void place_whole(struct pvmt_shm_link *l, const struct pvmc_frame_header *h,
                                                  const uint8_t *data)
{
    struct pvmt_transport *t = l->base.transport;
    uint8_t *place = t->callbacks->rx_place(t->arg, &l->base, h);
    if (!place || l->parted)
        return;
    pvmc_copy(place, data, h->length);
    t->callbacks->rx_done(t->arg, &l->base, h);
}

static inline bool peek(const struct pvmt_shm_link *l, struct pvmt_whole *w, uint32_t *word)
{
    const struct pvmw_cell *cell = pvmw_ring_peek(&l->rx, word);
    uint32_t length = pvmw_word_length(*word);
    if (!cell || pvmw_word_kind(*word) != PVMW_RECORD_WHOLE || length - 1 >= l->whole_max || l->rx_left)
        return false;
    w->envelope = cell->envelope;
    w->seq = cell->seq;
    w->length = length;
    w->data = cell->data;
    return true;
}

/* The same if cells at the end of the ring are to be passed first. What is malformed is left to receive(). */
static __attribute__((noinline)) bool peek_behind_end(struct pvmt_shm_link *l, struct pvmt_whole *w)
{
    uint32_t word;
    bool found = pvmw_ring_peek(&l->rx, &word); /* again: the first look may have seen the last lap's word */
    if (!found || pvmw_word_kind(word) != PVMW_RECORD_SKIP || !pvmw_ring_can_hold(&l->rx, pvmw_word_length(word)))
        return false;
    pvmw_ring_advance(&l->rx, 1 + pvmw_cells_of(pvmw_word_length(word)));
    pvmt_shm_tell_taken(l);
    return peek(l, w, &word);
}

bool pvmt_shm_link_peek_whole(struct pvmt_shm_link *l, struct pvmt_whole *w)
{
    uint32_t word;
    return peek(l, w, &word) || (pvmw_word_kind(word) == PVMW_RECORD_SKIP && peek_behind_end(l, w));
}

void pvmt_shm_link_advance_whole(struct pvmt_shm_link *l, uint32_t length)
{
    pvmw_ring_advance(&l->rx, pvmw_cells_of(offsetof(struct pvmw_cell, data) + length));
    if (pvmw_ring_lags(&l->rx))
        pvmt_shm_tell_taken(l);
}

/* The fast path: small whole messages are by far the most frequent records. */
static inline void take_whole(struct pvmt_shm_link *l, const struct pvmw_cell *cell, uint32_t length)
{
    struct pvmt_transport *t = l->base.transport;
    struct pvmc_frame_header h = {
        .length = length, .envelope = cell->envelope, .seq = cell->seq, .body_length = length};
    if (__builtin_expect(length && t->callbacks->rx_whole, 1))
        t->callbacks->rx_whole(t->arg, &l->base, &h, NULL, cell->data);
    else
        place_whole(l, &h, cell->data);
}

static bool read_header(struct pvmt_shm_link *l, const struct pvmw_long_cell *cell, struct pvmc_frame_header *h)
{
    struct pvmw_long_cell c;
    memcpy(&c, cell, sizeof c);
    *h = (struct pvmc_frame_header){
        .flags = (uint8_t)c.flags,
        .length = c.length,
        .envelope = c.envelope,
        .seq = c.seq,
        .body_length = c.body_length,
        .offset = c.offset,
    };
    bool is_rare = c.flags & (PVMC_FRAME_ABORT | PVMC_FRAME_STREAM);
    if (l->rx_left)
        return malformed(l, "a frame begins within another one");
    if (c.flags & ~(uint32_t)(PVMC_FRAME_ABORT | PVMC_FRAME_AGAIN | PVMC_FRAME_STREAM))
        return malformed(l, "a frame has unknown flags");
    if (c.length > PVMT_SHM_FRAME_MAX || c.offset > c.body_length || c.length > c.body_length - c.offset)
        return malformed(l, "a frame's length or offset is wrong");
    if (is_rare ? pvmc_frame_check(h) : !c.length && c.body_length)
        return malformed(l, "a frame is empty, or should be");
    return true;
}

/* Bytes of the incoming frame. */
static bool take_bytes(struct pvmt_shm_link *l, const void *bytes, uint32_t length)
{
    struct pvmt_transport *t = l->base.transport;
    if (length > l->rx_left)
        return malformed(l, "a frame is longer than its header says");
    if (l->rx_to) {
        pvmc_mem_copy(l->rx_to, bytes, length);
        l->rx_to += length;
    }
    l->rx_left -= length;
    if (l->rx_left || !l->rx_to)
        return true;
    l->rx_to = NULL;
    t->callbacks->rx_done(t->arg, &l->base, &l->rx_header);
    return true;
}

static void begin_frame(struct pvmt_shm_link *l)
{
    struct pvmt_transport *t = l->base.transport;
    l->rx_left = l->rx_header.length;
    l->rx_to = t->callbacks->rx_place(t->arg, &l->base, &l->rx_header);
}

static bool take_frame(struct pvmt_shm_link *l, const struct pvmw_long_cell *cell, uint32_t length)
{
    if (!read_header(l, cell, &l->rx_header))
        return false;
    begin_frame(l);
    return l->parted || take_bytes(l, cell + 1, length);
}

static bool take_chunk(struct pvmt_shm_link *l, const struct pvmw_long_cell *cell, uint32_t length)
{
    if (!l->rx_left || !length)
        return malformed(l, "bytes belong to no frame");
    return take_bytes(l, cell + 1, length);
}

static bool take_reference(struct pvmt_shm_link *l, const struct pvmw_long_cell *cell, uint32_t length)
{
    struct pvmc_frame_header h;
    struct pvmt_reference r;
    if (!read_header(l, cell, &h))
        return false;
    if (length != sizeof r || !h.length)
        return malformed(l, "a reference is malformed");
    memcpy(&r, cell + 1, sizeof r);
    return pvmt_shm_borrow(l, &h, &r);
}

static __attribute__((noinline)) bool take_long(struct pvmt_shm_link *l, enum pvmw_record kind,
                                                const struct pvmw_long_cell *cell, uint32_t length)
{
    switch (kind) {
    case PVMW_RECORD_FRAME:
        return take_frame(l, cell, length);
    case PVMW_RECORD_CHUNK:
        return take_chunk(l, cell, length);
    case PVMW_RECORD_REFERENCE:
        return take_reference(l, cell, length);
    case PVMW_RECORD_SKIP:
        return true;
    default:
        return malformed(l, "a record is of unknown kind");
    }
}

static bool take_record(struct pvmt_shm_link *l, const void *cell, uint32_t word)
{
    uint32_t length = pvmw_word_length(word);
    if (!pvmw_ring_can_hold(&l->rx, length))
        return malformed(l, "a record is longer than its ring");
    if (pvmw_word_kind(word) == PVMW_RECORD_WHOLE) {
        if (l->rx_left)
            return malformed(l, "a message begins within a frame");
        take_whole(l, cell, length);
        pvmt_shm_link_advance_whole(l, length);
        return true;
    }
    bool ok = take_long(l, pvmw_word_kind(word), cell, length);
    pvmw_ring_advance(&l->rx, 1 + pvmw_cells_of(length));
    pvmt_shm_tell_taken(l); /* at once: the sender may be waiting for room */
    return ok;
}

int pvmt_shm_link_receive(struct pvmt_shm_link *l)
{
    int n = 0;
    uint32_t word;
    const void *cell;
    while ((cell = pvmw_ring_peek(&l->rx, &word)) && !l->parted && !l->failed) {
        bool ok = take_record(l, cell, word);
        if (++n == RECORDS_PER_LOOK || !ok)
            break;
    }
    return n;
}
