/*
 * dial.h - dials another daemon: connects to its addresses one after the other, sends the preface and reads the
 * verdict.
 */
#ifndef PVMD_DIAL_H
#define PVMD_DIAL_H

#include <ev.h>
#include <stdbool.h>
#include "wire/address.h"
#include "preface.h"

struct pvmd_dial;

struct pvmd_dial_events {
    /* The other side has answered GO: TLS may begin on fd, which the owner gets. The dial is freed. */
    void (*connected)(void *owner, int fd, const uint8_t key[PVMD_KEY_BYTES], const union pvmw_address *address);
    /*
     * All addresses failed. verdict is the other side's answer (WRONG: from all addresses), or 0 if none came;
     * `refused`: every address refused the connection, so no daemon listens there. The dial is freed.
     */
    void (*failed)(void *owner, enum pvmd_verdict verdict, bool refused, const char *why);
};

/*
 * Tries the addresses in order. Each gets at most PVMD_DIAL_EACH_S while others are left; the last one has no limit of
 * its own (the owner cancels). Events come from the loop only. NULL when out of memory or the list is empty.
 */
#define PVMD_DIAL_EACH_S 2.5

/* How long to retry an address that accepts our connections but closes them before it sends its nonce. */
#define PVMD_DIAL_CROWDED_S 10.

struct pvmd_dial *pvmd_dial_new(struct ev_loop *loop, const struct pvmw_addresses *addresses,
                                const struct pvmd_preface *preface, const struct pvmd_dial_events *events, void *owner);

/* Cancels the dial; no event follows. */
void pvmd_dial_cancel(struct pvmd_dial *d);

/* Whether a machine has accepted the connection, so that its daemon may only be too busy to answer. */
bool pvmd_dial_is_answered(const struct pvmd_dial *d);

/* Whether the preface is sent, so that the other side may accept this call. */
bool pvmd_dial_has_asked(const struct pvmd_dial *d);

/* The addresses tried so far and their failures, for messages. */
const char *pvmd_dial_why(const struct pvmd_dial *d);

#endif
