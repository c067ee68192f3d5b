/*
 * flow.h - the frames of a link: those that wait, those that were sent and are kept until the other side has counted
 * them, and the counts of received ones. Only link.c calls these functions.
 */
#ifndef PVMD_FLOW_H
#define PVMD_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include "core/message/frame.h"
#include "pvmd/base/events.h"

struct pvmd_link;

/*
 * Queues a frame (keeps a reference) and sends it at the end of the loop's turn if the link is UP or RELAYED. 0, or an
 * error of pvmd_queue_push().
 */
int pvmd_flow_put(struct pvmd_link *l, struct pvmc_frame *f);

/* Flushes the link at the end of the loop's turn, so that frames leave together. */
void pvmd_flow_mark(struct pvmd_link *l);

/* Sends what can be sent now. */
void pvmd_flow_flush(struct pvmd_link *l);

/* One more frame of the other side has arrived; asked: its sender wants to know the count at once. */
void pvmd_flow_received(struct pvmd_link *l, bool asked);

/* Whether this is the next frame of a RELAYED link: the master may have lost one, and some are sent twice. */
bool pvmd_flow_is_next(const struct pvmd_link *l, const struct pvmc_frame *f);

/* Asks the other side of a RELAYED link for its count. Until it answers nothing is sent. */
void pvmd_flow_ask(struct pvmd_link *l);

/* A second time unless frames have got across since the first: the frame, the question or the answer may be lost. */
void pvmd_flow_ask_again(struct pvmd_link *l);

/* The other side has received our frames before `count`. PVMC_EFORMAT: it cannot have, logged. */
int pvmd_flow_counted(struct pvmd_link *l, uint32_t count);

/*
 * The other side of a RELAYED link has received our frames before `count`. If that answers our question, the frames
 * from there on are sent again.
 */
void pvmd_flow_told(struct pvmd_link *l, uint32_t count, enum pvmd_count kind);

/* A new connection begins: everything that the other side has not counted is sent again. */
void pvmd_flow_restart(struct pvmd_link *l);

/* Drops all frames. */
void pvmd_flow_clear(struct pvmd_link *l);

#endif
