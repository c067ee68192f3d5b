/* verdict.h - how the tasks of pvm run have ended: what it says, and its exit code. */
#ifndef RUN_VERDICT_H
#define RUN_VERDICT_H

#include <stdbool.h>

enum { RUN_TIMED_OUT = 124, RUN_SIGNALLED = 128 };

/* A task's process has ended with this wait status. Says so if it has failed, unless we have ended it. */
void run_verdict_take(int tid, int status);

/* From now on we end the tasks: how they end tells nothing. */
void run_verdict_close(void);

/* Whether a task has failed so far. */
bool run_verdict_failed(void);

/* The largest code of all tasks that have failed, or 0. */
int run_verdict_code(void);

#endif
