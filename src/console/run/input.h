/* input.h - standard input of pvm run, for the first task or for all. Nothing here waits. */
#ifndef RUN_INPUT_H
#define RUN_INPUT_H

#include <stdbool.h>

/* The tasks that read it; the array stays the caller's. n = 0: nobody does. */
void run_input_start(const int *tids, int n);

/* A descriptor that is readable when run_input_pass() has something to read; -1: not now. */
int run_input_fd(void);

/* Whether what was read last waits for a task that has not taken it: try run_input_pass() again soon. */
bool run_input_is_full(void);

/* Whether the terminal belongs to another job, and may become ours. */
bool run_input_is_elsewhere(void);

/* Passes on what is there. The end of the input ends that of the tasks. */
void run_input_pass(void);

void run_input_stop(void);

#endif
