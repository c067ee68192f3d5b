/*
 * arena.c - a buddy allocator: a block of 2^n bytes is aligned to 2^n and merges with its free buddy into one of
 * 2^(n+1). Metadata lies outside the arenas, so that the pages of free blocks are never touched.
 */
#include "arena.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utlist.h>

#define ARENA_BYTES     ((size_t)1 << 30)
#define ARENA_BYTES_MIN ((size_t)64 << 20) /* when address space is scarce */
#define ARENAS_MAX      64
#define PAGE_BYTES      ((size_t)4096)
#define ORDERS          18 /* block sizes, from BLOCK_MIN to ARENA_BYTES */
#define NONE            UINT32_MAX

_Static_assert(PVMC_ARENA_BLOCK_MIN << (ORDERS - 1) == ARENA_BYTES, "orders do not fit the sizes");

/* Metadata of one smallest block. A larger block uses only the entry of its first part. */
struct place {
    uint32_t prev, next; /* in the free list of its order */
    uint8_t order;
    bool free;
};

struct pvmc_arena {
    unsigned number;
    int fd;
    uint8_t *data;
    size_t bytes;
    size_t in_use;         /* number of blocks */
    struct place *places;  /* NULL: the arena is a single block */
    uint32_t free[ORDERS]; /* first free block of each order, or NONE */
    struct pvmc_arena *prev, *next;
};

static struct pvmc_arena *arenas;
static unsigned arena_count, last_number;
static bool inherited; /* after a fork: the arenas and their pages belong to the parent */

/* ---- arenas ---- */

static void inherit(void)
{
    inherited = true;
}

static int memory_create(size_t bytes)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes)
        return -1; /* ftruncate() would raise SIGXFSZ */
    int fd = memfd_create("pvm-messages", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (!ftruncate(fd, (off_t)bytes) && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return fd;
    close(fd);
    return -1;
}

static void arena_free(struct pvmc_arena *a)
{
    DL_DELETE(arenas, a);
    arena_count--;
    munmap(a->data, a->bytes);
    close(a->fd);
    free(a->places);
    free(a);
}

static struct pvmc_arena *arena_new(size_t bytes)
{
    static bool watched;
    if (arena_count == ARENAS_MAX)
        return NULL;
    if (!watched)
        watched = !pthread_atfork(NULL, NULL, inherit);
    int fd = memory_create(bytes);
    if (fd < 0)
        return NULL;
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    struct pvmc_arena *a = data == MAP_FAILED ? NULL : calloc(1, sizeof *a);
    if (!a) {
        if (data != MAP_FAILED)
            munmap(data, bytes);
        close(fd);
        return NULL;
    }
    *a = (struct pvmc_arena){.number = ++last_number, .fd = fd, .data = data, .bytes = bytes};
    DL_PREPEND(arenas, a);
    arena_count++;
    return a;
}

static void give_pages_back(struct pvmc_arena *a, uint64_t offset, size_t bytes)
{
    if (!inherited)
        fallocate(a->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
}

/* ---- blocks ---- */

static unsigned order_of(size_t bytes)
{
    return (unsigned)__builtin_ctzl(bytes / PVMC_ARENA_BLOCK_MIN);
}

static void list_push(struct pvmc_arena *a, uint32_t index, unsigned order)
{
    uint32_t first = a->free[order];
    a->places[index] = (struct place){.prev = NONE, .next = first, .order = (uint8_t)order, .free = true};
    if (first != NONE)
        a->places[first].prev = index;
    a->free[order] = index;
}

static void list_remove(struct pvmc_arena *a, uint32_t index)
{
    struct place *p = &a->places[index];
    p->free = false;
    if (p->next != NONE)
        a->places[p->next].prev = p->prev;
    if (p->prev != NONE)
        a->places[p->prev].next = p->next;
    else
        a->free[p->order] = p->next;
}

/* A new divisible arena, initially one free block. */
static struct pvmc_arena *arena_new_cut(void)
{
    for (size_t bytes = ARENA_BYTES; bytes >= ARENA_BYTES_MIN; bytes /= 2) {
        struct pvmc_arena *a = arena_new(bytes);
        if (!a)
            continue;
        a->places = calloc(bytes / PVMC_ARENA_BLOCK_MIN, sizeof *a->places);
        if (!a->places) {
            arena_free(a);
            return NULL;
        }
        memset(a->free, 0xff, sizeof a->free);
        list_push(a, 0, order_of(bytes));
        return a;
    }
    return NULL;
}

/* Takes a block of this order from `a`, splitting a larger one if necessary. Returns its index, or NONE. */
static uint32_t cut(struct pvmc_arena *a, unsigned order)
{
    unsigned from = order;
    while (from < ORDERS && a->free[from] == NONE)
        from++;
    if (from == ORDERS)
        return NONE;
    uint32_t index = a->free[from];
    list_remove(a, index);
    while (from > order) {
        from--;
        list_push(a, index + (1u << from), from);
    }
    return index;
}

static void block_at(struct pvmc_block *b, struct pvmc_arena *a, uint64_t offset, size_t bytes)
{
    a->in_use++;
    *b = (struct pvmc_block){.arena = a, .offset = offset, .data = a->data + offset, .bytes = bytes};
}

static bool new_own(struct pvmc_block *b, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return false;
    struct pvmc_arena *a = arena_new((bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1));
    if (a)
        block_at(b, a, 0, a->bytes);
    return a;
}

bool pvmc_block_new(struct pvmc_block *b, size_t bytes)
{
    if (bytes > PVMC_ARENA_BLOCK_MAX)
        return new_own(b, bytes);
    struct pvmc_arena *a;
    uint32_t index = NONE;
    DL_FOREACH (arenas, a)
        if (a->places && (index = cut(a, order_of(bytes))) != NONE)
            break;
    if (index == NONE) {
        a = arena_new_cut();
        index = a ? cut(a, order_of(bytes)) : NONE;
    }
    if (index != NONE)
        block_at(b, a, index * (uint64_t)PVMC_ARENA_BLOCK_MIN, bytes);
    return index != NONE;
}

static bool is_free(const struct pvmc_arena *a, uint32_t index, unsigned order)
{
    return a->places[index].free && a->places[index].order == order;
}

/* Frees a block and merges it with its buddy as long as that is free, order by order. */
static void join_halves(struct pvmc_arena *a, uint32_t index, unsigned order)
{
    unsigned whole = order_of(a->bytes);
    while (order < whole && is_free(a, index ^ 1u << order, order)) {
        list_remove(a, index ^ 1u << order);
        index &= ~(1u << order);
        order++;
    }
    list_push(a, index, order);
}

void pvmc_block_free(struct pvmc_block *b)
{
    struct pvmc_arena *a = b->arena;
    a->in_use--;
    give_pages_back(a, b->offset, b->bytes);
    if (a->places)
        join_halves(a, (uint32_t)(b->offset / PVMC_ARENA_BLOCK_MIN), order_of(b->bytes));
    else
        arena_free(a);
}

bool pvmc_block_extend(struct pvmc_block *b, size_t bytes)
{
    struct pvmc_arena *a = b->arena;
    if (!a->places || bytes > PVMC_ARENA_BLOCK_MAX)
        return false;
    uint32_t index = (uint32_t)(b->offset / PVMC_ARENA_BLOCK_MIN);
    unsigned from = order_of(b->bytes), to = order_of(bytes);
    for (unsigned order = from; order < to; order++)
        if (index >> order & 1 || !is_free(a, index + (1u << order), order))
            return false;
    for (unsigned order = from; order < to; order++)
        list_remove(a, index + (1u << order));
    b->bytes = bytes;
    return true;
}

unsigned pvmc_block_arena(const struct pvmc_block *b)
{
    return b->arena->number;
}

bool pvmc_arena_find(unsigned number, struct pvmc_mem_arena *out)
{
    struct pvmc_arena *a;
    DL_FOREACH (arenas, a)
        if (a->number == number) {
            *out = (struct pvmc_mem_arena){.fd = a->fd, .bytes = a->bytes};
            return true;
        }
    return false;
}

void pvmc_arenas_trim(void)
{
    struct pvmc_arena *a, *next;
    DL_FOREACH_SAFE (arenas, a, next)
        if (!a->in_use)
            arena_free(a);
}

/* ---- in a forked child ---- */

bool pvmc_arenas_inherited(void)
{
    return inherited;
}

/* Copies only the ranges that have pages: reading a hole would allocate pages. */
static bool copy_pages(const struct pvmc_block *b, uint8_t *to)
{
    off_t end = (off_t)(b->offset + b->bytes), at = (off_t)b->offset;
    while ((at = lseek(b->arena->fd, at, SEEK_DATA)) >= 0 && at < end) {
        off_t stop = lseek(b->arena->fd, at, SEEK_HOLE);
        if (stop < 0 || stop > end)
            stop = end;
        for (; at < stop;) {
            ssize_t n = pread(b->arena->fd, to + (at - (off_t)b->offset), (size_t)(stop - at), at);
            if (n <= 0)
                return false;
            at += n;
        }
    }
    return true;
}

uint8_t *pvmc_block_copy(const struct pvmc_block *b)
{
    void *copy = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED)
        return NULL;
    if (copy_pages(b, copy))
        return copy;
    munmap(copy, b->bytes);
    return NULL;
}

void pvmc_arenas_forget(void)
{
    struct pvmc_arena *a, *next;
    DL_FOREACH_SAFE (arenas, a, next)
        arena_free(a);
    inherited = false;
}
