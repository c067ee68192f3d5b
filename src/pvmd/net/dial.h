/*
 * dial.h - calls another daemon: TCP to one of its addresses after the other, the preface, the verdict.
 */
#ifndef PVMD_DIAL_H
#define PVMD_DIAL_H

#include <ev.h>
#include <stdbool.h>
#include "wire/address.h"
#include "preface.h"

struct pvmd_dial;

struct pvmd_dial_events {
    /* The other side said GO: TLS may begin on fd, which is the owner's from here on. The dial is freed. */
    void (*connected)(void *owner, int fd, const uint8_t key[PVMD_KEY_BYTES], const union pvmw_address *address);
    /*
     * No address led there. verdict is the other side's answer, or 0 if none came; `refused`: each address belongs to a
     * machine on which no such daemon listens. The dial is freed.
     */
    void (*failed)(void *owner, enum pvmd_verdict verdict, bool refused, const char *why);
};

/*
 * Tries the addresses in order, each for at most PVMD_DIAL_EACH_S while others are left; the last one has no limit of
 * its own (the owner cancels). Events come from the loop only. NULL when out of memory or the list is empty.
 */
#define PVMD_DIAL_EACH_S 2.5

/* How long an address is retried that accepts our connections and closes them before it sends its nonce. */
#define PVMD_DIAL_CROWDED_S 10.

struct pvmd_dial *pvmd_dial_new(struct ev_loop *loop, const struct pvmw_addresses *addresses,
                                const struct pvmd_preface *preface, const struct pvmd_dial_events *events, void *owner);

/* Gives up; no event follows. */
void pvmd_dial_cancel(struct pvmd_dial *d);

/* Whether a machine accepted the connection: its daemon may be too busy to answer. */
bool pvmd_dial_is_answered(const struct pvmd_dial *d);

/* What has been tried so far and how it failed, for messages. */
const char *pvmd_dial_why(const struct pvmd_dial *d);

#endif
