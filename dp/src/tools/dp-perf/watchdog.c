/* watchdog.c - the timer. */
#include "watchdog.h"
#include <dp.h>
#include <sys/time.h>

enum { TICK_MS = 100 };

volatile sig_atomic_t watchdog_expired, watchdog_moves, watchdog_ticked;
static int tended[2] = {-1, -1};
static volatile sig_atomic_t seen_moves, silent_ticks, allowed_ticks;

static void tick(int signal)
{
    (void)signal;
    watchdog_ticked = 1;
    silent_ticks = watchdog_moves == seen_moves ? silent_ticks + 1 : 0;
    seen_moves = watchdog_moves;
    if (silent_ticks > allowed_ticks)
        watchdog_expired = 1;
}

void watchdog_start(int seconds)
{
    struct sigaction action = {.sa_handler = tick}; /* without SA_RESTART, so that sleeping calls end */
    struct itimerval timer = {.it_interval = {.tv_usec = TICK_MS * 1000}, .it_value = {.tv_usec = TICK_MS * 1000}};
    allowed_ticks = seconds * 1000 / TICK_MS;
    silent_ticks = 0;
    watchdog_expired = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, seconds ? &timer : &(struct itimerval){0}, NULL);
}

void watchdog_tend(int orders, int exercise)
{
    tended[0] = orders;
    tended[1] = exercise;
}

/* Descriptors of other carriers are none of libdp, and stay untouched. */
void watchdog_work(void)
{
    int number = errno;
    watchdog_ticked = 0;
    for (int i = 0; i < 2; i++)
        if (tended[i] >= 0)
            dp_work(tended[i]);
    errno = number;
}
