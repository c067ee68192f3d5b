/*
 * check.h - what the programs of tests/machine share. They include pvm3.h and this, nothing else of dpvm.
 *
 * A program is both master and child: check_main() runs `master` when the runner started it, and the named role when it
 * was spawned. A failed check prints its location, records it in the runner's file (so that a child's failure counts,
 * too) and ends the process. Nothing waits longer than check_limit_s() seconds.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h> /* before pvm3.h: for pvm_catchout() */
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include "pvm3.h"

struct check_role {
    const char *name;
    void (*run)(int argc, char **argv); /* argv[0] is the role's name */
};

/* Runs master(argc, argv) or the role in argv[1]; leaves PVM at the end. Returns the exit code for main(). */
int check_main(int argc, char **argv, void (*master)(int argc, char **argv), const struct check_role *roles);

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            check_failed(__FILE__, __LINE__, "%s", #condition);                                                        \
    } while (0)

#define CHECK_EQ(value, expected)                                                                                      \
    do {                                                                                                               \
        long long got_ = (long long)(value), want_ = (long long)(expected);                                            \
        if (got_ != want_)                                                                                             \
            check_failed(__FILE__, __LINE__, "%s is %lld, not %s (%lld)", #value, got_, #expected, want_);             \
    } while (0)

#define CHECK_TEXT(value, expected)                                                                                    \
    do {                                                                                                               \
        const char *got_ = (value), *want_ = (expected);                                                               \
        if (strcmp(got_, want_) != 0)                                                                                  \
            check_failed(__FILE__, __LINE__, "%s is \"%s\", not \"%s\"", #value, got_, want_);                         \
    } while (0)

void check_failed(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));

/* Ends the test as skipped, with a reason. Only for what this machine cannot do. */
void check_skip(const char *why) __attribute__((noreturn));

/* The expected slowdown: 1, more under Valgrind and sanitizers. */
int check_slowness(void);

/* Limit of a single wait. */
int check_limit_s(void);

/* Path of this program, for pvm_spawn(). */
const char *check_program(void);

/* Spawns n copies that run `role` with one argument (NULL: none), on `host` (NULL: anywhere). All must start. */
void check_spawn(const char *role, const char *argument, const char *host, int n, int *tids);

/* pvm_recv() with a time limit; returns the message id. */
int check_receive(int tid, int tag);

/* Receives and returns one int; sends one. */
int check_receive_int(int tid, int tag);
void check_send_int(int tid, int tag, int value);

/* Waits for the end of tasks that end by themselves (notify). */
void check_wait_exit(int n, int *tids);

/* Brings the machine to n hosts: adds the missing ones of 127.0.0.2, 127.0.0.3 and so on. */
void check_hosts(int n);

/* Names of hosts: 0 is the first; with CHECK_HOST=h they are h1, h2, and so on. Static storage. */
const char *check_host_name(int index);

/* Seconds of a monotonic clock. */
double check_now(void);

void check_sleep_ms(int ms);

/* Process id of a task's daemon: the parent process of the task's. Only for spawned tasks of this machine. */
pid_t check_daemon_of(int tid);
pid_t check_pid_of(int tid);

/* Of a process: resident memory in KiB, CPU time in ms. -1 when there is no such process. */
long check_rss_kib(pid_t pid);
long check_cpu_ms(pid_t pid);
int check_alive(pid_t pid); /* zombies count as dead */

/* Number of lines with this text in the log of the machine's first daemon. */
int check_log_lines(const char *text);

/* Memory available on this machine, in MiB. */
long check_available_mib(void);

/* A reproducible stream of numbers, and data that is a function of a seed: filled and compared. */
unsigned check_random(unsigned *state);
void check_fill(void *data, size_t bytes, unsigned seed);
int check_same(const void *data, size_t bytes, unsigned seed);

#endif
