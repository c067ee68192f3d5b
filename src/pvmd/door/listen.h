/*
 * listen.h - the TCP port of this daemon. A separate process, the doorman (doorman.h), deals with strangers. It hands
 * callers that have proven to be members to the daemon, which decides whether to admit them, proves itself in turn, and
 * begins TLS.
 *
 * The daemon trusts the doorman no more than a stranger: it checks the proof again. A doorman that ends is replaced
 * without effect on established links.
 */
#ifndef PVMD_LISTEN_H
#define PVMD_LISTEN_H

#include <ev.h>
#include <stdint.h>
#include "doorman.h"
#include "pvmd/net/preface.h"

struct pvmd_listen_events {
    /* Judges a proven preface and returns the answer. Changes nothing: the caller may never get the answer. */
    enum pvmd_verdict (*offered)(const struct pvmd_preface *p);
    /* CROSSED was sent. */
    void (*crossed)(const struct pvmd_preface *p);
    /* GO was sent: TLS may begin on fd, which the callee now owns. */
    void (*accepted)(const struct pvmd_preface *p, int fd, const uint8_t key[PVMD_KEY_BYTES]);

    /* The same for a caller that has proven to have the token in this place (machine.h), and is no member yet. */
    enum pvmd_verdict (*knocked)(unsigned place);
    void (*entered)(unsigned place, int fd, const uint8_t key[PVMD_KEY_BYTES]);
};

/*
 * Listens on `ip` ("" for all addresses, IPv6 and IPv4), at the first free port from `port` on (0: any). 0, or a PVMC_E
 * code, logged with the remedy. The machine (machine.h) must be known.
 */
int pvmd_listen_start(struct ev_loop *loop, const char *ip, uint16_t port, const struct pvmd_listen_events *events);
void pvmd_listen_stop(void);

/* The keys of machine.h have changed. */
void pvmd_listen_keys_changed(void);

/* The port. */
uint16_t pvmd_listen_port(void);

/* For tests: admitted calls, the doorman's pid (0: none), and the strangers it has turned away, up to a second ago. */
struct pvmd_listen_counts {
    uint64_t accepted;
    struct pvmd_door_counts refused;
    pid_t doorman;
};

const struct pvmd_listen_counts *pvmd_listen_counts(void);

#endif
