/*
 * input.h - the standard input of started processes: pipes that tasks fill by TM_INPUT. One request is kept besides
 * until the pipe has room; who sends more then has to try again (PvmOutOfRes), so nothing fills the daemon's memory.
 */
#ifndef PVMD_INPUT_H
#define PVMD_INPUT_H

#include "pvmd/tasks/tasks.h"

/* Fills a started process's input by fd, which it takes over, until whoever collects its output ends. */
void pvmd_input_new(const struct pvmd_task *task, int fd);

/* The task ends: nobody reads any more. */
void pvmd_input_task_ends(const struct pvmd_task *task);

void pvmd_input_start(void);
void pvmd_input_stop(void);

#endif
