/*
 * daemon.h - what there is once per daemon: the loop, this host's identity, and the order of start and end.
 */
#ifndef PVMD_DAEMON_H
#define PVMD_DAEMON_H

#include <ev.h>
#include <stdbool.h>
#include "../core/tid.h"

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

/*
 * Ends this daemon: tells local tasks by SIGTERM, closes links, removes files, leaves the loop with `exit_code`.
 * Logs `why`. May be called from any handler; returns to it, and the loop ends when the handler has returned.
 */
void pvmd_end(int exit_code, const char *why);

#endif
