/*
 * channel.h - this process's connection to the network process: asking, telling, and the time that passes meanwhile.
 *
 * It is made when it is first needed, and again in a forked child. In virtual time the network process keeps our clock;
 * each message tells it what was computed since the last one. What the library itself does is not counted: each public
 * call is between pvmi_fore_enter() and pvmi_fore_leave(), which also keep threads apart.
 */
#ifndef PVMI_FORE_CHANNEL_H
#define PVMI_FORE_CHANNEL_H

#include <stdbool.h>
#include <sys/types.h>
#include "message.h"

/*
 * Begins a public call: takes the lock, connects if need be, counts computing time. 0, or -1 with atm_errno set, and
 * the lock is not held.
 */
int pvmi_fore_enter(void);

/* The same for calls that are not the program's: nothing is charged for the call itself. */
int pvmi_fore_enter_free(void);

/* Begins one that needs no network: takes the lock. */
void pvmi_fore_lock(void);

/* Ends either. Returns rc, or -1 with atm_errno set to `error` if that is not 0. */
int pvmi_fore_leave(int rc, int error);

/* Sets atm_errno and errno; returns -1. */
int pvmi_fore_fail(int error);

/* ---- between the two ---- */

/* What the network said when we came: clock, host, address, MTU. */
const struct pvmi_atm_message *pvmi_fore_welcome(void);

bool pvmi_fore_is_virtual(void);

/* Tells; no answer comes. 0 or an errno. */
int pvmi_fore_tell(struct pvmi_atm_message *m);

/* Asks and waits for the answer; *fd (may be NULL) is the descriptor that came with it. 0 or an errno. */
int pvmi_fore_ask(struct pvmi_atm_message *m, struct pvmi_atm_message *reply, int *fd);

/* The time; *now_ns. 0 or an errno. */
int pvmi_fore_now(int64_t *now_ns);

/* Virtual time: waits until the network has come as far as this process has computed. 0 or an errno. */
int pvmi_fore_catch_up(void);

/* Computing that is declared and not measured. */
void pvmi_fore_charge(int64_t ns);

/*
 * Virtual time: waits until something has come for us or it is until_ns. The lock is given away meanwhile. 0 or an
 * errno.
 */
int pvmi_fore_wait(int64_t until_ns);

/* The two halves of it; `end` returns 1 if the network has ended the wait. */
int pvmi_fore_wait_begin(int64_t until_ns);
int pvmi_fore_wait_end(void);

/*
 * Virtual time: as pvmi_fore_wait(), and ends also when process `aside` has given us more than we have taken; *owed:
 * how many bytes more.
 */
int pvmi_fore_sleep(int64_t until_ns, pid_t aside, uint64_t given, uint64_t taken, uint64_t *owed);

/* Whether this process is connected to a network in virtual time, and the calling thread is not within the library. */
bool pvmi_fore_is_outside(void);

/* Which clock the network has, without joining it. -1 with atm_errno set. */
int pvmi_fore_look(void);

/* The connection's descriptor. */
int pvmi_fore_descriptor(void);

/*
 * Ends the connection, if there is one. 0, or EBUSY: it has endpoints. Under the lock. A connection to a network in
 * virtual time that has broken must be ended so before there can be another one: calls fail until then.
 */
int pvmi_fore_part(void);

/* Joins as host `name` and not as PVM_ATM_HOST says; static storage. Before the first pvmi_fore_enter(). */
void pvmi_fore_call_itself(const char *name);

#endif
