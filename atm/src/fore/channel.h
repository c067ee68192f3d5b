/*
 * channel.h - this process's connection to the network process: requests, notifications, and virtual time.
 *
 * The first call that needs the network connects, and so does the first one in a forked child. In virtual time the
 * network process keeps this process's clock; each message reports the computing time since the last one. Time inside
 * the library does not count (stopwatch.h): each public call runs between pvma_fore_enter() and pvma_fore_leave(),
 * which also serialise threads.
 */
#ifndef PVMA_FORE_CHANNEL_H
#define PVMA_FORE_CHANNEL_H

#include <stdbool.h>
#include <sys/types.h>
#include "message.h"

/*
 * Begins a public call: takes the lock, connects if necessary, accounts computing time. Returns 0, or -1 with atm_errno
 * set and the lock released.
 */
int pvma_fore_enter(void);

/* The same for calls that the program did not make: no call cost is charged. */
int pvma_fore_enter_free(void);

/* Begins a call that needs no network: takes the lock. */
void pvma_fore_lock(void);

/* Ends a call of either kind. Returns rc, or -1 with atm_errno set to `error` if that is not 0. */
int pvma_fore_leave(int rc, int error);

/* Sets atm_errno and errno; returns -1. */
int pvma_fore_fail(int error);

/* ---- between enter and leave ---- */

/* The WELCOME of the network: clock, host, address, MTU. */
const struct pvma_fore_message *pvma_fore_welcome(void);

bool pvma_fore_is_virtual(void);

/* Sends a message that has no answer. Returns 0 or an errno. */
int pvma_fore_tell(struct pvma_fore_message *m);

/* Sends a request and waits for the answer; *fd (may be NULL) receives its descriptor. Returns 0 or an errno. */
int pvma_fore_ask(struct pvma_fore_message *m, struct pvma_fore_message *reply, int *fd);

/* Sets *now_ns to the time. Returns 0 or an errno. */
int pvma_fore_now(int64_t *now_ns);

/* Virtual time: waits until the network has reached this process's own time. Returns 0 or an errno. */
int pvma_fore_catch_up(void);

/* Charges computing time that is declared instead of measured. */
void pvma_fore_charge(int64_t ns);

/* The program looks at the clock: after a hundred looks without another call each one takes a microsecond. */
void pvma_fore_look_at_clock(void);

/*
 * A library above this one, PVM's, enters and leaves. What it uses of the processor itself is not measured. What the
 * program computes becomes debt: virtual time that this library does not pass by itself, because messages arrive and
 * must be handled meanwhile. The library above sleeps (pvma_fore_sleep()) until nothing is left of it. While it runs,
 * pvma_fore_now() is the time without the debt. Both need neither the lock nor a connection.
 */
void pvma_fore_enter_above(void);
void pvma_fore_leave_above(void);
int64_t pvma_fore_debt(void);

/* Whether there is such a library, and the program runs. */
bool pvma_fore_is_program_of_above(void);

/*
 * Virtual time: waits, without the lock, until something has arrived for this process or it is until_ns. Returns 0 or
 * an errno.
 */
int pvma_fore_wait(int64_t until_ns);

/* The two halves of pvma_fore_wait(); `end` returns 1 if the network ended the wait. */
int pvma_fore_wait_begin(int64_t until_ns);
int pvma_fore_wait_end(void);

/*
 * Virtual time: like pvma_fore_wait(), but also ends when process `aside` has given this one more bytes than were
 * taken, and when nothing is left of the debt; *owed is the difference.
 */
int pvma_fore_sleep(int64_t until_ns, pid_t aside, uint64_t given, uint64_t taken, uint64_t *owed);

/* Whether this process is connected to a network in virtual time and the calling thread is outside the library. */
bool pvma_fore_is_outside(void);

/* Returns the kind of the network's clock without joining it; -1 with atm_errno set. */
int pvma_fore_look(void);

/* The file descriptor of the connection. */
int pvma_fore_descriptor(void);

/*
 * Ends the connection, if there is one. Returns 0, or EBUSY when it has endpoints. Call with the lock. After a
 * connection to a network in virtual time has broken, calls fail until this function has ended it.
 */
int pvma_fore_part(void);

/* Joins as host `name`, in static storage, instead of PVM_ATM_HOST. Call before the first pvma_fore_enter(). */
void pvma_fore_call_itself(const char *name);

#endif
