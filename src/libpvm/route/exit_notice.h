/*
 * exit_notice.h - delays the notice that a task has ended until the last frames on direct links to it have arrived, so
 * that what the task sent before its end is received before the notice.
 */
#ifndef PVMI_EXIT_NOTICE_H
#define PVMI_EXIT_NOTICE_H

#include <stdbool.h>
#include <stdint.h>
#include "core/message/message.h"
#include "libpvm/engine/peer.h"

/*
 * Takes over a daemon's message (and the reference) if it is a notification or trace event of the end of a task that
 * still has a link.
 */
bool pvmi_exit_notice_take(struct pvmc_message *m);

/*
 * The daemon reports the end of p, which p's links may not see. They are closed after a delay in which frames of p can
 * still arrive.
 */
void pvmi_exit_notice_note(struct pvmi_peer *p);

/* While on, no notice is delayed: when pvm_notify() cancels requests, their messages report no end. */
void pvmi_exit_notice_bypass(bool on);

/*
 * From now on, no notice is delayed: for the group server, to which what a dead task sent no longer matters. Whoever
 * knows of the end may start a successor, whose requests the delayed notice would come after.
 */
void pvmi_exit_notice_never_delay(void);

/* The links to this task are down: delivers its notices. */
void pvmi_exit_notice_deliver(pvmc_tid tid);

/*
 * Delivers notices that have waited too long: a host may be unreachable for a link but not for its daemon. Returns
 * their number.
 */
int pvmi_exit_notice_expire(int64_t now_us);

/* Drops all. */
void pvmi_exit_notice_clear(void);

#endif
