/* loop.c - see loop.h. A table is one block that libev allocates; libev never has more than two dozen. */
#include "loop.h"
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "core/error.h"

enum {
    TABLES = 32,
    TIMERS_MAX = 1 << 15,     /* without a descriptor: for hosts that join, leave, or are lost */
    ELEMENT_BYTES_MAX = 16,   /* of any table */
    ROUNDING_BYTES_MAX = 8192 /* libev doubles a table, and rounds it up to pages */
};

static struct {
    char *base; /* of the first table; the others follow */
    size_t bytes;
    size_t used[TABLES]; /* 0: the place is free */
} tables;

static size_t table_bytes(void)
{
    struct rlimit descriptors;
    if (getrlimit(RLIMIT_NOFILE, &descriptors) || descriptors.rlim_cur > PVMD_DESCRIPTORS_MAX)
        descriptors.rlim_cur = PVMD_DESCRIPTORS_MAX;
    return 2 * ELEMENT_BYTES_MAX * ((size_t)descriptors.rlim_cur + TIMERS_MAX) + ROUNDING_BYTES_MAX;
}

static int reserve(void)
{
    if (tables.base)
        return 0;
    tables.bytes = (table_bytes() + 4095) & ~(size_t)4095;
    void *base =
        mmap(NULL, TABLES * tables.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return PVMC_ENOMEM;
    tables.base = base;
    return 0;
}

static unsigned free_place(void)
{
    unsigned i = 0;
    while (i < TABLES && tables.used[i])
        i++;
    return i;
}

static void *release(unsigned place)
{
    madvise(tables.base + place * tables.bytes, tables.used[place], MADV_DONTNEED);
    tables.used[place] = 0;
    return NULL;
}

/* Serves libev as realloc(). Returns NULL beyond the reserved space, and libev aborts; it never needs that much. */
static void *place_table(void *table, long bytes)
{
    unsigned place = table ? (unsigned)((size_t)((char *)table - tables.base) / tables.bytes) : free_place();
    if (table && !bytes)
        return release(place);
    if (!bytes || place == TABLES || (size_t)bytes > tables.bytes)
        return NULL;
    tables.used[place] = (size_t)bytes;
    return tables.base + place * tables.bytes;
}

struct ev_loop *pvmd_loop_new(void)
{
    if (reserve())
        return NULL;
    ev_set_allocator(place_table);
    return ev_default_loop(EVFLAG_AUTO);
}
