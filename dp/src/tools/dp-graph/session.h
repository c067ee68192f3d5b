/* session.h - the traffic of one process of a graph: lines in, lines out, by hand or by a command. */
#ifndef SESSION_H
#define SESSION_H

#include "dp_graph.h"

struct session_options {
    char **command; /* NULL: standard input and output are used */
    long messages;  /* end when so many have come; 0: never */
    long seconds;   /* end after so long; 0: never */
};

/*
 * Opens the process and passes messages until a limit of `options`, the end of the command, or SIGINT or SIGTERM. On
 * SIGHUP it changes to the graph that reread(context) gives, if it gives one. Returns the status to exit with: the
 * command's, or 1 with an error told on stderr.
 */
int session_run(const struct dp_graph *graph, const char *process, const struct session_options *options,
                struct dp_graph *(*reread)(void *context), void *context);

#endif
