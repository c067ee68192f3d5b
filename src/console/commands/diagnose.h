/*
 * diagnose.h - says what to do when a host could not be added.
 *
 * libpvm itself prints the daemon's reason. The remedy comes from the daemon's log (on the master's host), or from a
 * trial: running a command on the host in the way the daemon does.
 */
#ifndef DIAGNOSE_H
#define DIAGNOSE_H

struct log_mark;

/* Records the current end of the daemon's log, before pvm_addhosts(). May be NULL; free it with diagnose_end(). */
struct log_mark *diagnose_begin(void);

/* pvm_addhosts() with PvmAutoErr set, so that libpvm prints the daemon's reasons. */
int diagnose_addhosts(char **names, int count, int *status);

/* Prints a remedy for each name whose status is an error. Names are those given to pvm_addhosts(), with options. */
void diagnose_failed(char **names, const int *status, int count, struct log_mark *mark);

void diagnose_end(struct log_mark *mark);

#endif
