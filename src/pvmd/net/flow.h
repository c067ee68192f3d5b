/*
 * flow.h - the frames of a link: those that wait, those that were sent and are kept until the other side has counted
 * them, and the counts of received ones. Only link.c calls these functions.
 */
#ifndef PVMD_FLOW_H
#define PVMD_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include "core/message/frame.h"

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

/* One frame has arrived; asked: its sender wants to know the count at once. */
void pvmd_flow_received(struct pvmd_link *l, bool asked);

/* The other side has received our frames before `count`. PVMC_EFORMAT: it cannot have, logged. */
int pvmd_flow_counted(struct pvmd_link *l, uint32_t count);

/* A new connection begins: everything that the other side has not counted is sent again. */
void pvmd_flow_restart(struct pvmd_link *l);

/* Drops all frames. */
void pvmd_flow_clear(struct pvmd_link *l);

#endif
