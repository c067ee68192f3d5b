/*
 * child.h - processes whose output is gathered: commands, and functions of ours that might hang or crash. Several run
 * at the same time, each in a process group of its own, and all end with a time limit.
 */
#ifndef CHILD_H
#define CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILD_OUT, CHILD_ERR, CHILD_STREAMS };
enum { CHILD_BYTES_MAX = 1 << 18 }; /* kept of each stream */

struct child_stream {
    int fd;     /* -1: closed */
    char *text; /* NUL-terminated; NULL before the first byte */
    size_t length;
};

struct child {
    pid_t pid;     /* 0: it has not been started, or it has ended */
    int pidfd;     /* becomes readable when it ends */
    int status;    /* as of waitpid(), once it has ended by itself */
    bool late;     /* it was killed at the time limit */
    double from_s; /* by the system's clock: when it was started, ... */
    double to_s;   /* ... and when it ended */
    struct child_stream streams[CHILD_STREAMS];
};

/* Start a process. 0 or an errno; child_free() is due in both cases. Standard input is empty. */
int child_exec(struct child *child, char *const argv[]);
int child_call(struct child *child, void (*function)(void *), void *arg);

/* Gathers the output of these children until all have ended, limit_ms are over or child_stop is set; kills the rest. */
void child_gather(struct child *children, int count, int limit_ms);

/* What it has written so far; never NULL. */
const char *child_text(const struct child *child, int stream);

void child_free(struct child *child);

/* Set by a signal handler to give up. */
extern volatile sig_atomic_t child_stop;

#endif
