/*
 * overrun.h - tasks that keep sending to a receiver although they were told to hold. Every libpvm stops then. From a
 * task that does not, the daemon stops reading before it fills the memory of its own daemon and the receiver's. Its own
 * daemon enforces this wherever the receiver is, because HOLD and RELEASE pass through it.
 */
#ifndef PVMD_OVERRUN_H
#define PVMD_OVERRUN_H

#include <stdbool.h>
#include "core/message/frame.h"
#include "tasks.h"

/* HOLD or RELEASE is being sent to this task. Called by delivery.c. */
void pvmd_overrun_told(struct pvmd_task *task, const struct pvmc_frame *f);

/*
 * Counts a frame of this task. Called by clients.c for each frame while the task must hold for any receiver. Once too
 * much has arrived for a receiver, the task is paused until that receiver is released. False: the frame must be
 * dropped. That happens to control messages, with which libraries answer others even while they hold; they must not
 * cause a pause.
 */
bool pvmd_overrun_takes(struct pvmd_task *task, const struct pvmc_frame_header *h);

/* Counts bytes that this daemon sent on a task's behalf to a receiver for which the task must hold. */
void pvmd_overrun_charge(pvmc_tid sender, pvmc_tid receiver, size_t bytes);

/* Forgets holds on that host and its tasks, which will send no release. */
void pvmd_overrun_host_left(unsigned index);

/* The task will send nothing more. */
void pvmd_overrun_clear(struct pvmd_task *task);

#endif
