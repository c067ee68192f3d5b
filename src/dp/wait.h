/* wait.h - sleeping, and keeping the descriptor readable when it should be. */
#ifndef PVMI_DP_WAIT_H
#define PVMI_DP_WAIT_H

#include "endpoint.h"

/* Whether the user set O_NONBLOCK. */
bool pvmi_wait_is_forbidden(const struct pvmi_endpoint *e);

/*
 * Sends what is in the outbox, and sleeps until something comes, the sessions have work to do, or until_us (0: does not
 * sleep), and takes back the edges that made the descriptor readable. 0, or -1 with errno (EINTR). An endpoint that
 * spins does not sleep.
 */
int pvmi_wait_sleep(struct pvmi_endpoint *e, int64_t until_us);

/*
 * Before returning to the user: sends what is in the outbox, and sees that poll(2) on the descriptor wakes him for what
 * waits and for what is due. Keeps errno.
 */
void pvmi_wait_leave(struct pvmi_endpoint *e);

/* The same, but what is in the outbox stays; it is due soon. */
void pvmi_wait_leave_outbox(struct pvmi_endpoint *e);

/* The timer and the bell. 0 or PVMI_ELIMIT. */
int pvmi_wait_open(struct pvmi_endpoint *e);

#endif
