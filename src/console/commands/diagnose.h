/*
 * diagnose.h - says what to do when a host could not be added.
 *
 * libpvm prints the daemon's reason itself. What helps is found by what the daemon wrote into its log (on the master's
 * host), or by a try of our own to run a command there the way the daemon does.
 */
#ifndef DIAGNOSE_H
#define DIAGNOSE_H

struct log_mark;

/* Remembers where the daemon's log ends now. Before pvm_addhosts(). May be NULL; given back by diagnose_end(). */
struct log_mark *diagnose_begin(void);

/* pvm_addhosts(), with libpvm printing the daemon's reasons. */
int diagnose_addhosts(char **names, int count, int *status);

/* Prints a cure for each name whose status is an error. Names are as given to pvm_addhosts(), options included. */
void diagnose_failed(char **names, const int *status, int count, struct log_mark *mark);

void diagnose_end(struct log_mark *mark);

#endif
