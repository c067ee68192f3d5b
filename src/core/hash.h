/*
 * hash.h - uthash, as all of us include it: memory that runs out costs the element, never the process. HASH_FIND,
 * HASH_ITER, HASH_DELETE and the like are used as uthash has them; what adds an element is here.
 */
#ifndef PVMI_HASH_H
#define PVMI_HASH_H

#define HASH_NONFATAL_OOM 1
#include <stdbool.h>
#include <string.h>
#include <uthash.h>

__attribute__((warn_unused_result)) static inline bool pvmi_hash_is_in(const UT_hash_handle *handle)
{
    return handle->tbl;
}

/*
 * Adds `element` to the table `head` by its member `field`, which it may not change from then on; `hh` is the handle
 * that this table uses. False: memory is out, the table is as it was, and the element still the caller's alone; it must
 * not be deleted from the table then.
 */
#define PVMI_HASH_ADD(hh, head, field, element)                                                                        \
    __extension__({                                                                                                    \
        HASH_ADD(hh, head, field, sizeof((element)->field), (element));                                                \
        pvmi_hash_is_in(&(element)->hh);                                                                               \
    })

/* The same for a text, which `field` is or points to. */
#define PVMI_HASH_ADD_TEXT(hh, head, field, element)                                                                   \
    __extension__({                                                                                                    \
        HASH_ADD_KEYPTR(hh, head, (element)->field, strlen((element)->field), (element));                              \
        pvmi_hash_is_in(&(element)->hh);                                                                               \
    })

#endif
