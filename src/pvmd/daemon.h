/*
 * daemon.h - what there is once per daemon: the loop, this host's identity, and the order of start and end.
 */
#ifndef PVMD_DAEMON_H
#define PVMD_DAEMON_H

#include <ev.h>
#include <stdbool.h>
#include "../core/tid.h"

/* What the command line says. */
struct pvmd_options {
    const char *host_name;   /* -n, or NULL */
    const char *hostfile;    /* or NULL */
    int debug_mask;          /* -d */
    bool slave;              /* -s */
    const char *courier_key; /* -k, or NULL */
    bool foreground;         /* -f: standard error stays the terminal's */
};

#define PVMD_SUFFIX_MAX 257 /* bytes of pvmd_file_suffix() and its NUL */

struct pvmd_daemon {
    struct ev_loop *loop;
    unsigned host_index;   /* ours, 1 for the master of a new machine */
    unsigned master_index; /* whose word counts in the host table */
    char *host_name;       /* ours, as in the host table */
    char *socket_path;     /* where tasks connect */
    bool ending;           /* the loop is about to stop */
    int exit_code;
};

extern struct pvmd_daemon pvmd;

static inline bool pvmd_is_master(void)
{
    return pvmd.host_index == pvmd.master_index;
}

static inline pvmi_tid pvmd_host_tid(void)
{
    return pvmi_tid_of_host_index(pvmd.host_index);
}

/* The whole life of the daemon. Returns its exit code. Called by main(). */
int pvmd_run(const struct pvmd_options *options);

/*
 * Ends this daemon: tells local tasks by SIGTERM, closes links, removes files, leaves the loop with `exit_code`.
 * Logs `why`. May be called from any handler; returns to it, and the loop ends when the handler has returned.
 */
void pvmd_end(int exit_code, const char *why);

/* Gives memory that a burst of messages left unused back to the system, a second from now. */
void pvmd_trim_later(void);

#endif
