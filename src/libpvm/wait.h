/*
 * wait.h - the one place where the library waits, and where it is decided how often to listen while there is no need
 * to.
 */
#ifndef PVMI_WAIT_H
#define PVMI_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#define PVMI_WAIT_FOREVER INT64_MAX

/* Whether what the caller waits for has come true. Called after each thing that happens; must not wait itself. */
typedef bool pvmi_condition(void *arg);

/*
 * Receives messages and runs handlers until done(arg), which the caller has found to be false. deadline_us is a time of
 * pvmi_clock_us(). 0, PVMI_ETIMEOUT, or PVMI_EDOWN when the link is lost.
 */
int pvmi_wait_until(pvmi_condition *done, void *arg, int64_t deadline_us);

/* Takes in what has come, without waiting, and runs handlers. 0 or PVMI_EDOWN. */
int pvmi_wait_poll(void);

/*
 * For calls that often find what they want without waiting: takes in what has come every now and then, so that control
 * messages are heard and rings do not fill up. 0 or PVMI_EDOWN.
 */
int pvmi_wait_glance(void);

#endif
