/*
 * membership.h - the members of the machine as all of them know them: the master publishes its host table after each
 * change, and the others make theirs equal to it.
 */
#ifndef PVMD_MEMBERSHIP_H
#define PVMD_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

/* Master: members have come or gone. Publishes the table as soon as the last change is committed. */
void pvmd_membership_changed(void);

/* Master: whether the members have been told of all changes so far. */
bool pvmd_membership_is_published(void);

/* Master: whether all changes so far are committed. The event tables_committed tells of progress. */
bool pvmd_membership_is_known(void);

/*
 * The incarnation of a new host: a random number that no host of this machine has, and that none that has left is
 * likely to have had. Master only. 0 if there are no random numbers.
 */
uint32_t pvmd_membership_new_incarnation(void);

/* ---- events, start and end ---- */

/* Before any other listener of this event, which may publish. */
void pvmd_membership_master_changed(void);

void pvmd_membership_committed(uint32_t seq);
void pvmd_membership_start(void);
void pvmd_membership_stop(void);

#endif
