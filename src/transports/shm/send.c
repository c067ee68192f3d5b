/*
 * send.c - frames go into the ring: small ones whole, large ones as references, and data in place, which nobody else
 * may keep, piece by piece or by letting the peer read it.
 *
 * What was taken is in shared memory before send() returns, so it arrives even if this process dies the next moment.
 * The exceptions are data in place, whose sender waits for pending(), and a process that has no memory left to share.
 */
#include <string.h>
#include "../../core/error.h"
#include "../../core/message.h"
#include "link.h"

/*
 * From this size on the peer reads data in place itself, if PVM_SHM_CMA lets it. Where it was measured (AMD Zen 3, a
 * core for each) that takes twice as long as the pipeline through the ring, from 64 KiB to 16 MiB: so it must be
 * wanted.
 */
#define PULL_BYTES (32u << 10)

void *pvmi_shm_link_reserve(struct pvmi_shm_link *l, uint32_t cells)
{
    void *cell = pvmi_ring_reserve(&l->tx, cells);
    if (cell)
        return cell;
    if (!pvmi_ring_refresh(&l->tx)) {
        pvmi_shm_link_fail(l, PVMI_EFORMAT, "it says that it took what was not sent");
        return NULL;
    }
    return pvmi_ring_reserve(&l->tx, cells);
}

void pvmi_shm_header_write(struct pvmi_long_cell *cell, const struct pvmi_frame_header *h)
{
    cell->crc = h->crc;
    cell->dst = h->dst;
    cell->src = h->src;
    cell->seq = h->seq;
    cell->tag = h->tag;
    cell->ctx = h->ctx;
    cell->wid = h->wid;
    cell->enc = h->enc;
    cell->dsig = h->dsig;
    cell->length = h->length;
    cell->flags = h->flags;
    cell->body_length = h->body_length;
    cell->offset = h->offset;
}

static inline void publish(struct pvmi_shm_link *l, void *cell, enum pvmi_record kind, uint32_t cells, uint32_t length)
{
    pvmi_shm_tell(l, cell, pvmi_ring_finish(&l->tx, kind, cells, length), PVMI_WAKE_DATA);
}

/* Copies `length` bytes of the frame's payload from `offset` on. */
static void gather(const struct pvmi_frame *f, uint32_t offset, uint8_t *to, uint32_t length)
{
    for (unsigned i = 0; length; i++) {
        size_t in_piece = f->pieces[i].iov_len;
        if (offset >= in_piece) {
            offset -= (uint32_t)in_piece;
            continue;
        }
        size_t n = in_piece - offset < length ? in_piece - offset : length;
        pvmi_mem_copy(to, (const uint8_t *)f->pieces[i].iov_base + offset, n);
        to += n;
        length -= (uint32_t)n;
        offset = 0;
    }
}

static int refuse(struct pvmi_shm_link *l)
{
    if (l->ended)
        return PVMI_EDOWN;
    l->refused = true;
    return PVMI_EAGAIN;
}

/* ---- small messages ---- */

static inline uint32_t cells_of_small(const struct pvmi_frame_header *h)
{
    return pvmi_cells_of(offsetof(struct pvmi_cell, data) + h->length);
}

/* The record of a small message but for its payload and its word; NULL: there is no room. */
static inline struct pvmi_cell *begin_small(struct pvmi_shm_link *l, const struct pvmi_frame_header *h)
{
    struct pvmi_cell *cell = pvmi_shm_link_reserve(l, cells_of_small(h));
    if (__builtin_expect(!cell, 0))
        return NULL;
    cell->crc = h->crc;
    cell->dst = h->dst;
    cell->src = h->src;
    cell->seq = h->seq;
    cell->tag = h->tag;
    cell->ctx = h->ctx;
    cell->wid = h->wid;
    cell->enc = h->enc;
    cell->dsig = h->dsig;
    return cell;
}

static int send_small(struct pvmi_shm_link *l, const struct pvmi_frame *f)
{
    struct pvmi_cell *cell = begin_small(l, &f->h);
    if (!cell)
        return refuse(l);
    gather(f, 0, cell->data, f->h.length);
    publish(l, cell, PVMI_RECORD_WHOLE, cells_of_small(&f->h), f->h.length);
    return 0;
}

int pvmi_shm_link_send_whole(struct pvmi_shm_link *l, const struct pvmi_frame_header *h, const uint8_t *data)
{
    if (__builtin_expect(l->ended || l->state != PVMI_LINK_UP || l->current || h->length > l->inline_max, 0))
        return PVMI_EUNSUPPORTED;
    struct pvmi_cell *cell = begin_small(l, h);
    if (__builtin_expect(!cell, 0))
        return refuse(l);
    pvmi_copy(cell->data, data, h->length);
    publish(l, cell, PVMI_RECORD_WHOLE, cells_of_small(h), h->length);
    return 0;
}

static bool is_small_message(const struct pvmi_shm_link *l, const struct pvmi_frame_header *h)
{
    return h->length <= l->inline_max && h->length == h->body_length && !h->flags;
}

/* ---- pieces ---- */

static uint32_t next_chunk(const struct pvmi_shm_link *l)
{
    uint32_t left = l->current->h.length - l->current_sent;
    return left < l->chunk_max ? left : l->chunk_max;
}

/* The header if it has not been sent yet, and some bytes behind it. */
static bool push_chunk(struct pvmi_shm_link *l)
{
    uint32_t bytes = next_chunk(l), cells = 1 + pvmi_cells_of(bytes);
    struct pvmi_long_cell *cell = pvmi_shm_link_reserve(l, cells);
    if (!cell)
        return false;
    if (!l->current_begun)
        pvmi_shm_header_write(cell, &l->current->h);
    gather(l->current, l->current_sent, (uint8_t *)(cell + 1), bytes);
    l->current_sent += bytes;
    publish(l, cell, l->current_begun ? PVMI_RECORD_CHUNK : PVMI_RECORD_FRAME, cells, bytes);
    l->current_begun = true;
    return true;
}

/* Asks the peer to read the payload. */
static bool push_pull(struct pvmi_shm_link *l)
{
    const struct pvmi_frame *f = l->current;
    uint32_t bytes = f->piece_count * (uint32_t)sizeof *f->pieces, cells = 1 + pvmi_cells_of(bytes);
    struct pvmi_long_cell *cell = pvmi_shm_link_reserve(l, cells);
    if (!cell)
        return false;
    pvmi_shm_header_write(cell, &f->h);
    memcpy(cell + 1, f->pieces, bytes);
    l->pulls++;
    l->pulling = l->current_begun = true;
    publish(l, cell, PVMI_RECORD_PULL, cells, bytes);
    return true;
}

void pvmi_shm_link_drop_current(struct pvmi_shm_link *l)
{
    struct pvmi_frame *f = l->current;
    if (l->pulling && !l->foreign)
        __atomic_store_n(&l->mine->withdrawn, 1, __ATOMIC_SEQ_CST); /* its bytes are not what they were any more */
    l->current = NULL;
    l->current_sent = 0;
    l->current_begun = l->pulling = false;
    pvmi_frame_unref(f);
}

static bool pull_is_answered(const struct pvmi_shm_link *l)
{
    return __atomic_load_n(&l->theirs->pulled, __ATOMIC_ACQUIRE) >> 1 == (l->pulls & INT32_MAX);
}

/* Whether the current frame still has to be pushed after the peer's answer, if there is one. */
static bool take_pull_answer(struct pvmi_shm_link *l)
{
    if (!pull_is_answered(l))
        return false;
    l->pulling = false;
    if (__atomic_load_n(&l->theirs->pulled, __ATOMIC_ACQUIRE) & 1)
        return true;
    pvmi_shm_link_drop_current(l);
    return false;
}

static bool should_pull(const struct pvmi_shm_link *l)
{
    return !l->current_begun && !l->current->mem && l->current->h.length >= PULL_BYTES &&
           __atomic_load_n(&l->theirs->can_pull, __ATOMIC_RELAXED);
}

int pvmi_shm_link_push(struct pvmi_shm_link *l)
{
    int n = 0;
    if (l->pulling && !take_pull_answer(l))
        return !l->pulling;
    if (should_pull(l))
        return push_pull(l);
    while (l->current && push_chunk(l)) {
        n++;
        if (l->current_sent == l->current->h.length)
            pvmi_shm_link_drop_current(l);
    }
    return n;
}

bool pvmi_shm_link_can_push(struct pvmi_shm_link *l)
{
    if (!l->current)
        return false;
    if (l->pulling)
        return pull_is_answered(l);
    uint32_t cells = should_pull(l) ? 1 + pvmi_cells_of(sizeof l->current->pieces) : 1 + pvmi_cells_of(next_chunk(l));
    return pvmi_shm_link_reserve(l, cells) || l->failed;
}

bool pvmi_shm_link_has_room(struct pvmi_shm_link *l)
{
    uint64_t half = (UINT64_C(1) << l->tx.shift) / 2;
    return !l->current &&
           (pvmi_ring_room(&l->tx) >= half || (pvmi_ring_refresh(&l->tx) && pvmi_ring_room(&l->tx) >= half)) &&
           pvmi_shm_lending_has_room(l);
}

/* ---- large frames ---- */

static int push_first(struct pvmi_shm_link *l, struct pvmi_frame *f)
{
    l->current = pvmi_frame_ref(f);
    l->current_sent = 0;
    l->current_begun = false;
    pvmi_shm_link_push(l);
    return 0;
}

/* Whether all of it would go into the ring now. */
static bool fits(struct pvmi_shm_link *l, const struct pvmi_frame *f)
{
    uint64_t chunks = f->h.length / l->chunk_max + 1, cells = pvmi_cells_of(f->h.length) + 2 * chunks;
    return cells < UINT64_C(1) << l->tx.shift && pvmi_shm_link_reserve(l, (uint32_t)cells);
}

/* Where the payload begins if it lies in one piece of the frame's memory, else NULL. */
static const uint8_t *in_one_piece(const struct pvmi_frame *f)
{
    const uint8_t *begin = f->pieces[0].iov_base, *end = begin;
    for (unsigned i = 0; i < f->piece_count; end += f->pieces[i++].iov_len)
        if (f->pieces[i].iov_base != end)
            return NULL;
    return begin >= f->mem->data && end <= f->mem->data + f->mem->capacity ? begin : NULL;
}

/* What does not lie in an arena is copied to one. */
static int lend_copy(struct pvmi_shm_link *l, const struct pvmi_frame *f)
{
    struct pvmi_mem_place place;
    if (!pvmi_shm_lending_has_room(l) || !pvmi_shm_link_reserve(l, 2))
        return PVMI_EAGAIN;
    struct pvmi_mem *mem = pvmi_mem_new(f->h.length);
    if (!mem)
        return PVMI_EUNSUPPORTED;
    struct pvmi_frame copy = {.h = f->h, .mem = mem};
    int rc = PVMI_EUNSUPPORTED;
    if (pvmi_mem_locate(mem, &place)) {
        gather(f, 0, mem->data, f->h.length);
        rc = pvmi_shm_lend(l, &copy, mem->data);
    }
    pvmi_mem_unref(mem);
    return rc;
}

static int send_large(struct pvmi_shm_link *l, struct pvmi_frame *f)
{
    if (!f->mem)
        return push_first(l, f);
    const uint8_t *at = in_one_piece(f);
    struct pvmi_mem_place place;
    int rc = at && pvmi_mem_locate(f->mem, &place) ? pvmi_shm_lend(l, f, at) : lend_copy(l, f);
    if (rc == PVMI_EAGAIN)
        return refuse(l);
    if (!rc)
        return 0;
    /* The peer has all the references it may have, or no descriptor can be sent. */
    if (!fits(l, f) && l->lending.untaken_count)
        return refuse(l);
    return push_first(l, f);
}

int pvmi_shm_link_send(struct pvmi_shm_link *l, struct pvmi_frame *f)
{
    if (__builtin_expect(l->ended, 0))
        return PVMI_EDOWN;
    if (__builtin_expect(l->state != PVMI_LINK_UP, 0))
        return refuse(l);
    if (__builtin_expect(l->current != NULL, 0)) {
        pvmi_shm_link_push(l);
        if (l->current)
            return refuse(l);
    }
    if (__builtin_expect(is_small_message(l, &f->h), 1))
        return send_small(l, f);
    if (f->h.length > PVMI_SHM_FRAME_MAX || (f->h.flags & PVMI_FRAME_FD))
        return PVMI_EUNSUPPORTED;
    if (f->h.length > l->inline_max)
        return send_large(l, f);
    return pvmi_shm_link_reserve(l, 1 + pvmi_cells_of(f->h.length)) ? push_first(l, f) : refuse(l);
}
