/*
 * daemons.h - the daemons of a test's machine on 127.0.0.N, for tests that end some of them: by index, as
 * check_host_name(), which may be up to 60,000. The program itself stays alive when it is a task of a daemon that goes
 * on.
 */
#ifndef DAEMONS_H
#define DAEMONS_H

#include <sys/types.h>

/* The host's name; the first one's is another (check_host_name()). Static storage. */
const char *daemons_name(int index);

/* Makes this program a task of that daemon: leaves the one before. */
void daemons_enrol_at(int index);

/* The process that listens on its socket. */
pid_t daemons_pid(int index);

/* The host's tid. */
int daemons_host(int index);

/* Waits for the end of a process. Returns whether it has ended within the limit of a single wait. */
int daemons_wait_end(pid_t pid);

/* Removes the journal that a killed master leaves, so that it could take its machine back. Returns whether it had one.
 */
int daemons_remove_journal(int index);

/*
 * Starts a daemon where one was killed. Returns when it has said where its socket is, which it does when it knows which
 * machine it is of.
 */
pid_t daemons_start_again(const char *program);

/* Whether its log has a line with this text. */
int daemons_log_has(int index, const char *text);

/* What takes at most so many seconds on a quiet machine may take so many now: as tests/lab/patience. */
double daemons_patience(double seconds);

/* Halts the machine from a process of its own, because pvm_halt() ends the caller; leaves PVM first. */
void daemons_halt(void);

#endif
