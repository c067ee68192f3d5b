/*
 * collect.h - the collector: a task that receives a program's trace events and writes them to a file until the program
 * ends. libpvm (tracefile.c) starts it as `pvm-trace collect FILE CONTEXT`.
 */
#ifndef COLLECT_H
#define COLLECT_H

/* Messages to the collector, in the context that its mailbox entry names. */
enum collect_tag {
    COLLECT_TRACE = 1,  /* events; the PvmTraceCode of tasks */
    COLLECT_ENDED = 2,  /* from pvm_notify(): a task has ended */
    COLLECT_DETACH = 3, /* the sender (the console) is not part of the program: do not wait for it */
};

/* Collects into `path`. Sends the parent a code and a text in `context` when started. Returns the exit code. */
int collect(const char *path, int context);

#endif
