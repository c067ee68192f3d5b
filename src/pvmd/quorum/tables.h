/*
 * tables.h - the tables of the machine that all members keep, so that any of them can become the master: hosts,
 * mailbox, resource manager, keys, and answers that may have to be given again. The quorum (quorum.h) decides which
 * changes hold; this file carries its messages, and makes the changes.
 */
#ifndef PVMD_TABLES_H
#define PVMD_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include "core/buf.h"
#include "pvmd/base/hosts.h"
#include "quorum.h"

enum pvmd_table_kind {
    PVMD_TABLE_NONE, /* a change of nothing: proves that we still lead */
    PVMD_TABLE_HOSTS,
    PVMD_TABLE_ANSWERS,
    PVMD_TABLE_MAILBOX,
    PVMD_TABLE_MANAGER,
    PVMD_TABLE_TOKENS,
    PVMD_TABLE_KEYS,
    PVMD_TABLE_KINDS
};

/* A table, as its owner registers it. */
struct pvmd_table {
    /* Makes a change that the master has made. Reads all of `change`. A PVMC_E code if it cannot. */
    int (*apply)(struct pvmc_buf *change);

    /* Calls `piece` for parts of the table, each below 64 MiB, from which `load` makes it again. */
    void (*save)(void (*piece)(const struct pvmc_buf *part));

    void (*clear)(void);
    int (*load)(struct pvmc_buf *part);
};

void pvmd_table_register(enum pvmd_table_kind kind, const struct pvmd_table *table);

/* ---- start and end: join.c ---- */

/* Call after the host table has our own row. A slave's tables arrive when it has become a member. */
void pvmd_tables_start(void);
void pvmd_tables_stop(void);

/*
 * Instead of pvmd_tables_start(), in a daemon whose predecessor was the master and was killed: has its tables from the
 * journal, calls the other hosts, and asks for their votes. join.c then waits as long as pvmd_tables_are_returning().
 */
void pvmd_tables_return(void);
bool pvmd_tables_are_returning(void);

/* Whether this daemon leads: after a return that has failed, a new machine is due. */
bool pvmd_tables_are_ours(void);

/* ---- at the master ---- */

/* Whether other hosts keep the tables, too. If not, nobody needs the description of a change: it may be empty. */
bool pvmd_tables_are_shared(void);

/*
 * The master has changed a table of this kind: tells the others. Returns the number of the change. `answer` is NULL or
 * what petition.c adds to the change.
 */
uint32_t pvmd_tables_changed(enum pvmd_table_kind kind, const struct pvmc_buf *change, const struct pvmc_buf *answer);

/* As above, for the table of hosts, which says who the members are; only when pvmd_tables_are_settled(). */
void pvmd_tables_hosts_changed(const struct pvmc_buf *change);

/*
 * Others are about to hear of hosts to which this master has given indices: a daemon that comes back from the journal
 * takes none of these.
 */
void pvmd_tables_indices_given(void);

/* Whether members may change: the last change of them is committed, and so is our first one as master. */
bool pvmd_tables_are_settled(void);

/* Whether this change is committed. The event tables_committed tells of progress. */
bool pvmd_tables_have_committed(uint32_t seq);

/* ---- at any daemon ---- */

/* Whether the link to the master is lost and no other daemon leads yet. */
bool pvmd_tables_are_leaderless(void);

/* Whether this host joins, and has no tables yet. */
bool pvmd_tables_are_awaited(void);

/*
 * The master's link is lost for good, at a slave. The members elect another master (event master_changed), or this
 * daemon ends. `proven`: its daemon has ended.
 */
void pvmd_tables_master_lost(const char *why, bool proven);

/* The daemon of this host has provably ended; it was not only silent. */
void pvmd_tables_host_dead(const struct pvmd_host *host);

#endif
