/*
 * task.h - what the tasks of these tests share: steps that may fail, and a task that gives back what it gets.
 */
#ifndef TASK_H
#define TASK_H

#include <stdbool.h>
#include <stdio.h> /* before pvm3.h: for pvm_catchout() */
#include <stdlib.h>
#include "pvm3.h"

enum { TAG_DATA = 1, TAG_END, TAG_NOTE, TAG_HOST };

/* In a function that returns the line of the first step that failed, 0 for none. OOM_SHOW=1 prints it, too. */
#define TRY(condition)                                                                                                 \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            if (getenv("OOM_SHOW"))                                                                                    \
                fprintf(stderr, "%s:%d: %s (%d)\n", __FILE__, __LINE__, #condition, pvm_errno);                        \
            return __LINE__;                                                                                           \
        }                                                                                                              \
    } while (0)

/* Quietly, and with a time limit for the process: becomes a task. */
bool task_enrol(void);

/* A message from `tid` with this tag, in time; that is short when an allocation has failed, unless the task is patient.
 */
bool task_receive(int tid, int tag);
void task_be_patient(void);

/* The whole life of a task that gives back what it gets, until that has TAG_END or its parent has ended. */
int task_echo(void);

/* Starts copies of this program with the argument "echo" on `host` (NULL: anywhere); true if all came. Ends them. */
bool task_spawn(char *host, int count, int *tids);
void task_end(int count, int *tids);

/* Leaves the machine in the middle: what was started is killed, since pvm_exit() may wait for its output. */
void task_leave(void);

/* The path of this program. */
char *task_program(void);

#endif
