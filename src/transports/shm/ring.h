/*
 * ring.h - one direction of a shared-memory link: a ring of 64-byte cells with one producer and one consumer.
 *
 * A record is one or more cells in a row. The first word of its first cell publishes it: it tells that the record is
 * there, what kind it is and how long, so a small message moves one cache line and nothing else. The word bears the
 * ring's lap, 1 or 2 in turn, which tells a record of this lap from what the last one left there. Later cells of a
 * record are plain bytes and may look like any word; where such bytes lie where the next record will begin, the
 * producer puts an empty word there first.
 *
 * The ring's memory is mapped twice in a row, so a record never wraps. The consumer's position is published lazily, and
 * the producer looks at it only when the ring seems full. What is read from the ring was written by another process:
 * it is read once and checked.
 */
#ifndef PVMI_SHM_RING_H
#define PVMI_SHM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PVMI_CELL_BYTES 64

enum pvmi_record {
    PVMI_RECORD_WHOLE = 1, /* a whole message: short header, bytes from pvmi_cell.data on */
    PVMI_RECORD_FRAME,     /* any frame: struct pvmi_long_cell, its first bytes in the cells that follow */
    PVMI_RECORD_CHUNK,     /* more bytes of the last frame, in the cells that follow */
    PVMI_RECORD_REFERENCE, /* any frame: struct pvmi_long_cell, then a cell that tells where its bytes are */
    PVMI_RECORD_PULL,      /* any frame: struct pvmi_long_cell, then cells with the sender's addresses of the bytes */
};

/* First cell of a whole message. */
struct pvmi_cell {
    uint32_t word;
    int32_t crc;
    uint32_t dst, src, seq;
    int32_t tag;
    uint32_t ctx;
    int32_t wid;
    uint32_t enc, dsig;
    uint8_t data[24];
};

/* First cell of all others; a chunk uses nothing but the word. */
struct pvmi_long_cell {
    uint32_t word;
    int32_t crc;
    uint32_t dst, src, seq;
    int32_t tag;
    uint32_t ctx;
    int32_t wid;
    uint32_t enc, dsig;
    uint32_t length, flags;
    uint64_t body_length, offset;
};

_Static_assert(sizeof(struct pvmi_cell) == PVMI_CELL_BYTES, "a cell is a cache line");
_Static_assert(sizeof(struct pvmi_long_cell) == PVMI_CELL_BYTES, "a cell is a cache line");

struct pvmi_ring_tx {
    uint8_t *cells;
    unsigned shift; /* the ring has 1 << shift cells */
    uint64_t head;  /* position of the next record: counts cells, from 0 */
    uint64_t limit; /* the head may go this far */
    uint64_t clean; /* from this position on the last lap has left words of records only */
    const uint64_t *taken;
};

struct pvmi_ring_rx {
    const uint8_t *cells;
    unsigned shift;
    uint64_t position;  /* of the record that comes next */
    uint64_t published; /* what the producer knows of it */
    uint64_t *taken;
};

/* Both for a ring of zeroed memory of (1 << shift) cells, mapped twice in a row. */
void pvmi_ring_tx_init(struct pvmi_ring_tx *r, void *cells, unsigned shift, const uint64_t *taken);
void pvmi_ring_rx_init(struct pvmi_ring_rx *r, const void *cells, unsigned shift, uint64_t *taken);

/* Looks how far the consumer is. False: it says something impossible, and the ring is not to be used any more. */
bool pvmi_ring_refresh(struct pvmi_ring_tx *r);

/* ---- words ---- */

#define PVMI_RECORD_BYTES_MAX ((1u << 24) - 1)

static inline uint32_t pvmi_ring_lap(uint64_t position, unsigned shift)
{
    return 1 + (uint32_t)(position >> shift & 1);
}

static inline enum pvmi_record pvmi_word_kind(uint32_t word)
{
    return (enum pvmi_record)(word >> 4 & 15);
}

static inline uint32_t pvmi_word_length(uint32_t word)
{
    return word >> 8;
}

static inline uint32_t pvmi_cells_of(size_t bytes)
{
    return (uint32_t)((bytes + PVMI_CELL_BYTES - 1) / PVMI_CELL_BYTES);
}

static inline void pvmi_prefetch_to_write(const void *at)
{
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*(const uint8_t *)at));
#else
    __builtin_prefetch(at, 1);
#endif
}

/* ---- producer ---- */

static inline uint8_t *pvmi_ring_cell(uint8_t *cells, unsigned shift, uint64_t position)
{
    return cells + (position & ((UINT64_C(1) << shift) - 1)) * PVMI_CELL_BYTES;
}

/* How many cells a record may have now: one always stays free, for the empty word behind it. */
static inline uint64_t pvmi_ring_room(const struct pvmi_ring_tx *r)
{
    return r->limit - r->head;
}

/* Where the next record of `count` cells goes, or NULL: no room, by what is known. */
static inline void *pvmi_ring_reserve(struct pvmi_ring_tx *r, uint32_t count)
{
    if (__builtin_expect(pvmi_ring_room(r) < count, 0))
        return NULL;
    return pvmi_ring_cell(r->cells, r->shift, r->head);
}

/*
 * The word that publishes a record of `count` cells and `length` bytes, which have been written where
 * pvmi_ring_reserve() said: to be stored to its first cell, with release order at least. The head moves on.
 */
static inline uint32_t pvmi_ring_finish(struct pvmi_ring_tx *r, enum pvmi_record kind, uint32_t count, uint32_t length)
{
    uint32_t word = pvmi_ring_lap(r->head, r->shift) | (uint32_t)kind << 4 | length << 8;
    r->head += count;
    if (count > 1)
        r->clean = r->head + (UINT64_C(1) << r->shift);
    uint8_t *next = pvmi_ring_cell(r->cells, r->shift, r->head);
    if (r->head < r->clean)
        __atomic_store_n((uint32_t *)next, 0, __ATOMIC_RELAXED);
    pvmi_prefetch_to_write(next);
    return word;
}

/* ---- consumer ---- */

/* The next record's first cell and its word, or NULL: there is none. */
static inline const void *pvmi_ring_peek(const struct pvmi_ring_rx *r, uint32_t *word)
{
    const uint8_t *cell = pvmi_ring_cell((uint8_t *)r->cells, r->shift, r->position);
    *word = __atomic_load_n((const uint32_t *)cell, __ATOMIC_ACQUIRE);
    return (*word & 15) == pvmi_ring_lap(r->position, r->shift) ? cell : NULL;
}

/* Whether a record of `length` bytes after its first cell can be one of this ring. */
static inline bool pvmi_ring_can_hold(const struct pvmi_ring_rx *r, uint32_t length)
{
    return length <= (UINT64_C(1) << r->shift) / 2 * PVMI_CELL_BYTES;
}

/* Goes on behind a record of `count` cells, whose bytes are not read any more. */
static inline void pvmi_ring_advance(struct pvmi_ring_rx *r, uint32_t count)
{
    r->position += count;
}

/* Whether it is time to tell the producer: each quarter of the ring. */
static inline bool pvmi_ring_lags(const struct pvmi_ring_rx *r)
{
    return r->position - r->published >= UINT64_C(1) << (r->shift - 2);
}

#endif
