/*
 * mem.c - message memory. Small regions come from malloc() and are kept for reuse. Large ones are arena blocks in tasks
 * that use arenas; elsewhere, from MAPPED_BYTES on, they are mappings that grow with mremap(). Freed ones are cached:
 * faulting in fresh pages costs more than sending the message that fills them. A class is a stack, so what a burst has
 * left lies untouched at its bottom, and goes when it has not been needed for CACHE_KEPT_MS.
 */
#include "mem.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>
#include "arena.h"
#include "core/error.h"
#include "core/log.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, bytes)   ((void)(data), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(data, bytes) ((void)(data), (void)(bytes))
#endif

#define SMALL_BYTES_MIN ((size_t)64)
#define SMALL_BYTES     ((size_t)4 << 10)
#define SMALL_CLASSES   7 /* powers of two from SMALL_BYTES_MIN to SMALL_BYTES */
#define SPARE_MAX       64
#define MAPPED_BYTES    ((size_t)64 << 10)
#define CACHE_BYTES     ((size_t)64 << 20)
#define CACHE_BYTES_MAX ((size_t)1 << 30) /* limit of a task's cache ... */
#define CACHE_PART      32                /* ... and the part of the host's memory that it may be */
#define CACHE_KEPT_MS   2000              /* faulting in 1 GiB takes about a second */
#define CACHE_CLASSES   17                /* powers of two from PVMC_ARENA_BLOCK_MIN to ..._MAX, and one for the rest */
#define REAP_BYTES      ((size_t)256 << 10)
#define PAGE_BYTES      ((size_t)4096)

_Static_assert(SMALL_BYTES_MIN << (SMALL_CLASSES - 1) == SMALL_BYTES, "classes do not fit the sizes");
_Static_assert(PVMC_ARENA_BLOCK_MIN << (CACHE_CLASSES - 2) == PVMC_ARENA_BLOCK_MAX, "classes do not fit the sizes");

enum source { SOURCE_SMALL, SOURCE_HEAP, SOURCE_MAPPING, SOURCE_ARENA };

struct region {
    _Alignas(16) struct pvmc_mem mem; /* first, for region_of(). Data from the heap follows the struct. */
    enum source source;
    unsigned class;      /* SOURCE_SMALL: size class */
    struct region *next; /* SOURCE_SMALL: next spare region */
};

struct large {
    struct region region;        /* first, for large_of() */
    struct pvmc_block block;     /* SOURCE_ARENA */
    struct large *prev, *next;   /* when cached: list of its class; when in use: list of arena regions */
    struct large *newer, *older; /* when cached: list by age, to evict the oldest */
    int64_t freed_ms;            /* when cached: since when */
};

static struct {
    struct region *first;
    unsigned count;
} spare[SMALL_CLASSES];

static struct large *cache[CACHE_CLASSES]; /* by class, last freed first */
static struct large *cache_all;            /* last freed first */
static struct large *lent;                 /* in use, from arenas */
static size_t cached_bytes;                /* of large regions */
static size_t in_use_bytes;                /* with parked ones */
size_t pvmc_mem_parked;
static size_t cache_limit = CACHE_BYTES;
static bool arenas_wanted;
static void (*reap_function)(void);
static void (*forget_function)(const uint8_t *data, size_t bytes);

static struct region *region_of(struct pvmc_mem *m)
{
    return (struct region *)m;
}

static struct large *large_of(struct region *r)
{
    return (struct large *)r;
}

/* ---- small ---- */

/* How many times `unit` must be doubled to hold `bytes`. */
static inline unsigned doublings(size_t bytes, size_t unit)
{
    return bytes <= unit ? 0 : (unsigned)(64 - __builtin_clzll((bytes - 1) / unit));
}

static struct region *heap_new(size_t capacity, enum source source)
{
    struct region *r = capacity < SIZE_MAX - sizeof *r ? malloc(sizeof *r + capacity) : NULL;
    if (!r)
        return NULL;
    *r = (struct region){.mem = {.data = (uint8_t *)(r + 1), .capacity = capacity}, .source = source};
    return r;
}

static struct region *small_make(unsigned class)
{
    struct region *r = heap_new(SMALL_BYTES_MIN << class, SOURCE_SMALL);
    if (r)
        r->class = class;
    return r;
}

static inline struct region *small_new(size_t capacity)
{
    unsigned class = doublings(capacity, SMALL_BYTES_MIN);
    struct region *r = spare[class].first;
    if (__builtin_expect(!r, 0))
        return small_make(class);
    spare[class].first = r->next;
    spare[class].count--;
    ASAN_UNPOISON_MEMORY_REGION(r->mem.data, r->mem.capacity);
    return r;
}

static inline void small_free(struct region *r)
{
    unsigned class = r->class;
    if (__builtin_expect(spare[class].count == SPARE_MAX, 0)) {
        free(r);
        return;
    }
    r->next = spare[class].first;
    spare[class].first = r;
    spare[class].count++;
    ASAN_POISON_MEMORY_REGION(r->mem.data, r->mem.capacity);
}

static size_t small_cached_bytes(void)
{
    size_t bytes = 0;
    for (unsigned class = 0; class < SMALL_CLASSES; class ++)
        bytes += spare[class].count * (SMALL_BYTES_MIN << class);
    return bytes;
}

static void small_trim(void)
{
    for (unsigned class = 0; class < SMALL_CLASSES; class ++)
        for (struct region *r; (r = spare[class].first); free(r)) {
            spare[class].first = r->next;
            spare[class].count--;
            ASAN_UNPOISON_MEMORY_REGION(r->mem.data, r->mem.capacity);
        }
}

/* ---- large ---- */

static bool is_large(size_t capacity)
{
    return capacity >= (arenas_wanted ? SMALL_BYTES + 1 : MAPPED_BYTES);
}

/* Sizes are powers of two, so that freed regions are reusable; untouched pages cost nothing. */
static size_t round_large(size_t capacity)
{
    size_t minimum = arenas_wanted ? PVMC_ARENA_BLOCK_MIN : MAPPED_BYTES;
    if (capacity > (arenas_wanted ? PVMC_ARENA_BLOCK_MAX : CACHE_BYTES))
        return capacity <= SIZE_MAX - PAGE_BYTES ? (capacity + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1) : capacity;
    return minimum << doublings(capacity, minimum);
}

static bool map_block(struct large *l, size_t capacity)
{
    if (!arenas_wanted || !pvmc_block_new(&l->block, capacity))
        return false;
    l->region.mem.data = l->block.data;
    l->region.mem.capacity = l->block.bytes;
    l->region.source = SOURCE_ARENA;
    return true;
}

static bool map_private(struct large *l, size_t capacity)
{
    void *data = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
        return false;
    l->region.mem.data = data;
    l->region.mem.capacity = capacity;
    l->region.source = SOURCE_MAPPING;
    return true;
}

static struct large *large_map(size_t capacity)
{
    struct large *l = calloc(1, sizeof *l);
    if (!l || map_block(l, capacity) || map_private(l, capacity))
        return l;
    free(l);
    return NULL;
}

static void tell_unmap(const struct pvmc_mem *m)
{
    if (forget_function)
        forget_function(m->data, m->capacity);
}

static void large_unmap(struct large *l)
{
    tell_unmap(&l->region.mem);
    if (l->region.source == SOURCE_ARENA)
        pvmc_block_free(&l->block);
    else
        munmap(l->region.mem.data, l->region.mem.capacity);
    free(l);
}

static struct large **class_of(size_t capacity)
{
    return &cache[capacity > PVMC_ARENA_BLOCK_MAX ? CACHE_CLASSES - 1 : doublings(capacity, PVMC_ARENA_BLOCK_MIN)];
}

static void cache_remove(struct large *l)
{
    struct large **class = class_of(l->region.mem.capacity);
    DL_DELETE(*class, l);
    DL_DELETE2(cache_all, l, newer, older);
    cached_bytes -= l->region.mem.capacity;
    ASAN_UNPOISON_MEMORY_REGION(l->region.mem.data, l->region.mem.capacity);
}

static void cache_drop_oldest(void)
{
    struct large *oldest = cache_all->newer; /* the list is a ring backwards */
    cache_remove(oldest);
    large_unmap(oldest);
}

static void cache_shrink(size_t bytes)
{
    while (cache_all && cached_bytes > bytes)
        cache_drop_oldest();
}

/* Real time: virtual time may stand still while memory is in use. */
static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void cache_expire(int64_t now)
{
    while (cache_all && now - cache_all->newer->freed_ms > CACHE_KEPT_MS)
        cache_drop_oldest();
}

/* A child of a bare fork() must not write to its parent's messages. */
static inline void check_fork(void)
{
    if (__builtin_expect(pvmc_arenas_inherited(), 0))
        pvmc_mem_after_fork();
}

static void large_free(struct large *l)
{
    check_fork();
    size_t capacity = l->region.mem.capacity;
    if (l->region.source == SOURCE_ARENA)
        DL_DELETE(lent, l);
    if (capacity > cache_limit || (l->region.source == SOURCE_ARENA) != arenas_wanted) {
        large_unmap(l);
        return;
    }
    struct large **class = class_of(capacity);
    int64_t now = l->freed_ms = now_ms();
    DL_PREPEND(*class, l);
    DL_PREPEND2(cache_all, l, newer, older);
    cached_bytes += capacity;
    ASAN_POISON_MEMORY_REGION(l->region.mem.data, capacity);
    cache_shrink(cache_limit); /* may unmap l */
    cache_expire(now);
}

/* A cached region of this capacity, or of little more if it is above the largest power of two; or NULL. */
static struct large *cache_find(size_t capacity)
{
    struct large *l = capacity <= cache_limit ? *class_of(capacity) : NULL;
    while (l && (l->region.mem.capacity < capacity || l->region.mem.capacity - capacity > capacity / 4))
        l = l->next;
    return l;
}

/* Lets the transport reclaim regions that other tasks have returned. */
static void reap(void)
{
    static bool reaping;
    if (!reap_function || reaping)
        return;
    reaping = true;
    reap_function();
    reaping = false;
}

static struct large *large_map_or_shrink(size_t capacity)
{
    struct large *l = large_map(capacity);
    if (l || !cache_all)
        return l;
    cache_shrink(0); /* what is kept for later may be what is missing now */
    return large_map(capacity);
}

static struct region *large_new(size_t capacity)
{
    check_fork();
    capacity = round_large(capacity);
    if (capacity >= REAP_BYTES)
        reap(); /* one region that is used over and over stays in the processor's cache, several in turn do not */
    struct large *l = cache_find(capacity);
    if (!l && capacity < REAP_BYTES) {
        reap();
        l = cache_find(capacity);
    }
    if (l)
        cache_remove(l);
    else
        l = large_map_or_shrink(capacity);
    if (l && l->region.source == SOURCE_ARENA)
        DL_APPEND(lent, l);
    return l ? &l->region : NULL;
}

/* ---- regions ---- */

static struct pvmc_mem *hand_out(struct region *r)
{
    r->mem.refs = 1;
    in_use_bytes += r->mem.capacity;
    return &r->mem;
}

/* Not for small regions, except to report that there is no memory. */
static __attribute__((noinline)) struct pvmc_mem *new_large(size_t capacity)
{
    struct region *r = NULL;
    if (capacity > SMALL_BYTES)
        r = is_large(capacity) ? large_new(capacity) : heap_new(capacity, SOURCE_HEAP);
    if (r)
        return hand_out(r);
    pvmc_log(PVMC_LOG_ERROR, "no memory for a message of %zu bytes", capacity);
    return NULL;
}

struct pvmc_mem *pvmc_mem_new(size_t capacity)
{
    struct region *r = capacity <= SMALL_BYTES ? small_new(capacity) : NULL;
    return r ? hand_out(r) : new_large(capacity);
}

void pvmc_mem_free(struct pvmc_mem *m)
{
    if (m->release) {
        m->release(m);
        return;
    }
    struct region *r = region_of(m);
    in_use_bytes -= m->capacity;
    if (r->source == SOURCE_SMALL)
        small_free(r);
    else if (r->source == SOURCE_HEAP)
        free(r);
    else
        large_free(large_of(r));
}

/* ---- growing ---- */

static bool remap(struct pvmc_mem *m, size_t capacity)
{
    tell_unmap(m);
    void *data = mremap(m->data, m->capacity, capacity, MREMAP_MAYMOVE);
    if (data == MAP_FAILED)
        return false;
    m->data = data;
    m->capacity = capacity;
    return true;
}

/* Grows without copying. Growing adds fresh pages, so a cached region is preferred when there is one. */
static bool grow_in_place(struct pvmc_mem *m, size_t capacity)
{
    struct region *r = region_of(m);
    size_t before = m->capacity;
    check_fork();
    capacity = round_large(capacity);
    if (m->release || r->source < SOURCE_MAPPING || cache_find(capacity))
        return false;
    if (r->source == SOURCE_ARENA && pvmc_block_extend(&large_of(r)->block, capacity))
        m->capacity = capacity;
    else if (r->source == SOURCE_ARENA || arenas_wanted || !remap(m, capacity))
        return false;
    in_use_bytes += m->capacity - before;
    return true;
}

static int grow_copying(struct pvmc_mem **m, size_t used, size_t capacity)
{
    struct pvmc_mem *bigger = pvmc_mem_new(capacity);
    if (!bigger)
        return PVMC_ENOMEM;
    memcpy(bigger->data, (*m)->data, used);
    pvmc_mem_unref(*m);
    *m = bigger;
    return 0;
}

int pvmc_mem_grow(struct pvmc_mem **m, size_t used, size_t capacity)
{
    bool ours = (*m)->refs == 1 && !(*m)->release; /* else it is read only */
    if (ours && ((*m)->capacity >= capacity || grow_in_place(*m, capacity)))
        return 0;
    return grow_copying(m, used, capacity);
}

/* ---- arenas ---- */

static size_t cache_limit_of_task(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    size_t part = pages > 0 ? (size_t)pages * PAGE_BYTES / CACHE_PART : 0;
    return part < CACHE_BYTES ? CACHE_BYTES : part < CACHE_BYTES_MAX ? part : CACHE_BYTES_MAX;
}

int pvmc_mem_use_arenas(void)
{
    struct pvmc_block probe;
    if (arenas_wanted)
        return 0;
    if (!pvmc_block_new(&probe, PVMC_ARENA_BLOCK_MIN)) {
        pvmc_log(PVMC_LOG_INFO, "no shared message memory (memfd): large messages are copied");
        return PVMC_ESYSTEM;
    }
    pvmc_block_free(&probe);
    cache_shrink(0);
    arenas_wanted = true;
    cache_limit = cache_limit_of_task();
    return 0;
}

bool pvmc_mem_locate(const struct pvmc_mem *m, struct pvmc_mem_place *place)
{
    const struct large *l = (const struct large *)m;
    check_fork();
    if (m->release || l->region.source != SOURCE_ARENA)
        return false;
    *place = (struct pvmc_mem_place){.arena = pvmc_block_arena(&l->block), .offset = l->block.offset};
    return true;
}

bool pvmc_mem_arena(unsigned number, struct pvmc_mem_arena *out)
{
    return pvmc_arena_find(number, out);
}

void pvmc_mem_on_shortage(void (*reap)(void))
{
    reap_function = reap;
}

struct pvmc_mem *pvmc_mem_at(const void *at, size_t length)
{
    const uint8_t *first = at;
    struct large *l;
    DL_FOREACH (lent, l) {
        struct pvmc_mem *m = &l->region.mem;
        if (first >= m->data && first < m->data + m->capacity)
            return length <= m->capacity - (size_t)(first - m->data) ? m : NULL;
    }
    return NULL;
}

void pvmc_mem_on_unmap(void (*forget)(const uint8_t *data, size_t bytes))
{
    forget_function = forget;
}

/*
 * Callers hold addresses of the data, so each copy moves to the address of its original. Nothing may be allocated
 * between unmapping the arenas and these moves, since it could land there.
 */
void pvmc_mem_after_fork(void)
{
    struct large *l, *next;
    cache_shrink(0);
    DL_FOREACH (lent, l)
        l->block.data = pvmc_block_copy(&l->block);
    pvmc_arenas_forget();
    DL_FOREACH_SAFE (lent, l, next) {
        struct pvmc_mem *m = &l->region.mem;
        if (l->block.data)
            mremap(l->block.data, m->capacity, m->capacity, MREMAP_MAYMOVE | MREMAP_FIXED, m->data);
        else
            mmap(m->data, m->capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        l->region.source = SOURCE_MAPPING;
    }
    lent = NULL;
}

void pvmc_mem_usage(size_t *in_use, size_t *cached)
{
    *in_use = in_use_bytes - pvmc_mem_parked;
    *cached = cached_bytes + small_cached_bytes() + pvmc_mem_parked;
}

int64_t pvmc_mem_expire(void)
{
    if (!cache_all)
        return 0;
    check_fork();
    int64_t now = now_ms();
    cache_expire(now);
    return cache_all ? cache_all->newer->freed_ms + CACHE_KEPT_MS + 1 - now : 0;
}

void pvmc_mem_trim(void)
{
    check_fork();
    reap();
    cache_shrink(0);
    small_trim();
    pvmc_arenas_trim();
}

__attribute__((destructor)) static void drop_cache(void)
{
    forget_function = NULL; /* its module may be unloaded already */
    pvmc_mem_trim();
}
