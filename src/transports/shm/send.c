/*
 * send.c - writes frames to the ring: small ones whole, large ones as references. Data in place, which only the sender
 * may hold, is copied piece by piece.
 *
 * A frame is in shared memory before send() returns, so it arrives even if this process dies the next moment. The
 * exceptions are data in place, whose sender waits for pending(), and a process that has no memory left to share.
 */
#include <string.h>
#include "core/memory/copy.h"
#include "core/error.h"
#include "core/message/message.h"
#include "link.h"

const struct pvmt_shm_link *pvmt_shm_link_recent;

__attribute__((noinline)) void *pvmt_shm_link_reserve_again(struct pvmt_shm_link *l, uint32_t cells)
{
    if (!pvmw_ring_refresh(&l->tx)) {
        pvmt_shm_link_fail(l, PVMC_EFORMAT, "it acknowledged records that were never sent");
        return NULL;
    }
    uint32_t rest = pvmw_ring_rest(&l->tx, cells);
    if (rest) {
        struct pvmw_long_cell *end = (void *)l->tx.next;
        uint32_t word = pvmw_ring_finish(&l->tx, PVMW_RECORD_SKIP, rest, (rest - 1) * PVMW_CELL_BYTES);
        __atomic_store_n(&end->word, word, __ATOMIC_RELEASE); /* the next record wakes the peer */
        pvmw_ring_refresh(&l->tx);
    }
    return pvmw_ring_reserve(&l->tx, cells);
}

void pvmt_shm_header_write(struct pvmw_long_cell *cell, const struct pvmc_frame_header *h)
{
    cell->seq = h->seq;
    cell->envelope = h->envelope;
    cell->length = h->length;
    cell->flags = h->flags;
    cell->body_length = h->body_length;
    cell->offset = h->offset;
}

/* Copies `length` bytes of the frame's payload from `offset` on. */
static void gather(const struct pvmc_frame *f, uint32_t offset, uint8_t *to, uint32_t length)
{
    for (unsigned i = 0; length; i++) {
        size_t in_piece = f->pieces[i].iov_len;
        if (offset >= in_piece) {
            offset -= (uint32_t)in_piece;
            continue;
        }
        size_t n = in_piece - offset < length ? in_piece - offset : length;
        pvmc_mem_fill(to, (const uint8_t *)f->pieces[i].iov_base + offset, n);
        to += n;
        length -= (uint32_t)n;
        offset = 0;
    }
}

static __attribute__((noinline)) int refuse(struct pvmt_shm_link *l)
{
    if (l->ended)
        return PVMC_EDOWN;
    l->refused = true;
    return PVMC_EAGAIN;
}

/* ---- small messages ---- */

static inline uint32_t cells_of_small(uint32_t length)
{
    return pvmw_cells_of(offsetof(struct pvmw_cell, data) + length);
}

/* Starts the record of a small message: all but its payload and its word. NULL: no room. */
static inline struct pvmw_cell *begin_small(struct pvmt_shm_link *l, const struct pvmc_envelope *e, uint32_t seq,
                                            uint32_t length)
{
    struct pvmw_cell *cell = pvmt_shm_link_reserve(l, cells_of_small(length));
    if (__builtin_expect(!cell, 0))
        return NULL;
    cell->seq = seq;
    cell->envelope = *e;
    return cell;
}

int pvmt_shm_link_send_whole(struct pvmt_shm_link *l, const struct pvmc_envelope *e, uint32_t seq, const uint8_t *data,
                             uint32_t length)
{
    if (__builtin_expect(l->ended || l->state != PVMT_LINK_UP || l->current || length > l->whole_max, 0))
        return PVMC_EUNSUPPORTED;
    struct pvmw_cell *cell = begin_small(l, e, seq, length);
    if (__builtin_expect(!cell, 0))
        return length > PVMT_SHM_LEND_FROM ? PVMC_EUNSUPPORTED : refuse(l);
    pvmc_copy(cell->data, data, length);
    pvmt_shm_publish(l, &cell->word, PVMW_RECORD_WHOLE, cells_of_small(length), length);
    return 0;
}

static bool is_small_message(const struct pvmt_shm_link *l, const struct pvmc_frame_header *h)
{
    return h->length <= l->whole_max && h->length == h->body_length && !h->flags;
}

/* ---- pieces ---- */

static uint32_t next_chunk(const struct pvmt_shm_link *l)
{
    uint32_t left = l->current->h.length - l->current_sent;
    return left < l->chunk_max ? left : l->chunk_max;
}

/* Sends the header, unless it was sent, and some bytes of the payload. */
static bool push_chunk(struct pvmt_shm_link *l)
{
    uint32_t bytes = next_chunk(l), cells = 1 + pvmw_cells_of(bytes);
    struct pvmw_long_cell *cell = pvmt_shm_link_reserve(l, cells);
    if (!cell)
        return false;
    if (!l->current_begun)
        pvmt_shm_header_write(cell, &l->current->h);
    gather(l->current, l->current_sent, (uint8_t *)(cell + 1), bytes);
    l->current_sent += bytes;
    if (l->current->h.length > l->ring_bytes / 4)
        pvmt_shm_link_recent = NULL; /* no sweep: the peer would wait for it, as the next chunk follows at once */
    pvmt_shm_publish(l, &cell->word, l->current_begun ? PVMW_RECORD_CHUNK : PVMW_RECORD_FRAME, cells, bytes);
    l->current_begun = true;
    return true;
}

void pvmt_shm_link_drop_current(struct pvmt_shm_link *l)
{
    struct pvmc_frame *f = l->current;
    l->current = NULL;
    l->current_sent = 0;
    l->current_begun = false;
    pvmc_frame_unref(f);
}

int pvmt_shm_link_push(struct pvmt_shm_link *l)
{
    int n = 0;
    while (l->current && push_chunk(l)) {
        n++;
        if (l->current_sent == l->current->h.length)
            pvmt_shm_link_drop_current(l);
    }
    return n;
}

bool pvmt_shm_link_can_push(struct pvmt_shm_link *l)
{
    return l->current && (pvmt_shm_link_reserve(l, 1 + pvmw_cells_of(next_chunk(l))) || l->failed);
}

bool pvmt_shm_link_has_room(struct pvmt_shm_link *l)
{
    uint64_t half = (l->tx.mask + 1) / 2;
    return !l->current &&
           (pvmw_ring_room(&l->tx) > half || (pvmw_ring_refresh(&l->tx) && pvmw_ring_room(&l->tx) > half)) &&
           pvmt_shm_lending_has_room(l);
}

/* ---- large frames ---- */

static int push_first(struct pvmt_shm_link *l, struct pvmc_frame *f)
{
    l->current = pvmc_frame_ref(f);
    l->current_sent = 0;
    l->current_begun = false;
    pvmt_shm_link_push(l);
    return 0;
}

/* Whether the ring has room for the whole frame now. */
static bool fits(struct pvmt_shm_link *l, const struct pvmc_frame *f)
{
    uint64_t chunks = f->h.length / l->chunk_max + 1, cells = pvmw_cells_of(f->h.length) + 2 * chunks;
    cells += 1 + pvmw_cells_of(l->chunk_max); /* may be lost at the end of the ring */
    return pvmw_ring_room(&l->tx) >= cells || (pvmw_ring_refresh(&l->tx) && pvmw_ring_room(&l->tx) >= cells);
}

/* The start of the payload if it is contiguous in the frame's memory, else NULL. */
static const uint8_t *in_one_piece(const struct pvmc_frame *f)
{
    const uint8_t *begin = f->pieces[0].iov_base, *end = begin;
    for (unsigned i = 0; i < f->piece_count; end += f->pieces[i++].iov_len)
        if (f->pieces[i].iov_base != end)
            return NULL;
    return begin >= f->mem->data && end <= f->mem->data + f->mem->capacity ? begin : NULL;
}

/* Lends a copy, made in an arena, of a payload that does not lie in one. */
static int lend_copy(struct pvmt_shm_link *l, const struct pvmc_frame *f)
{
    struct pvmc_mem_place place;
    if (!pvmt_shm_lending_has_room(l) || !pvmt_shm_link_reserve(l, 2))
        return PVMC_EAGAIN;
    struct pvmc_mem *mem = pvmc_mem_new(f->h.length);
    if (!mem)
        return PVMC_EUNSUPPORTED;
    struct pvmc_frame copy = {.h = f->h, .mem = mem};
    int rc = PVMC_EUNSUPPORTED;
    if (pvmc_mem_locate(mem, &place)) {
        gather(f, 0, mem->data, f->h.length);
        rc = pvmt_shm_lend(l, &copy, mem->data);
    }
    pvmc_mem_unref(mem);
    return rc;
}

static int send_large(struct pvmt_shm_link *l, struct pvmc_frame *f)
{
    if (!f->mem)
        return push_first(l, f);
    const uint8_t *at = in_one_piece(f);
    struct pvmc_mem_place place;
    int rc = at && pvmc_mem_locate(f->mem, &place) ? pvmt_shm_lend(l, f, at) : lend_copy(l, f);
    if (rc == PVMC_EAGAIN)
        return refuse(l);
    if (!rc)
        return 0;
    /* The peer holds the maximum of references, or no descriptor can be sent. */
    if (!fits(l, f) && l->lending.untaken_count)
        return refuse(l);
    return push_first(l, f);
}

static int send_small(struct pvmt_shm_link *l, struct pvmc_frame *f)
{
    struct pvmw_cell *cell = begin_small(l, &f->h.envelope, f->h.seq, f->h.length);
    if (!cell)
        return f->h.length > PVMT_SHM_LEND_FROM ? send_large(l, f) : refuse(l);
    gather(f, 0, cell->data, f->h.length);
    pvmt_shm_publish(l, &cell->word, PVMW_RECORD_WHOLE, cells_of_small(f->h.length), f->h.length);
    return 0;
}

int pvmt_shm_link_send(struct pvmt_shm_link *l, struct pvmc_frame *f)
{
    if (__builtin_expect(l->ended, 0))
        return PVMC_EDOWN;
    if (__builtin_expect(l->state != PVMT_LINK_UP, 0))
        return refuse(l);
    if (__builtin_expect(l->current != NULL, 0)) {
        pvmt_shm_link_push(l);
        if (l->current)
            return refuse(l);
    }
    if (__builtin_expect(is_small_message(l, &f->h), 1))
        return send_small(l, f);
    if (f->h.length > PVMT_SHM_FRAME_MAX || (f->h.flags & PVMC_FRAME_FD))
        return PVMC_EUNSUPPORTED;
    if (f->h.length > l->whole_max)
        return send_large(l, f);
    return fits(l, f) ? push_first(l, f) : refuse(l);
}
