/*
 * patience.h - when to give up on a silent peer. A timer looks now and then whether anything has moved since; so loops
 * that poll look at one variable instead of a clock, and calls that sleep end with EINTR. The same for all carriers.
 */
#ifndef PATIENCE_H
#define PATIENCE_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>

extern volatile sig_atomic_t patience_gone, patience_moves;

/* Starts it anew: patience is gone when nothing has moved for so long. 0 seconds: it never is. */
void patience_start(int seconds);

static inline void patience_moved(void)
{
    patience_moves = patience_moves + 1;
}

/* For loops that poll: 0, or -1 with ETIMEDOUT. */
static inline int patience_check(void)
{
    if (!patience_gone)
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

/* After a call that failed: whether to try again, since a signal has ended it. */
static inline bool patience_again(void)
{
    return errno == EINTR && patience_check() == 0;
}

#endif
