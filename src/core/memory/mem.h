/*
 * mem.h - message memory: reference-counted regions that hold message bodies. A transport may send straight from a
 * region and holds a reference while it does. Freed regions are cached, so that large messages do not fault in fresh
 * pages every time.
 *
 * In a task large regions lie in arenas: sealed memfds that other tasks on this host can map, so that a message passes
 * between them by reference. A region that a transport has mapped from another task is a pvmc_mem as well.
 */
#ifndef PVMC_MEM_H
#define PVMC_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pvmc_mem {
    uint8_t *data;
    size_t capacity; /* bytes usable at data */
    unsigned refs;
    void (*release)(struct pvmc_mem *m); /* NULL: our own region. Else it is foreign and read-only, and is released
                                            by this call */
};

/* Where a region lies in an arena, for a transport that hands it to another task of this host. */
struct pvmc_mem_place {
    unsigned arena;  /* number of the arena in this process, see pvmc_mem_arena() */
    uint64_t offset; /* of the region's first byte in the arena */
};

struct pvmc_mem_arena {
    int fd;         /* sealed against shrinking and growing; mem.c keeps it */
    uint64_t bytes; /* its size */
};

/* A new region of at least `capacity` bytes with one reference, not cleared; NULL when out of memory. */
struct pvmc_mem *pvmc_mem_new(size_t capacity);

/* Adds a reference and returns m. */
static inline struct pvmc_mem *pvmc_mem_ref(struct pvmc_mem *m)
{
    m->refs++;
    return m;
}

/* For pvmc_mem_unref(): frees a region without references. */
void pvmc_mem_free(struct pvmc_mem *m);

/* Drops a reference; the last one frees the region. NULL is allowed. */
static inline void pvmc_mem_unref(struct pvmc_mem *m)
{
    if (m && !--m->refs)
        pvmc_mem_free(m);
}

#define PVMC_MEM_PARK_BYTES 256 /* capacity */

extern size_t pvmc_mem_parked; /* bytes */

/*
 * Parks a small region to which the caller has the only reference, so that he can use it again: until then it counts as
 * cached. False: not this region. With the address sanitizer none is parked, so that it sees each use after the end.
 */
static inline bool pvmc_mem_park(const struct pvmc_mem *m)
{
#ifdef __SANITIZE_ADDRESS__
    return false;
#endif
    if (m->refs != 1 || m->release || m->capacity > PVMC_MEM_PARK_BYTES)
        return false;
    pvmc_mem_parked += m->capacity;
    return true;
}

static inline void pvmc_mem_unpark(const struct pvmc_mem *m)
{
    pvmc_mem_parked -= m->capacity;
}

/*
 * Makes *m a region of at least `capacity` bytes with its first `used` bytes preserved. Grows in place when the caller
 * holds the only reference; otherwise copies and drops the old reference. 0, or PVMC_ENOMEM with *m unchanged.
 */
int pvmc_mem_grow(struct pvmc_mem **m, size_t used, size_t capacity);

/*
 * Allocates large regions from arenas from now on. Called by tasks whose transports can pass references, never by a
 * daemon. 0, or PVMC_ESYSTEM (logged as info) with nothing changed when the system has no memfds.
 */
int pvmc_mem_use_arenas(void);

/* Where m lies; false when it is in no arena (small, foreign, or allocated before pvmc_mem_use_arenas()). */
bool pvmc_mem_locate(const struct pvmc_mem *m, struct pvmc_mem_place *place);

/* The arena with this number, valid while one of its regions is in use; false when there is none. */
bool pvmc_mem_arena(unsigned number, struct pvmc_mem_arena *out);

/*
 * Sets the function that reclaims regions which other tasks have returned to a transport. It is called by
 * pvmc_mem_trim(), and when a large region is wanted and none is cached, before fresh pages are taken.
 */
void pvmc_mem_on_shortage(void (*reap)(void));

/* The region in use, in an arena, that contains all `length` bytes at `at`; NULL if none does. Takes no reference. */
struct pvmc_mem *pvmc_mem_at(const void *at, size_t length);

/*
 * Sets the function that is called before a large region is unmapped or moved, so that a transport drops its
 * registration with a device. It is also called in forked children, which must leave their parent's registrations
 * alone.
 */
void pvmc_mem_on_unmap(void (*forget)(const uint8_t *data, size_t bytes));

/* In a forked child: leaves the arenas to the parent and replaces the regions in use by private copies. */
void pvmc_mem_after_fork(void);

/* Bytes of the regions in use and of those cached: for tests and pvm-info. */
void pvmc_mem_usage(size_t *in_use, size_t *cached);

/*
 * Returns those large cached regions to the system that have not been needed for two seconds. Freeing a large region
 * does the same, so a task need only call it before it sleeps. Returns after how many milliseconds to call it again; 0:
 * nothing large is cached.
 */
int64_t pvmc_mem_expire(void);

/* Returns all cached regions to the system. */
void pvmc_mem_trim(void);

#endif
