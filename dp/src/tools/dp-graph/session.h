/* session.h - the traffic of one process of a graph, as lines on standard input and output or by a command. */
#ifndef SESSION_H
#define SESSION_H

#include "dp_graph.h"

struct session_options {
    char **command; /* NULL: uses standard input and output */
    long messages;  /* end after this many received messages; 0: never */
    long seconds;   /* end after this many seconds; 0: never */
};

/*
 * Opens the process and passes messages until a limit of `options`, the end of the command, or SIGINT or SIGTERM. On
 * SIGHUP it changes to the graph that reread(context) returns, unless that is NULL. Returns the exit status: the
 * command's, or 1 after a message on stderr.
 */
int session_run(const struct dp_graph *graph, const char *process, const struct session_options *options,
                struct dp_graph *(*reread)(void *context), void *context);

#endif
