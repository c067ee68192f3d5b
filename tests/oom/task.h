/* task.h - shared by the tasks of these tests: steps that may fail, and a task that echoes messages. */
#ifndef TASK_H
#define TASK_H

#include <stdbool.h>
#include <stdio.h> /* before pvm3.h: for pvm_catchout() */
#include <stdlib.h>
#include "pvm3.h"

enum { TAG_DATA = 1, TAG_END, TAG_NOTE, TAG_HOST };

/* In a function that returns the line of the first failed step, or 0. OOM_SHOW=1 also prints it. */
#define TRY(condition)                                                                                                 \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            if (getenv("OOM_SHOW"))                                                                                    \
                fprintf(stderr, "%s:%d: %s (%d)\n", __FILE__, __LINE__, #condition, pvm_errno);                        \
            return __LINE__;                                                                                           \
        }                                                                                                              \
    } while (0)

/* Enrols quietly, with a time limit for the process. */
bool task_enrol(void);

/*
 * Receives a message from `tid` with this tag within a time limit, which is short when an allocation has failed, unless
 * the task is patient.
 */
bool task_receive(int tid, int tag);
void task_be_patient(void);

/* The whole life of a task that echoes messages, until one has TAG_END or its parent has ended. */
int task_echo(void);

/*
 * Starts copies of this program with the argument "echo" on `host` (NULL: anywhere), and ends them; true if all
 * started.
 */
bool task_spawn(char *host, int count, int *tids);
void task_end(int count, int *tids);

/* Leaves the machine in the middle: kills started tasks, since pvm_exit() may wait for their output. */
void task_leave(void);

/* The path of this program. */
char *task_program(void);

#endif
