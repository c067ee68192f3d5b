/*
 * journal.h - the file in PVM_TMP from which a master's daemon that was killed takes its machine back when it is
 * started again: pvmj.UID[.VMID], mode 0600, because it holds the machine's secret. It exists while the machine has
 * other hosts.
 *
 * Each record is authenticated with the secret, so the file ends, for the reader, with the last whole record.
 */
#ifndef PVMD_JOURNAL_H
#define PVMD_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/buf.h"
#include "pvmd/net/machine.h"

/* Who wrote it. */
struct pvmd_journal_owner {
    struct pvmd_machine machine;
    uint32_t incarnation; /* of the master's host */
    uint32_t next_index;  /* a host index that no other host has heard of */
};

/*
 * Begins a new file, which replaces the present one at pvmd_journal_put(): 0, or a PVMC_E code, logged; then there is
 * no journal.
 */
int pvmd_journal_begin(const struct pvmd_journal_owner *owner);

/* Adds a record; drops the journal if that fails (disk full), which is logged. Does nothing without one. */
void pvmd_journal_add(const struct pvmc_buf *record);

/* The new file is whole. */
void pvmd_journal_put(void);

/* Bytes in it; 0 without one. */
size_t pvmd_journal_bytes(void);

/*
 * Reads the journal of a daemon that was killed. False if there is none, or if it cannot be trusted (logged). The
 * owner's secret is the caller's to wipe. Records are read by pvmd_journal_replay().
 */
bool pvmd_journal_read(struct pvmd_journal_owner *owner);

/* Calls `each` for the records of the file that was read, until it fails; and forgets them. 0 or what `each` returned.
 */
int pvmd_journal_replay(int (*each)(struct pvmc_buf *record));

/* Removes the file: the daemon ends in good order, or is not the master of other hosts any more. */
void pvmd_journal_remove(void);

#endif
