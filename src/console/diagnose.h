/*
 * diagnose.h - finds out why a host could not be added, and says what to do.
 *
 * Two sources: what the daemon wrote into its log about that host meanwhile, and a try of our own to run a command
 * there the way the daemon does (ssh, or the user's PVM_RSH).
 */
#ifndef DIAGNOSE_H
#define DIAGNOSE_H

struct log_mark;

/* Remembers where the daemon's log ends now. Before pvm_addhosts(). May be NULL; given back by diagnose_end(). */
struct log_mark *diagnose_begin(void);

/* Explains each name whose status is an error. Names are as given to pvm_addhosts(), options included. */
void diagnose_failed(char **names, const int *status, int count, struct log_mark *mark);

void diagnose_end(struct log_mark *mark);

#endif
