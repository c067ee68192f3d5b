/*
 * mem.h - message memory: counted regions that hold message bodies. A transport may send straight from a region, and
 * keeps a reference while it does. Regions come from a cache, so that large messages do not pay for fresh pages each
 * time.
 *
 * In tasks the large regions lie in arenas: sealed memfds that other tasks of this host can map, so that a message
 * moves between them as a reference. A region that a transport mapped from another task is a pvmi_mem as well.
 */
#ifndef PVMI_MEM_H
#define PVMI_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pvmi_mem {
    uint8_t *data;
    size_t capacity; /* bytes usable at data */
    unsigned refs;
    void (*release)(struct pvmi_mem *m); /* NULL: our own. Else another's: read only; called instead of freeing it */
};

/* Where a region lies in an arena, for a transport that hands it to another task of this host. */
struct pvmi_mem_place {
    unsigned arena;  /* number of the arena in this process, see pvmi_mem_arena() */
    uint64_t offset; /* of the region's first byte in it */
};

struct pvmi_mem_arena {
    int fd;         /* sealed: it neither shrinks nor grows. Stays mem.c's. */
    uint64_t bytes; /* its size */
};

/* A region of at least `capacity` bytes with one reference, not cleared; NULL when out of memory. */
struct pvmi_mem *pvmi_mem_new(size_t capacity);

/* One reference more; returns m. */
struct pvmi_mem *pvmi_mem_ref(struct pvmi_mem *m);

/* Gives a reference back; the last one frees the region. NULL is allowed. */
void pvmi_mem_unref(struct pvmi_mem *m);

/*
 * A region of at least `capacity` bytes that holds the first `used` bytes of *m: grown in place when the caller has the
 * only reference, a copy otherwise (the old reference is given back). Returns 0 or PVMI_ENOMEM with *m as it was.
 */
int pvmi_mem_grow(struct pvmi_mem **m, size_t used, size_t capacity);

/*
 * From now on large regions come from arenas. Called once by tasks whose transports can pass references; a daemon does
 * not. 0, or PVMI_ESYSTEM: no memfds here (logged as info), all stays as it was.
 */
int pvmi_mem_use_arenas(void);

/*
 * As memcpy(), for some kilobytes and more. The string instruction that memcpy() takes for them is five times slower
 * than a loop where the two addresses differ by a little modulo 4096 (AMD Zen 3), which is the rule between arenas,
 * whose regions begin on pages, and malloc'd data, which begin 16 bytes behind; and from about 200 KiB on memcpy() goes
 * past the caches that the receiver is about to read.
 */
void pvmi_mem_copy(void *to, const void *from, size_t length);

/* Where m lies; false when it is in no arena (small, another's, or made before pvmi_mem_use_arenas()). */
bool pvmi_mem_locate(const struct pvmi_mem *m, struct pvmi_mem_place *place);

/* The arena of a place; valid as long as a region of it is in use. False when there is none of that number. */
bool pvmi_mem_arena(unsigned number, struct pvmi_mem_arena *out);

/*
 * Called when a large region is wanted and none is cached, before fresh pages are taken, and by pvmi_mem_trim(): the
 * transport that lends regions to other tasks gives back those that they have returned.
 */
void pvmi_mem_on_shortage(void (*reap)(void));

/* The region in use, of an arena, in which `length` bytes at `at` lie whole; NULL: none. Takes no reference. */
struct pvmi_mem *pvmi_mem_at(const void *at, size_t length);

/*
 * Called before large regions are given back to the system or moved: who registered them with a device forgets them.
 * Also called in forked children, which must leave their parent's registrations alone.
 */
void pvmi_mem_on_unmap(void (*forget)(const uint8_t *data, size_t bytes));

/* In a forked child: forgets the arenas, which stay the parent's; regions that are in use become private copies. */
void pvmi_mem_after_fork(void);

/* Bytes in regions in use and bytes cached: for tests and pvm-info. */
void pvmi_mem_usage(size_t *in_use, size_t *cached);

/* Gives all cached regions back to the system. */
void pvmi_mem_trim(void);

#endif
