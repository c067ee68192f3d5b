/*
 * ring.h - one direction of a shared-memory link: a ring of 64-byte cells with one producer and one consumer.
 *
 * A record is one or more consecutive cells. The first word of its first cell publishes it: the word tells the kind and
 * the length of the record, so a small message moves one cache line only. The word also holds the ring's lap,
 * alternately 1 and 2, which distinguishes a record of this lap from remains of the last one. Later cells of a record
 * hold plain bytes that may look like any word. If the next record will begin at such bytes, the producer first stores
 * an empty word there.
 *
 * Records do not wrap: either the ring's memory is mapped twice in a row, or the producer passes the cells at its end
 * where the next record does not fit (pvmw_ring_tx_stop_at_end()). The consumer publishes its position lazily, and
 * the producer reads it only when the ring seems full. Another process can change the ring at any time, so every field
 * is read once and then checked.
 */
#ifndef PVMW_SHM_RING_H
#define PVMW_SHM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/message/frame.h"

#define PVMW_CELL_BYTES 64

enum pvmw_record {
    PVMW_RECORD_WHOLE = 1, /* a whole message: short header, bytes from pvmw_cell.data on */
    PVMW_RECORD_FRAME,     /* any frame: struct pvmw_long_cell; its first bytes are in the cells that follow */
    PVMW_RECORD_CHUNK,     /* more bytes of the last frame, in the cells that follow */
    PVMW_RECORD_REFERENCE, /* any frame: struct pvmw_long_cell, then a cell that locates its bytes */
    PVMW_RECORD_SKIP,      /* nothing: the cells up to the end of the ring */
};

/* First cell of a whole message. */
struct pvmw_cell {
    uint32_t word, seq;
    struct pvmc_envelope envelope;
    uint8_t data[24];
};

/* First cell of all other records; a chunk uses only the word. */
struct pvmw_long_cell {
    uint32_t word, seq;
    struct pvmc_envelope envelope;
    uint32_t length, flags;
    uint64_t body_length, offset;
};

_Static_assert(sizeof(struct pvmw_cell) == PVMW_CELL_BYTES, "a cell is a cache line");
_Static_assert(sizeof(struct pvmw_long_cell) == PVMW_CELL_BYTES, "a cell is a cache line");

struct pvmw_ring_tx {
    uint8_t *cells;
    uint8_t *next;  /* the cell at the head */
    unsigned shift; /* the ring has 1 << shift cells */
    uint64_t mask;  /* their number - 1 */
    uint64_t head;  /* position of the next record: counts cells, from 0 */
    uint64_t limit; /* the head may advance to here */
    uint64_t edge;  /* the next record must end here: the limit, or the end of the ring if that comes first */
    bool stops;     /* at the end of the ring */
    uint64_t clean; /* from this position on, cells hold the words of the last lap's records and no other bytes */
    uint64_t blank; /* from the head to here, words are empty; in the first lap, memory is there */
    const uint64_t *taken;
};

struct pvmw_ring_rx {
    const uint8_t *next; /* the cell at `position` ... */
    uint32_t lap;        /* ... and what its word has when a record is there: a task that polls looks at nothing else */
    unsigned shift;
    uint64_t mask;
    const uint8_t *cells;
    uint64_t position;  /* of the next record */
    uint64_t published; /* the position last published to the producer */
    uint64_t quarter;   /* of the ring, in cells */
    uint64_t *taken;
};

/* Both for a ring of zeroed memory of (1 << shift) cells, mapped twice in a row. */
void pvmw_ring_tx_init(struct pvmw_ring_tx *r, void *cells, unsigned shift, const uint64_t *taken);
void pvmw_ring_rx_init(struct pvmw_ring_rx *r, const void *cells, unsigned shift, uint64_t *taken);

/*
 * For a ring that is mapped once: no record crosses its end. A consumer that does not trust its producer needs
 * readable memory of half a ring behind it.
 */
void pvmw_ring_tx_stop_at_end(struct pvmw_ring_tx *r);

/*
 * The number of cells to pass by a record of kind SKIP, because the next record, of `count` cells, fits only at the
 * start of the ring; 0: it fits here, or not now. Of a ring that stops at its end, after a refresh.
 */
uint32_t pvmw_ring_rest(const struct pvmw_ring_tx *r, uint32_t count);

/* Reads the consumer's position. False: it is impossible, and the ring must not be used any more. */
bool pvmw_ring_refresh(struct pvmw_ring_tx *r);

/* Provides memory for the cell at the head in the first lap; in later ones, stores an empty word there. */
void pvmw_ring_prepare(struct pvmw_ring_tx *r);

/* For pvmw_ring_sweep(). */
void pvmw_ring_blank(struct pvmw_ring_tx *r, uint32_t count);

/* ---- words ---- */

#define PVMW_RECORD_BYTES_MAX ((1u << 24) - 1)

static inline uint32_t pvmw_ring_lap(uint64_t position, unsigned shift)
{
    return 1 + (uint32_t)(position >> shift & 1);
}

static inline enum pvmw_record pvmw_word_kind(uint32_t word)
{
    return (enum pvmw_record)(word >> 4 & 15);
}

static inline uint32_t pvmw_word_length(uint32_t word)
{
    return word >> 8;
}

static inline uint32_t pvmw_cells_of(size_t bytes)
{
    return (uint32_t)((bytes + PVMW_CELL_BYTES - 1) / PVMW_CELL_BYTES);
}

/* ---- producer ---- */

static inline uint8_t *pvmw_ring_cell(uint8_t *cells, uint64_t mask, uint64_t position)
{
    return cells + (position & mask) * PVMW_CELL_BYTES;
}

/* Largest record in cells that fits now. One cell stays free for the empty word behind the record. */
static inline uint64_t pvmw_ring_room(const struct pvmw_ring_tx *r)
{
    return r->limit - r->head;
}

/* Place of the next record of `count` cells; NULL: no room as of the last refresh. */
static inline void *pvmw_ring_reserve(struct pvmw_ring_tx *r, uint32_t count)
{
    if (__builtin_expect(r->edge - r->head < count, 0))
        return NULL;
    return r->next;
}

/*
 * Advances the head and returns the word that publishes a record of `count` cells and `length` bytes. The caller has
 * written the record at pvmw_ring_reserve() and stores the word to its first cell, with release order at least.
 */
static inline uint32_t pvmw_ring_finish(struct pvmw_ring_tx *r, enum pvmw_record kind, uint32_t count, uint32_t length)
{
    uint32_t word = pvmw_ring_lap(r->head, r->shift) | (uint32_t)kind << 4 | length << 8;
    r->head += count;
    if (count > 1)
        r->clean = r->head + r->mask + 1;
    r->next = pvmw_ring_cell(r->cells, r->mask, r->head);
    if (r->head < r->clean && r->head >= r->blank)
        pvmw_ring_prepare(r);
    return word;
}

/*
 * Stores empty words where the next record's cells will be, if it is as long as the last one, and in a few behind them.
 * Called after a record of `count` cells is published. The consumer's cache has these lines since the last lap, and
 * taking them from it, now that nobody waits, saves up to 40 % of the next message's time; prefetchw does not. The
 * cell at the head is left to the consumer, who polls it.
 */
static inline void pvmw_ring_sweep(struct pvmw_ring_tx *r, uint32_t count)
{
    if (r->blank <= r->head + count)
        pvmw_ring_blank(r, count);
}

/* ---- consumer ---- */

/* The next record's first cell and its word; NULL: there is none. */
static inline const void *pvmw_ring_peek(const struct pvmw_ring_rx *r, uint32_t *word)
{
    *word = __atomic_load_n((const uint32_t *)r->next, __ATOMIC_ACQUIRE);
    return (*word & 15) == r->lap ? r->next : NULL;
}

/* Whether a record of `length` bytes after its first cell fits into this ring. */
static inline bool pvmw_ring_can_hold(const struct pvmw_ring_rx *r, uint32_t length)
{
    return length <= 2 * r->quarter * PVMW_CELL_BYTES;
}

/* Advances past a record of `count` cells, which the producer may then overwrite. */
static inline void pvmw_ring_advance(struct pvmw_ring_rx *r, uint32_t count)
{
    r->position += count;
    r->next = pvmw_ring_cell((uint8_t *)r->cells, r->mask, r->position);
    r->lap = pvmw_ring_lap(r->position, r->shift);
}

/* Whether to publish the position: after each quarter of the ring. */
static inline bool pvmw_ring_lags(const struct pvmw_ring_rx *r)
{
    return r->position - r->published >= r->quarter;
}

#endif
