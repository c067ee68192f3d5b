/* load.h - the tasks of the load: see load.c. Workers are those of tests/machine/chaos. */
#ifndef LOAD_H
#define LOAD_H

#include "tests/machine/chaos/worker.h"

enum {
    TAG_BEAT = 100, /* clerk or member to load: int count of calls that have returned */
    TAG_FINISH,     /* load to clerk */
    TAG_TASK_EXIT,
    TAG_HOST_DELETE,
};

/* Calls the mailbox all the time and writes its history: clerk FOLDER. */
void clerk(int argc, char **argv);

/* Is in one barrier after the other, and writes their history: member FOLDER COUNT. */
void member(int argc, char **argv);

/* ---- histories: journal.c ---- */

/*
 * A journal is a file of one task, FOLDER/NAME.TID, a line for each event: "I us words" before a call, "R us words"
 * when it has returned. Times are those of CLOCK_MONOTONIC, which all hosts share. A line is written at once, so that a
 * killed task leaves all that it began.
 */
void journal_open(const char *folder, const char *name);
void journal_invoke(const char *format, ...) __attribute__((format(printf, 1, 2)));
void journal_return(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Tells the load, at most twice a second, how many calls have returned. */
void journal_beat(void);

#endif
