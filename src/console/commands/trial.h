/* trial.h - runs a command on another host in the way the daemon does, and reports what fails. */
#ifndef TRIAL_H
#define TRIAL_H

#include "target.h"

/*
 * Tests whether `launcher` ("ssh", or the value of PVM_RSH) reaches the host and whether the daemon is installed there.
 * Prints the result and what to do.
 */
void trial_host(const char *launcher, const struct target *t);

#endif
