/*
 * mailbox_store.h - the contents of the mailbox, at the master: classes (names) of entries (index, message). Pure data;
 * who may do what is decided here, who asks and waits in mailbox.c.
 */
#ifndef PVMD_MAILBOX_STORE_H
#define PVMD_MAILBOX_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../core/buf.h"
#include "../core/tid.h"

#define PVMD_MAILBOX_NAME_MAX    1024                /* bytes of a name */
#define PVMD_MAILBOX_NAMES_MAX   ((size_t)4 << 20)   /* bytes of all names */
#define PVMD_MAILBOX_ENTRIES_MAX 65536               /* in all classes */
#define PVMD_MAILBOX_BYTES_MAX   ((size_t)512 << 20) /* of all bodies */
#define PVMD_MAILBOX_OWN_ENTRIES 16384               /* of one owner, while it lives */
#define PVMD_MAILBOX_OWN_BYTES   ((size_t)128 << 20)

struct pvmd_mail {
    int index;
    pvmi_tid owner; /* 0: a persistent entry whose owner has ended */
    uint32_t flags; /* PvmMbox... as put */
    uint32_t enc, dsig;
    uint8_t *data;
    size_t length;
    struct pvmd_mail *prev, *next; /* in order of index */
};

/*
 * Puts a copy of *mail (owner, flags, enc, dsig, data, length). Which index it gets:
 *   index >= 0 and no PvmMboxDirectIndex in flags: that one, which must be free (pvm_insert);
 *   else from the direct index (or 0) on: with MultiInstance the first free one, otherwise that one, which may be taken
 *   over from its owner, or from anybody if that entry is OverWritable.
 * Returns the index, or PvmBadParam, PvmDenied, PvmOutOfRes, PvmNoMem.
 */
int pvmd_mailbox_put(const char *name, int index, const struct pvmd_mail *mail);

/*
 * The entry for pvm_recvinfo: this index, or with FirstAvail the first from there on. *found stays the store's. Returns
 * the index, or PvmBadParam, PvmNotFound, PvmDenied (ReadAndDelete of what `who` may not delete).
 */
int pvmd_mailbox_find(const char *name, int index, uint32_t flags, pvmi_tid who, struct pvmd_mail **found);

/* Removes an entry: its owner may, everybody if it is OverWritable. The index, or an error as above. */
int pvmd_mailbox_remove(const char *name, int index, uint32_t flags, pvmi_tid who);

/* The task has ended: its entries go, persistent ones lose their owner. */
void pvmd_mailbox_owner_ended(pvmi_tid owner);

/* Removes entries of class `name` ("": all) and index (-1: all), except those of these owners, which it sorts. */
void pvmd_mailbox_reset(const char *name, int index, pvmi_tid *spared, size_t count);

/* Writes the classes that match a pattern with `*`, as the answer to NAMES. */
void pvmd_mailbox_put_names(struct pvmi_buf *b, const char *pattern);

/* Calls `each` for all entries: for `tickle 4`. */
void pvmd_mailbox_list(void (*each)(const char *name, const struct pvmd_mail *mail));

/* Whether a pattern, in which `*` stands for any text, occurs anywhere in a name, as PVM has it. */
bool pvmd_mailbox_matches(const char *pattern, const char *name);

void pvmd_mailbox_free_all(void);

#endif
