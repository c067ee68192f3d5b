/*
 * reserve.c - first-fit allocation of runs of 64-byte cells. There is no lock: only one thread uses the wrapped
 * functions. The daemon's other threads, which resolve names, allocate in the C library.
 */
#include "reserve.h"
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include "config.h"
#include "log.h"

enum { RESERVE_BYTES = 1 << 20, CELL_BYTES = 64, BLOCK_BYTES_MAX = 32768, PROBE_BYTES = 65536, INSIDE = 0xffff };

/* Names made by the linker's --wrap; the real functions are those of the C library or of a sanitizer. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void __real_free(void *block);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void __wrap_free(void *block);
char *__wrap_strndup(const char *text, size_t length);
char *__wrap_strdup(const char *text);

static struct {
    char *base;
    uint16_t *run; /* per cell: 0 if free, the block's length if it is the block's first cell, else INSIDE */
    size_t cells, used;
} reserve;

void pvmc_reserve_start(void)
{
    size_t cells = RESERVE_BYTES / CELL_BYTES;
    size_t bytes = cells * (CELL_BYTES + sizeof *reserve.run);
    if (reserve.base)
        return;
    char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        pvmc_log(PVMC_LOG_WARNING, "no memory for a reserve of %zu bytes", bytes);
        return;
    }
    reserve.run = (uint16_t *)(base + cells * CELL_BYTES);
    reserve.cells = cells;
    reserve.base = base;
}

static bool is_ours(const void *block)
{
    return reserve.base && (const char *)block >= reserve.base &&
           (const char *)block < reserve.base + reserve.cells * CELL_BYTES;
}

static size_t cell_of(const void *block)
{
    return (size_t)((const char *)block - reserve.base) / CELL_BYTES;
}

/* The first of `wanted` consecutive free cells, or reserve.cells if there are none. */
static size_t find_run(size_t wanted)
{
    size_t length = 0;
    for (size_t i = 0; i < reserve.cells; i++) {
        length = reserve.run[i] ? 0 : length + 1;
        if (length == wanted)
            return i + 1 - wanted;
    }
    return reserve.cells;
}

static void *take(size_t bytes)
{
    size_t count = bytes ? (bytes + CELL_BYTES - 1) / CELL_BYTES : 1;
    size_t first = bytes <= BLOCK_BYTES_MAX ? find_run(count) : reserve.cells;
    if (first == reserve.cells)
        return NULL;
    for (size_t i = 1; i < count; i++)
        reserve.run[first + i] = INSIDE;
    reserve.run[first] = (uint16_t)count;
    reserve.used += count;
    return reserve.base + first * CELL_BYTES;
}

static void give_back(const void *block)
{
    size_t first = cell_of(block), count = reserve.run[first];
    memset(&reserve.run[first], 0, count * sizeof *reserve.run);
    reserve.used -= count;
}

static size_t size_of(const void *block)
{
    return (size_t)reserve.run[cell_of(block)] * CELL_BYTES;
}

bool pvmc_reserve_is_low(void)
{
    if (reserve.used <= reserve.cells / 2)
        return false;
    void *probe = __real_malloc(PROBE_BYTES);
    __real_free(probe);
    return !probe;
}

/* ---- the wrapped functions ---- */

void *__wrap_malloc(size_t bytes)
{
    void *block = __real_malloc(bytes);
    return block ? block : take(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    void *block = __real_calloc(count, bytes);
    size_t all;
    if (block || __builtin_mul_overflow(count, bytes, &all) || !(block = take(all)))
        return block;
    return memset(block, 0, all);
}

void __wrap_free(void *block)
{
    if (is_ours(block))
        give_back(block);
    else
        __real_free(block);
}

/* A block moves to the reserve when it cannot grow on the heap, and back when it can. */
static void *move(void *block, size_t old_bytes, size_t bytes)
{
    void *moved = __wrap_malloc(bytes);
    if (!moved)
        return NULL;
    memcpy(moved, block, old_bytes < bytes ? old_bytes : bytes);
    __wrap_free(block);
    return moved;
}

void *__wrap_realloc(void *block, size_t bytes)
{
    if (is_ours(block))
        return move(block, size_of(block), bytes);
    void *grown = __real_realloc(block, bytes);
    if (grown || !bytes)
        return grown;
    return block ? move(block, malloc_usable_size(block), bytes) : take(bytes);
}

char *__wrap_strndup(const char *text, size_t length)
{
    length = strnlen(text, length);
    char *copy = __wrap_malloc(length + 1);
    if (!copy)
        return NULL;
    copy[length] = '\0';
    return memcpy(copy, text, length);
}

char *__wrap_strdup(const char *text)
{
    return __wrap_strndup(text, strlen(text));
}
