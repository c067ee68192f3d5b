/* wait.h - the one place where the library waits. It also decides how often to poll when there is no need to wait. */
#ifndef PVMI_WAIT_H
#define PVMI_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include "libpvm/base/lock.h"

#define PVMI_WAIT_FOREVER INT64_MAX

/*
 * Whether the wait is over. Called after each event; must not wait itself. Other threads may call it to decide whether
 * to wake the waiting one; if unsure it may return true.
 */
typedef bool pvmi_condition(void *arg);

/*
 * Takes in messages and runs handlers until done(arg) is true; the caller has found it false. deadline_us is a time of
 * pvmc_clock_us(). 0, PVMC_ETIMEOUT, or PVMC_EDOWN when the link to the daemon is lost.
 */
int pvmi_wait_until(pvmi_condition *done, void *arg, int64_t deadline_us);

/* The same, but leaves messages that arrive meanwhile among the arrivals. */
int pvmi_wait_for_message(pvmi_condition *done, void *arg, int64_t deadline_us);

/* In virtual time: lets the time pass that the program has computed, while links receive and acknowledge. */
void pvmi_wait_pass_debt(void);

/* Polls all links once, without waiting, and runs handlers. Messages stay among the arrivals. 0 or PVMC_EDOWN. */
int pvmi_wait_poll(void);

/*
 * The first moments of a wait, in which most messages between polling tasks come: polls direct links, if that has paid
 * off lately. If nothing comes, a wait must follow. Messages stay among the arrivals.
 */
void pvmi_wait_look(void);

/* A receive has found its message on a direct link without polling, as pvmi_wait_look() would have. */
void pvmi_wait_found(void);

/*
 * Polls all links now and then, so that a call that never has to wait still receives control messages and keeps rings
 * from filling up. 0 or PVMC_EDOWN.
 */
int pvmi_wait_glance(void);

/* ---- several threads ---- */

extern bool pvmi_wait_driver_sleeps; /* its transports are armed and must stay so */

/* Records n events on links. Called by link.c after each poll. */
static inline void pvmi_wait_note(int n)
{
    if (n || pvmi_wait_driver_sleeps)
        pvmi_lock_news = true;
}

/*
 * For libgpvm3: waits for a change by another thread, which then calls pvmi_lock_tell(). 0 or an error as for
 * pvm_recv().
 */
int pvmi_lock_wait(pvmi_condition *done, void *arg);

/* This thread has jumped out of its wait. */
void pvmi_wait_undo(void);

/* In a forked child: no other thread waits. */
void pvmi_wait_forget_others(void);

#endif
