/* flipper.h - a sender that keeps writing to a message after its receipt: a process that flips one byte. */
#ifndef FLIPPER_H
#define FLIPPER_H

#include <check.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Number of changes that a reader must see before it counts as tested. Both processes must run at the same time for
 * that, which takes a while on a busy machine.
 */
#define FLIPPER_CHANGES 1000

/* Counts a change when this result, good or not, differs from the last one. False: enough changes. */
static inline bool flipper_goes_on(bool good)
{
    static unsigned changes;
    static bool last;
    changes += good != last;
    last = good;
    if (changes < FLIPPER_CHANGES)
        return true;
    changes = 0;
    return false;
}

/* Zeroed memory shared with the flipper. */
static inline uint8_t *flipper_memory(size_t bytes)
{
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(data, MAP_FAILED);
    return data;
}

/* The byte alternates between the two values until flipper_end(). */
static inline pid_t flipper_start(uint8_t *at, uint8_t one, uint8_t other)
{
    volatile uint8_t *byte = at;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned i = 0;; i++)
        *byte = i % 2 ? one : other;
}

static inline void flipper_end(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

#endif
