/*
 * collect.h - the collector: a task that receives the trace of a program and writes it to a file until the program has
 * ended. libpvm (tracefile.c) starts it as `pvm-trace collect FILE CONTEXT`.
 */
#ifndef COLLECT_H
#define COLLECT_H

/* The messages of a collector, all in the context that its mailbox entry names. */
enum collect_tag {
    COLLECT_TRACE = 1,  /* events; what tasks set as PvmTraceCode */
    COLLECT_ENDED = 2,  /* pvm_notify(): a task has ended */
    COLLECT_DETACH = 3, /* from a task that is not part of the program (the console): do not wait for it */
};

/* Collects into `path`; says in `context` to the parent how it starts: a code and a text. Returns the exit code. */
int collect(const char *path, int context);

#endif
