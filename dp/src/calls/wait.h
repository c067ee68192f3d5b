/* wait.h - sleeps, and keeps the descriptor readable while a message waits. */
#ifndef DPI_DP_WAIT_H
#define DPI_DP_WAIT_H

#include "net/endpoint.h"

/* Whether the user set O_NONBLOCK. */
bool dpi_wait_is_forbidden(const struct dpi_endpoint *e);

/*
 * Flushes the outbox, and sleeps until something arrives, the sessions have work to do, or the time is until_us (0:
 * does not sleep). Then clears the edges that made the descriptor readable. 0, or -1 with errno (EINTR). An endpoint
 * that spins does not sleep.
 */
int dpi_wait_sleep(struct dpi_endpoint *e, int64_t until_us);

/*
 * Before returning to the user: flushes the outbox, and makes poll(2) on the descriptor wake the user for messages that
 * wait and for work that is due. Keeps errno.
 */
void dpi_wait_leave(struct dpi_endpoint *e);

/* The same, but does not flush the outbox, which is due soon. */
void dpi_wait_leave_outbox(struct dpi_endpoint *e);

/* Makes the timer and the bell. 0 or PVMC_ELIMIT. */
int dpi_wait_open(struct dpi_endpoint *e);

#endif
