/*
 * doorman.h - the process that speaks to strangers at the daemon's TCP port (pvmd3 -D) until they have proven that they
 * know the machine's secret. It has the door key but not the secret, no file and no other connection, and may make few
 * system calls (confine.h). It hands proven callers to the daemon, which decides on them: see listen.h.
 *
 * Daemon and doorman share a SOCK_SEQPACKET pair, which is the doorman's standard input. The daemon sends a struct
 * pvmd_doorman_orders with the listening socket as descriptor, and further ones without it when its keys have changed.
 * The doorman exits when the pair closes.
 */
#ifndef PVMD_DOORMAN_H
#define PVMD_DOORMAN_H

#include <stdint.h>
#include "pvmd/net/preface.h"

#define PVMD_STRANGER_S         5.   /* time limit for the complete preface */
#define PVMD_STRANGER_PRESSED_S 1.   /* the same while strangers are being turned away */
#define PVMD_STRANGERS_MAX      4096 /* also limited by the process's descriptors, less a few */

struct pvmd_doorman_orders {
    uint32_t count;
    struct pvmd_door doors[1 + PVMD_PLACES];
};

/* Strangers turned away so far, by reason. */
struct pvmd_door_counts {
    uint64_t malformed; /* not a preface, or an incomplete one */
    uint64_t denied;    /* of another machine, or with a wrong proof */
    uint64_t unknown;   /* with a token of another machine, or one that is forgotten */
    uint64_t too_slow;
    uint64_t too_many;
};

enum pvmd_doorman_kind {
    PVMD_DOORMAN_CALLER = 1, /* with the connection's descriptor */
    PVMD_DOORMAN_COUNTS,
    PVMD_DOORMAN_UNCONFINED, /* no system call filter is available here */
};

struct pvmd_doorman_message {
    uint32_t kind;
    union {
        struct {
            uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES];
        } caller;
        struct pvmd_door_counts counts;
        int32_t error;
    } u;
};

/* Runs the doorman. Returns its exit code when the daemon has ended. Called by main(). */
int pvmd_doorman_run(void);

#endif
