/*
 * mem.c - message memory. Small regions are malloc'd; from LARGE_BYTES on they are mappings of their own that grow by
 * moving pages, and that go to a cache when freed: a fresh page costs more than the message that would travel in it.
 */
#include "mem.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <utlist.h>
#include "error.h"
#include "log.h"

#define LARGE_BYTES ((size_t)64 << 10)
#define CACHE_BYTES ((size_t)64 << 20)
#define PAGE_BYTES  ((size_t)4096)

struct region {
    _Alignas(16) struct pvmi_mem mem; /* first: a pvmi_mem is its region. Small data follows the struct, aligned. */
    struct region *prev, *next;       /* in the cache */
};

static struct region *cache; /* last freed first */
static size_t cached_bytes, in_use_bytes;

static struct region *region_of(struct pvmi_mem *m)
{
    return (struct region *)m;
}

static bool is_large(size_t capacity)
{
    return capacity >= LARGE_BYTES;
}

/* Sizes that can be cached come in powers of two, so that freed regions fit again; pages not touched cost nothing. */
static size_t round_large(size_t capacity)
{
    if (capacity > CACHE_BYTES)
        return capacity <= SIZE_MAX - PAGE_BYTES ? (capacity + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1) : capacity;
    size_t rounded = LARGE_BYTES;
    while (rounded < capacity)
        rounded *= 2;
    return rounded;
}

static void unmap(struct region *r)
{
    munmap(r->mem.data, r->mem.capacity);
    free(r);
}

static void cache_remove(struct region *r)
{
    DL_DELETE(cache, r);
    cached_bytes -= r->mem.capacity;
}

static void cache_shrink(size_t bytes)
{
    while (cached_bytes > bytes) {
        struct region *oldest = cache->prev;
        cache_remove(oldest);
        unmap(oldest);
    }
}

static void cache_put(struct region *r)
{
    if (r->mem.capacity > CACHE_BYTES) {
        unmap(r);
        return;
    }
    DL_PREPEND(cache, r);
    cached_bytes += r->mem.capacity;
    cache_shrink(CACHE_BYTES);
}

/* A cached region of exactly this capacity, or NULL. */
static struct region *cache_find(size_t capacity)
{
    struct region *r;
    DL_FOREACH (cache, r) {
        if (r->mem.capacity == capacity)
            return r;
    }
    return NULL;
}

static struct region *map_region(size_t capacity)
{
    struct region *r = malloc(sizeof *r);
    if (!r)
        return NULL;
    r->mem.data = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->mem.data == MAP_FAILED) {
        free(r);
        return NULL;
    }
    r->mem.capacity = capacity;
    return r;
}

static struct region *new_large(size_t capacity)
{
    capacity = round_large(capacity);
    struct region *r = cache_find(capacity);
    if (!r)
        return map_region(capacity);
    cache_remove(r);
    return r;
}

static struct region *new_small(size_t capacity)
{
    struct region *r = malloc(sizeof *r + capacity);
    if (!r)
        return NULL;
    r->mem.data = (uint8_t *)(r + 1);
    r->mem.capacity = capacity;
    return r;
}

struct pvmi_mem *pvmi_mem_new(size_t capacity)
{
    struct region *r = is_large(capacity) ? new_large(capacity) : new_small(capacity);
    if (!r) {
        pvmi_log(PVMI_LOG_ERROR, "no memory for a message of %zu bytes", capacity);
        return NULL;
    }
    r->mem.refs = 1;
    in_use_bytes += r->mem.capacity;
    return &r->mem;
}

struct pvmi_mem *pvmi_mem_ref(struct pvmi_mem *m)
{
    m->refs++;
    return m;
}

void pvmi_mem_unref(struct pvmi_mem *m)
{
    if (!m || --m->refs)
        return;
    in_use_bytes -= m->capacity;
    if (is_large(m->capacity))
        cache_put(region_of(m));
    else
        free(region_of(m));
}

/* Grows a mapping without copying its bytes; its new pages are fresh, so a cached region is better if there is one. */
static int remap(struct pvmi_mem *m, size_t capacity)
{
    capacity = round_large(capacity);
    if (!is_large(m->capacity) || cache_find(capacity))
        return PVMI_EUNSUPPORTED;
    void *data = mremap(m->data, m->capacity, capacity, MREMAP_MAYMOVE);
    if (data == MAP_FAILED)
        return PVMI_ENOMEM;
    in_use_bytes += capacity - m->capacity;
    m->data = data;
    m->capacity = capacity;
    return 0;
}

static int grow_copying(struct pvmi_mem **m, size_t used, size_t capacity)
{
    struct pvmi_mem *bigger = pvmi_mem_new(capacity);
    if (!bigger)
        return PVMI_ENOMEM;
    memcpy(bigger->data, (*m)->data, used);
    pvmi_mem_unref(*m);
    *m = bigger;
    return 0;
}

int pvmi_mem_grow(struct pvmi_mem **m, size_t used, size_t capacity)
{
    bool alone = (*m)->refs == 1;
    if (alone && (*m)->capacity >= capacity)
        return 0;
    if (alone && !remap(*m, capacity))
        return 0;
    return grow_copying(m, used, capacity);
}

void pvmi_mem_usage(size_t *in_use, size_t *cached)
{
    *in_use = in_use_bytes;
    *cached = cached_bytes;
}

void pvmi_mem_trim(void)
{
    cache_shrink(0);
}

__attribute__((destructor)) static void drop_cache(void)
{
    pvmi_mem_trim();
}
