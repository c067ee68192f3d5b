/*
 * arena.h - memory that other processes on this host can map: sealed memfds, divided into power-of-two blocks.
 *
 * An arena is large and sparse: a page occupies memory from its first touch until it is given back. Only mem.c uses it.
 */
#ifndef PVMC_ARENA_H
#define PVMC_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "mem.h"

#define PVMC_ARENA_BLOCK_MIN ((size_t)8 << 10)
#define PVMC_ARENA_BLOCK_MAX ((size_t)256 << 20) /* larger blocks get an arena of their own */

struct pvmc_arena;

struct pvmc_block {
    struct pvmc_arena *arena;
    uint64_t offset;
    uint8_t *data;
    size_t bytes;
};

/* Allocates a block of `bytes`: a power of two from BLOCK_MIN to BLOCK_MAX, or any larger size. False when memory or
 * descriptors run out. */
bool pvmc_block_new(struct pvmc_block *b, size_t bytes);

/* Frees the block and returns its pages to the system. */
void pvmc_block_free(struct pvmc_block *b);

/* Grows the block in place to a power of two up to BLOCK_MAX; false when the memory after it is in use. */
bool pvmc_block_extend(struct pvmc_block *b, size_t bytes);

/* The number of the block's arena, for pvmc_arena_find(). */
unsigned pvmc_block_arena(const struct pvmc_block *b);

bool pvmc_arena_find(unsigned number, struct pvmc_mem_arena *out);

/* Closes the arenas in which no block is in use. */
void pvmc_arenas_trim(void);

/* Whether this process is a forked child whose arenas still belong to its parent. */
bool pvmc_arenas_inherited(void);

/* In a forked child: a private copy of the block at another address; NULL when out of memory. */
uint8_t *pvmc_block_copy(const struct pvmc_block *b);

/* In a forked child: unmaps the arenas and forgets them. */
void pvmc_arenas_forget(void);

#endif
