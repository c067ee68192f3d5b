/*
 * watchdog.h - ends an exercise when the peer is silent. A timer checks whether a message has moved since its last
 * tick, so loops that poll read one variable instead of a clock, and calls that sleep end with EINTR. All carriers use
 * it.
 */
#ifndef WATCHDOG_H
#define WATCHDOG_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>

extern volatile sig_atomic_t watchdog_expired, watchdog_moves, watchdog_ticked;

/* Restarts the timer, which expires when no message has moved for `seconds`; 0: never. */
void watchdog_start(int seconds);

/*
 * Endpoints of libdp that this program does not wait at, although their last messages may have got lost: the functions
 * below let them retransmit and acknowledge at each tick of the timer. -1: none. The client's and the server's
 * endpoint for orders is `orders`, that of an exercise `exercise`.
 */
void watchdog_tend(int orders, int exercise);
void watchdog_work(void);

static inline void watchdog_moved(void)
{
    watchdog_moves = watchdog_moves + 1;
}

/* For loops that poll: 0, or -1 with ETIMEDOUT. */
static inline int watchdog_check(void)
{
    if (watchdog_ticked)
        watchdog_work();
    if (!watchdog_expired)
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

/* After a failed call: whether a signal interrupted it, so that it must be repeated. */
static inline bool watchdog_again(void)
{
    return errno == EINTR && watchdog_check() == 0;
}

#endif
