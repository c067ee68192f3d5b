/* trial.h - runs a command on another host in the way the daemon does, and reports what fails. */
#ifndef TRIAL_H
#define TRIAL_H

/*
 * Tests whether `launcher` ("ssh", or the value of PVM_RSH) reaches the host and whether the daemon is installed there.
 * login and daemon (its path) may be NULL. Prints the result and what to do.
 */
void trial_host(const char *launcher, const char *host, const char *login, const char *daemon);

#endif
