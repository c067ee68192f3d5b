/*
 * outbox.h - frames that wait for room on the daemon's link: control messages, which may become due while something
 * else is being sent, and frames of lost links, which are retransmitted (peer.h, `again`).
 */
#ifndef PVMI_OUTBOX_H
#define PVMI_OUTBOX_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/message/frame.h"

/*
 * Sends a control message in one frame, to a task (context TC) or our daemon (TM), now or as soon as there is room. Of
 * `to`, all but the sender counts. `body` is freed here in any case; fd (-1: none) is passed along, and closed. 0 or
 * PVMC_ENOMEM, PVMC_ELIMIT (logged).
 */
int pvmi_outbox_put(const struct pvmc_envelope *to, struct pvmc_buf *body, int fd);

/* Some peer has frames to be retransmitted. */
void pvmi_outbox_resend(void);

/* Sends what there is room for. Returns the number of frames. */
int pvmi_outbox_flush(void);

bool pvmi_outbox_is_empty(void);

/* Brackets a message of several frames to our daemon, which no other frame may interrupt. */
void pvmi_outbox_hold(bool on);
bool pvmi_outbox_is_held(void);

/* Drops all. */
void pvmi_outbox_clear(void);

#endif
