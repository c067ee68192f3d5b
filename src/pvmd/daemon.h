/* daemon.h - the whole life of a daemon, according to its command line. */
#ifndef PVMD_DAEMON_H
#define PVMD_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include "pvmd/applicant/applicant.h"

/* The command line. */
struct pvmd_options {
    const char *host_name;               /* -n, or NULL */
    const char *hostfile;                /* or NULL */
    int debug_mask;                      /* -d */
    bool slave;                          /* -s */
    const char *courier_key;             /* -k, or NULL */
    bool joined;                         /* -J: a child of applicant.c */
    const char *accept;                  /* --accept, or NULL */
    struct pvmd_application application; /* --join and its options; address NULL: not given */
    bool foreground;                     /* -f: standard error stays the terminal's */
    bool leave, grace;                   /* --leave, --grace */
    uint64_t leave_grace_us;             /* PVMC_LEAVE_GRACE_SETTING without --grace */
};

#define PVMD_START_ANEW (-1)

/*
 * Starts the daemon, runs it and ends it. Returns its exit code, or PVMD_START_ANEW if the program should be executed
 * again, because it has tried in vain to take a machine back. Called by main().
 */
int pvmd_run(const struct pvmd_options *options);

#endif
