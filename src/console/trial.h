/* trial.h - runs a command on another host the way the daemon does, and tells what is wrong with that. */
#ifndef TRIAL_H
#define TRIAL_H

/*
 * Tries whether `launcher` ("ssh", or what PVM_RSH says) reaches the host, and whether a daemon is there to be started.
 * login and daemon (its path) may be NULL. Prints what it finds and what to do.
 */
void trial_host(const char *launcher, const char *host, const char *login, const char *daemon);

#endif
