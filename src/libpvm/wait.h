/*
 * wait.h - the one place where the library waits, and where it is decided how often to listen while there is no need
 * to.
 */
#ifndef PVMI_WAIT_H
#define PVMI_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#define PVMI_WAIT_FOREVER INT64_MAX

/*
 * Whether what the caller waits for has come true. Called after each thing that happens; must not wait itself. Another
 * thread may call it, to see whether to wake the one that waits; it may then say true in doubt.
 */
typedef bool pvmi_condition(void *arg);

/*
 * Takes messages in and runs handlers until done(arg), which the caller has found to be false. deadline_us is a time of
 * pvmi_clock_us(). 0, PVMI_ETIMEOUT, or PVMI_EDOWN when the link is lost.
 */
int pvmi_wait_until(pvmi_condition *done, void *arg, int64_t deadline_us);

/* As above, for calls that leave messages which come meanwhile where they are, or take them in themselves. */
int pvmi_wait_for_message(pvmi_condition *done, void *arg, int64_t deadline_us);

/* Hears what has come, without waiting, and runs handlers. Messages stay among the arrivals. 0 or PVMI_EDOWN. */
int pvmi_wait_poll(void);

/*
 * For calls that often find what they want without waiting: hears what has come every now and then, so that control
 * messages are heard and rings do not fill up. 0 or PVMI_EDOWN.
 */
int pvmi_wait_glance(void);

/* ---- several threads ---- */

extern bool pvmi_wait_news;          /* something has happened that other threads may wait for */
extern bool pvmi_wait_driver_sleeps; /* and what has been armed for it must stay so */

/* n things have happened on links. Called by link.c for each look at them. */
static inline void pvmi_wait_note(int n)
{
    if (n || pvmi_wait_driver_sleeps)
        pvmi_wait_news = true;
}

/* Wakes the threads whose waiting is over. Called by lock.c before the lock is given back, if there are news. */
void pvmi_wait_settle(void);

/* This thread waits no longer: it has jumped out. Called by jump.c. */
void pvmi_wait_left(void);

/* In a forked child: no other thread waits. */
void pvmi_wait_forget_others(void);

#endif
