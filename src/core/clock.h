/*
 * clock.h - monotonic time, for time limits and measurements, and the one hook for networks with a time of their own.
 *
 * A process uses the system's clock until a transport whose network has virtual time sets pvmc_virtual_clock.
 */
#ifndef PVMC_CLOCK_H
#define PVMC_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* A connection that bypasses the network, such as a task's to its daemon: bytes since its start. */
struct pvmc_bypass {
    pid_t pid; /* the process at the other end */
    uint64_t given, taken;
};

/* What crosses the network in place of a message that bypasses it: the other task, and the frame's number. */
struct pvmc_shadow {
    uint32_t task, number;
};

#define PVMC_SHADOWS_MAX 8000 /* receivers of one, and shadows in a part of a list */

/*
 * Virtual time passes only while all processes on the network sleep. The network wakes one at a time, which then runs
 * alone until it sleeps again.
 */
struct pvmc_virtual_clock {
    int64_t (*now_ns)(void);
    /*
     * Sleeps until the network has something for this process, more bytes have been given over the bypass than it has
     * taken, or until_us of pvmc_clock_us() (INT64_MAX: no limit). 0; 1: bytes are on the bypass, and may need another
     * moment of real time; PVMC_EDOWN: the network is gone.
     */
    int (*sleep)(int64_t until_us, const struct pvmc_bypass *bypass);
    /*
     * Call before giving bytes to the bypass, with the count after them. Waits until the network has reached this
     * process's time; the debt (below) stays. 0 or PVMC_EDOWN.
     */
    int (*give)(const struct pvmc_bypass *bypass);
    /*
     * Around each call of the library by the program: only what the program itself computes counts, and becomes debt
     * (ns), virtual time that is yet to pass: sleep() returns at the latest when nothing is left. In between, now_ns()
     * is the time without the debt. `pass` lets the debt pass: called when the program itself sleeps.
     */
    void (*enter)(void);
    void (*leave)(void);
    int64_t (*debt_ns)(void);
    void (*on_pass)(void (*pass)(void));
    /* Whether that process has told the network that it watches (struct pvmc_clock_watch). */
    bool (*is_watched)(pid_t pid);
    /* This process is the task of that number. */
    int (*name)(uint32_t task);
    /*
     * A message of that many bytes is given to the bypass for those tasks: its shadow sets out for them. 0;
     * PVMC_ENOTFOUND: none of them is on the network, or the network is gone.
     */
    int (*carry)(const struct pvmc_shadow *to, unsigned count, uint64_t bytes);
    /*
     * Lists the shadows on their way to this task, with their senders, but for the first ones. Returns their number, or
     * -1; if it is PVMC_SHADOWS_MAX, there may be more. *handing: whether this process has not yet passed on all that
     * it gave. When either changes, sleep() ends.
     */
    int (*under_way)(unsigned first, struct pvmc_shadow list[PVMC_SHADOWS_MAX], bool *handing);
};

/* The virtual clock of this process; NULL: it uses real time. */
extern const struct pvmc_virtual_clock *pvmc_virtual_clock;

/*
 * For a daemon, which passes bytes between tasks over the bypass and does not live in virtual time itself: time stands
 * still while such bytes are in flight. All functions are cheap. Most return 0, or -1 if the network is gone.
 */
struct pvmc_clock_watch {
    /* Whether there is such a network now, without joining it. */
    bool (*is_there)(void);
    /* Begins to watch. Returns a descriptor that becomes readable when the network ends; -1: no virtual time (yet). */
    int (*begin)(void);
    void (*end)(void);
    /*
     * Bytes given to process pid and taken from it so far; taken = UINT64_MAX: it has ended; both 0: its connection has
     * ended but the process lives on, and may connect again; time waits up to 2 s for its end.
     */
    int (*tell)(pid_t pid, uint64_t given, uint64_t taken);
    /* Process pid was started and will join the network. */
    int (*expect)(pid_t pid);
};

/* Nanoseconds of the system's monotonic clock: never goes back, does not follow settings of the wall clock. */
static inline int64_t pvmc_clock_real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Nanoseconds of the clock of this process, real or virtual. Never goes back. */
static inline int64_t pvmc_clock_ns(void)
{
    return __builtin_expect(!pvmc_virtual_clock, 1) ? pvmc_clock_real_ns() : pvmc_virtual_clock->now_ns();
}

/* The same in microseconds. */
static inline int64_t pvmc_clock_us(void)
{
    return pvmc_clock_ns() / 1000;
}

#endif
