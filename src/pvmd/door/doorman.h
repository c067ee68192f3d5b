/*
 * doorman.h - the process that speaks to strangers at the daemon's TCP port (pvmd3 -D) until they have proven that they
 * know the machine's secret. It has the door key but not the secret, no file and no other connection, and may make
 * few system calls (confine.h). Proven callers are handed to the daemon, which decides on them: see listen.h.
 *
 * Daemon and doorman have a SOCK_SEQPACKET pair, the doorman's standard input. The daemon sends one struct
 * pvmd_doorman_orders, with the listening socket as descriptor; the doorman ends with the pair.
 */
#ifndef PVMD_DOORMAN_H
#define PVMD_DOORMAN_H

#include <stdint.h>
#include "pvmd/net/preface.h"

#define PVMD_STRANGER_S         5.   /* in which the preface must be there */
#define PVMD_STRANGER_PRESSED_S 1.   /* the same while strangers are being turned away */
#define PVMD_STRANGERS_MAX      4096 /* and a few descriptors fewer than the limit of the process */

struct pvmd_doorman_orders {
    struct pvmd_door door;
};

/* Strangers turned away so far, by reason. */
struct pvmd_door_counts {
    uint64_t malformed; /* not a preface, or ended before it was one */
    uint64_t denied;    /* another machine's, or a wrong proof */
    uint64_t too_slow;
    uint64_t too_many;
};

enum pvmd_doorman_kind {
    PVMD_DOORMAN_CALLER = 1, /* comes with the connection's descriptor */
    PVMD_DOORMAN_COUNTS,
    PVMD_DOORMAN_UNCONFINED, /* there is no filter for system calls here */
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

/* The process. Returns its exit code, when the daemon has ended. Called by main(). */
int pvmd_doorman_run(void);

#endif
