/*
 * election.h - when to ask for votes, and when to give up: the clock of the quorum. Runs from the loss of the master
 * until another one leads.
 */
#ifndef PVMD_ELECTION_H
#define PVMD_ELECTION_H

#include <stdbool.h>
#include "quorum.h"

/*
 * The master is lost; `why` is for the log. If nobody leads when 1.2 times PVM_HOST_TIMEOUT have passed since it was
 * last heard, `heard_us` (pvmc_clock_us()), this daemon ends.
 */
void pvmd_election_begin(struct pvmd_quorum *q, int64_t heard_us, const char *why);

/* Another daemon leads, or we do. */
void pvmd_election_end(void);

bool pvmd_election_is_on(void);

#endif
