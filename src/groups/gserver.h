/*
 * gserver.h - the client side of the group server: finds it, starts it, sends requests.
 */
#ifndef PVMG_GSERVER_H
#define PVMG_GSERVER_H

#include <stdbool.h>

/* The running server's tid; 0 when there is none, PvmBadVersion when it has another protocol version. */
int pvmg_gserver_find(void);

/* The server's tid; starts it if there is none. */
int pvmg_gserver_tid(void);

/* Sends a request: an operation of proto.h on a group, with n ints. Starts the server if there is none. 0, or an error.
 */
int pvmg_gserver_send(int operation, const char *group, const int *args, int n);

/*
 * Sends a request, waits for the answer and returns its code; the rest of it is in the active receive buffer. Waits at
 * most *pvmgs_tmout, if that is set, unless the answer waits for other members. Asks the next server if this one ends
 * first. PvmDSysErr when it did not answer in time, or when 100 servers in a row have ended as soon as they were asked.
 */
int pvmg_gserver_ask(int operation, const char *group, const int *args, int n);

/* Whether this thread's last question went to more than one server: the first may have done what it was asked. */
bool pvmg_gserver_asked_again(void);

/* Whether this server, which the mailbox may still name, is known to have ended. */
bool pvmg_gserver_is_ended(int tid);

/* Whether this is the server that this task knows, and that it will hear of the end of. */
bool pvmg_gserver_is_known(int tid);

/* A task has ended: forgets the server if it was that task. */
void pvmg_gserver_gone(int tid);

/* Forgets the server: the task has a new tid. */
void pvmg_gserver_forget(void);

/* The program has jumped out of the call in which this thread was looking for the server. */
void pvmg_gserver_left(void);

#endif
