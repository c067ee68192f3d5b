/*
 * overrun.h - tasks that go on sending to receivers that they were told to hold. Every libpvm stops; a task that does
 * not is not read any more, before it fills the memory of its daemon and of the receiver's. Its own daemon sees to
 * that, wherever the receiver is: the words HOLD and RELEASE come through it.
 */
#ifndef PVMD_OVERRUN_H
#define PVMD_OVERRUN_H

#include <stdbool.h>
#include "../core/frame.h"
#include "tasks.h"

/* HOLD or RELEASE is on its way to this task. Called by relay.c. */
void pvmd_overrun_told(struct pvmd_task *task, const struct pvmi_frame *f);

/*
 * Counts a frame of this task; called by clients.c for each while the task holds anything. Once too much has come for a
 * receiver, the task is paused until that is released. False: the frame is to be dropped, which control messages are
 * then: libraries answer others' with them, held or not, and shall not be paused for that.
 */
bool pvmd_overrun_takes(struct pvmd_task *task, const struct pvmi_frame_header *h);

/* What this daemon has sent for a task to a receiver that the task was told to hold. Called by queue.c. */
void pvmd_overrun_charge(pvmi_tid sender, pvmi_tid receiver, size_t bytes);

/* That host will release nobody any more. */
void pvmd_overrun_host_left(unsigned index);

/* The task sends no more. */
void pvmd_overrun_clear(struct pvmd_task *task);

#endif
