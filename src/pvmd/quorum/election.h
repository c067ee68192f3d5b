/*
 * election.h - when to ask for votes, and when to give up: the clock of the quorum. Runs from the loss of the master
 * until another one leads.
 */
#ifndef PVMD_ELECTION_H
#define PVMD_ELECTION_H

#include <stdbool.h>
#include "quorum.h"

/*
 * There is no master. Asks for votes every `retry_s` seconds, and up to as many more at random. If nobody leads after
 * `notice_s`, in which all members notice that, and `election_s`, calls `given_up`. The times other than `notice_s`
 * are for at most 64 members, and grow in proportion to more. The others ask one after the other (delay.h), but a
 * master that `returns` asks at once: it is to overtake them.
 */
void pvmd_election_begin(struct pvmd_quorum *q, double retry_s, double notice_s, double election_s, bool returns,
                         void (*given_up)(void));

/* Another daemon leads, or we do. */
void pvmd_election_end(void);

bool pvmd_election_is_on(void);

#endif
