/*
 * mailbox_store.h - the contents of the mailbox, which all members keep: classes (names) of entries (index, message).
 * Data and permissions only; requests, and tasks that wait, are in mailbox.c.
 */
#ifndef PVMD_MAILBOX_STORE_H
#define PVMD_MAILBOX_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/buf.h"
#include "core/message/tid.h"

#define PVMD_MAILBOX_NAME_MAX    1024                /* bytes of a name */
#define PVMD_MAILBOX_NAMES_MAX   ((size_t)4 << 20)   /* bytes of all names */
#define PVMD_MAILBOX_ENTRIES_MAX 65536               /* in all classes */
#define PVMD_MAILBOX_BYTES_MAX   ((size_t)512 << 20) /* of all bodies */
#define PVMD_MAILBOX_OWN_ENTRIES 16384               /* of one owner, while it lives */
#define PVMD_MAILBOX_OWN_BYTES   ((size_t)128 << 20)

struct pvmd_mail {
    int index;
    pvmc_tid owner; /* 0: a persistent entry whose owner has ended */
    pvmc_tid src;   /* the task that put it, and may have ended */
    uint32_t flags; /* PvmMbox... as put */
    uint32_t enc, dsig;
    uint8_t *data;
    size_t length;
    struct pvmd_mail *prev, *next; /* in order of index */
};

/*
 * Puts a copy of *mail (owner, src, flags, enc, dsig, data, length). Its index:
 *   with index >= 0 and without PvmMboxDirectIndex in flags: that index, which must be free (pvm_insert);
 *   else, with MultiInstance, the first free one from the direct index (or 0) on; otherwise that index itself, whose
 *   entry its owner may replace, and everybody if it is OverWritable.
 * Returns the index, or PvmBadParam, PvmDenied, PvmOutOfRes, PvmNoMem.
 */
int pvmd_mailbox_put(const char *name, int index, const struct pvmd_mail *mail);

/*
 * Finds the entry for pvm_recvinfo: the one with this index or, with FirstAvail, the first from there on. *found stays
 * the store's. Returns the index, or PvmBadParam, PvmNotFound, PvmDenied (ReadAndDelete of an entry that `who` may not
 * delete).
 */
int pvmd_mailbox_find(const char *name, int index, uint32_t flags, pvmc_tid who, struct pvmd_mail **found);

/* Removes an entry: its owner may, and everybody if it is OverWritable. Returns the index, or an error as above. */
int pvmd_mailbox_remove(const char *name, int index, uint32_t flags, pvmc_tid who);

/* The task has ended: removes its entries; persistent ones lose their owner. */
void pvmd_mailbox_owner_ended(pvmc_tid owner);

/* Removes entries of class `name` ("": all) and index (-1: all), but not those of the owners given; sorts the owners.
 */
void pvmd_mailbox_reset(const char *name, int index, pvmc_tid *spared, size_t count);

/* At members that are not the master: puts an entry as it is there, or removes one. PvmNoMem, or 0. */
int pvmd_mailbox_place(const char *name, const struct pvmd_mail *mail);
void pvmd_mailbox_take_out(const char *name, int index);

/* Writes the classes that match a pattern with `*`, as the answer to NAMES. */
void pvmd_mailbox_put_names(struct pvmc_buf *b, const char *pattern);

/* Calls `each` for all entries. */
void pvmd_mailbox_list(void (*each)(const char *name, const struct pvmd_mail *mail));

/* Whether a pattern, in which `*` stands for any text, matches anywhere in a name, as in PVM. */
bool pvmd_mailbox_matches(const char *pattern, const char *name);

void pvmd_mailbox_free_all(void);

#endif
