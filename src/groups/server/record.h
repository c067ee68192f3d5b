/*
 * record.h - the groups in the machine's mailbox, from which a new server restores them when the old one has ended.
 *
 * Each group has an entry PVMG_GROUP_RECORD_CLASS followed by its id. It is written before the answers to requests that
 * changed the group are sent, so a new server knows whatever any task has been told. Requests that wait are not
 * recorded: their tasks ask the new server again. Anybody in the machine may write such entries, so restoring trusts
 * nothing: it skips an entry that is not consistent, with a line on stderr.
 */
#ifndef PVMG_RECORD_H
#define PVMG_RECORD_H

#include "roster.h"

/* Writes all changed groups. One that finds no room there is tried again at its next change; a line on stderr tells. */
void pvmg_record_changes(void);

/* A group is about to be dropped: deletes its entry. */
void pvmg_record_erase(struct group *g);

/* Restores all groups, and calls `restored` for each member. Before the first request. */
void pvmg_record_restore(void (*restored)(int tid));

#endif
