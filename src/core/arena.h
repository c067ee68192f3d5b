/*
 * arena.h - memory that other processes of this host can map: sealed memfds, cut into blocks of powers of two.
 *
 * An arena is large and sparse: a page takes memory from when it is first touched until it is given back. Used by mem.c
 * alone.
 */
#ifndef PVMI_ARENA_H
#define PVMI_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "mem.h"

#define PVMI_ARENA_BLOCK_MIN ((size_t)8 << 10)
#define PVMI_ARENA_BLOCK_MAX ((size_t)256 << 20) /* larger blocks get an arena of their own */

struct pvmi_arena;

struct pvmi_block {
    struct pvmi_arena *arena;
    uint64_t offset;
    uint8_t *data;
    size_t bytes;
};

/* A block of `bytes`: a power of two from BLOCK_MIN to BLOCK_MAX, or more. False: no memory, or no descriptor. */
bool pvmi_block_new(struct pvmi_block *b, size_t bytes);

/* Gives it back, its pages to the system. */
void pvmi_block_free(struct pvmi_block *b);

/* Makes it larger where it is, to a power of two up to BLOCK_MAX; false when what follows it is in use. */
bool pvmi_block_extend(struct pvmi_block *b, size_t bytes);

/* The number of its arena, for pvmi_arena_find(). */
unsigned pvmi_block_arena(const struct pvmi_block *b);

bool pvmi_arena_find(unsigned number, struct pvmi_mem_arena *out);

/* Closes the arenas of which nothing is in use. */
void pvmi_arenas_trim(void);

/* Whether this process is a forked child and the arenas are its parent's. */
bool pvmi_arenas_inherited(void);

/* In a forked child: a private copy of the block, at another address; NULL: no memory. */
uint8_t *pvmi_block_copy(const struct pvmi_block *b);

/* In a forked child: unmaps the arenas and forgets them. */
void pvmi_arenas_forget(void);

#endif
