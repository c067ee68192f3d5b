/*
 * exit_notice.h - holds back the news that a task has ended until the last frames on direct links to it are in: what
 * the task sent before its end is received before the news.
 */
#ifndef PVMI_EXIT_NOTICE_H
#define PVMI_EXIT_NOTICE_H

#include <stdbool.h>
#include <stdint.h>
#include "core/message/message.h"
#include "libpvm/engine/peer.h"

/*
 * Takes a daemon's message (and the reference) if it is a notification or trace event of the end of a task that still
 * has a link.
 */
bool pvmi_exit_notice_take(struct pvmc_message *m);

/*
 * A daemon reports the end of p, which p's links may not see. They are closed as soon as what p has sent had time to be
 * taken in.
 */
void pvmi_exit_notice_note(struct pvmi_peer *p);

/* While on, nothing is held back: when pvm_notify() cancels requests, their messages tell of no end. */
void pvmi_exit_notice_bypass(bool on);

/* The links to this task are down: delivers the news of it. */
void pvmi_exit_notice_deliver(pvmc_tid tid);

/*
 * Delivers news that has waited too long: a host may be out of reach for a link but not for its daemon. Returns how
 * many.
 */
int pvmi_exit_notice_expire(int64_t now_us);

/* Drops all. */
void pvmi_exit_notice_clear(void);

#endif
