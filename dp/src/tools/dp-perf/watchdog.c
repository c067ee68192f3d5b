/* patience.c - the timer behind it. */
#include "patience.h"
#include <sys/time.h>

enum { TICK_MS = 100 };

volatile sig_atomic_t patience_gone, patience_moves;
static volatile sig_atomic_t seen_moves, silent_ticks, allowed_ticks;

static void tick(int signal)
{
    (void)signal;
    silent_ticks = patience_moves == seen_moves ? silent_ticks + 1 : 0;
    seen_moves = patience_moves;
    if (silent_ticks > allowed_ticks)
        patience_gone = 1;
}

void patience_start(int seconds)
{
    struct sigaction action = {.sa_handler = tick}; /* calls that sleep shall not be restarted */
    struct itimerval timer = {.it_interval = {.tv_usec = TICK_MS * 1000}, .it_value = {.tv_usec = TICK_MS * 1000}};
    allowed_ticks = seconds * 1000 / TICK_MS;
    silent_ticks = 0;
    patience_gone = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, seconds ? &timer : &(struct itimerval){0}, NULL);
}
