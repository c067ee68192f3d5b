/* self.h - what exists once per daemon: its loop, its place in the virtual machine, and its files. */
#ifndef PVMD_SELF_H
#define PVMD_SELF_H

#include <ev.h>
#include <stdbool.h>
#include "core/message/tid.h"

#define PVMD_SUFFIX_MAX 257 /* bytes of pvmd.file_suffix, NUL included */

struct pvmd_daemon {
    struct ev_loop *loop;
    unsigned host_index;   /* ours, 1 for the master of a new machine */
    unsigned master_index; /* of the only host that changes the host table */
    pvmc_tid manager;      /* the resource manager, or 0 */
    char *host_name;       /* ours, as in the host table */
    char *socket_path;     /* where tasks connect */
    bool ending;           /* the loop is about to stop */
    int exit_code;

    /* The suffix of our files' names: ".<host name>" if several daemons share this machine, else "". */
    char file_suffix[PVMD_SUFFIX_MAX];
};

extern struct pvmd_daemon pvmd;

static inline bool pvmd_is_master(void)
{
    return pvmd.host_index == pvmd.master_index;
}

static inline pvmc_tid pvmd_host_tid(void)
{
    return pvmc_tid_of_host_index(pvmd.host_index);
}

/*
 * Ends this daemon: logs `why`, sends SIGTERM to local tasks, and leaves the loop; daemon.c then closes links, removes
 * files and exits with `exit_code`. May be called from any handler; the loop ends when the handler has returned.
 */
void pvmd_end(int exit_code, const char *why);

#endif
