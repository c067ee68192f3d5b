/*
 * gserver.h - the task's line to the group server: finds it, starts it, asks it.
 */
#ifndef PVMI_GSERVER_H
#define PVMI_GSERVER_H

/* The running server's tid; 0 when there is none, PvmBadVersion when it does not speak our language. */
int pvmi_gserver_find(void);

/* The server's tid; starts it if there is none. */
int pvmi_gserver_tid(void);

/* Sends a request: an operation of proto.h on a group, with n ints. Starts the server if there is none. 0 or an error.
 */
int pvmi_gserver_send(int operation, const char *group, const int *args, int n);

/*
 * The same, and waits for the answer: its code. The rest of it is in the active receive buffer. Waits at most
 * *pvmgs_tmout, if that is set, unless the answer depends on other members. PvmDSysErr when the server ended or did not
 * answer in time.
 */
int pvmi_gserver_ask(int operation, const char *group, const int *args, int n);

/* A task has ended: the server? */
void pvmi_gserver_gone(int tid);

/* Forgets the server: the task has a new tid. */
void pvmi_gserver_forget(void);

/* The program has jumped out of the call in which this thread was on its way to the server. */
void pvmi_gserver_left(void);

#endif
