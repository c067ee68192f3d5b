/*
 * hash.h - uthash, configured so that running out of memory loses the new element and not the process. Include this
 * instead of uthash.h, and add elements with the macros below only; the rest of uthash is used unchanged.
 */
#ifndef PVMC_HASH_H
#define PVMC_HASH_H

#define HASH_NONFATAL_OOM 1
#include <stdbool.h>
#include <string.h>
#include <uthash.h>

__attribute__((warn_unused_result)) static inline bool pvmc_hash_is_in(const UT_hash_handle *handle)
{
    return handle->tbl;
}

/*
 * Adds `element` to the table `head` under its member `field`, which must not change while it is there; `hh` is the
 * handle for this table. False when out of memory: the table is unchanged, the caller still owns the element and must
 * not delete it from the table.
 */
#define PVMC_HASH_ADD(hh, head, field, element)                                                                        \
    __extension__({                                                                                                    \
        HASH_ADD(hh, head, field, sizeof((element)->field), (element));                                                \
        pvmc_hash_is_in(&(element)->hh);                                                                               \
    })

/* The same for a key that is a text: `field` is a char array or points to one. */
#define PVMC_HASH_ADD_TEXT(hh, head, field, element)                                                                   \
    __extension__({                                                                                                    \
        HASH_ADD_KEYPTR(hh, head, (element)->field, strlen((element)->field), (element));                              \
        pvmc_hash_is_in(&(element)->hh);                                                                               \
    })

#endif
