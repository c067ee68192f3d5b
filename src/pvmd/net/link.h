/*
 * link.h - the authenticated, encrypted stream to another host's daemon (TLS 1.3 with the machine's secret).
 *
 * Each pair of hosts has one link. It neither loses nor reorders frames while both daemons live: sent frames are kept
 * until the other side has counted them, a lost connection is reopened at once, and two slaves that cannot reach each
 * other send through the master.
 */
#ifndef PVMD_LINK_H
#define PVMD_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include "core/message/frame.h"
#include "wire/address.h"
#include "pvmd/base/hosts.h"
#include "preface.h"

/* Named by what the link waits for. */
enum pvmd_link_state {
    PVMD_LINK_IDLE,    /* for a frame to send */
    PVMD_LINK_OPENING, /* for its first connection */
    PVMD_LINK_UP,      /* for nothing: frames flow */
    PVMD_LINK_LOST,    /* for a new connection after one was lost */
    PVMD_LINK_RELAYED, /* for nothing: frames go through the master permanently */
};

/*
 * Sends a frame to a known host (keeps a reference). Opens the link if there is none: slaves connect when they first
 * have something to send. Called by relay.c and rpc.c. If the link is slow, senders are held (queue.h).
 */
void pvmd_link_send(struct pvmd_host *host, struct pvmc_frame *f);

/* ---- for join.c and leave.c ---- */

/* Master: opens the first connection to a launched slave. The event link_up or link_lost follows. */
void pvmd_link_call(struct pvmd_host *host, const struct pvmw_addresses *addresses);

/* After its link was lost: whether its daemon has provably ended, and is not only silent. */
bool pvmd_link_is_proven(const struct pvmd_host *host);

/*
 * The master has changed: calls a member whose link is not UP. The new master calls all; a slave those that it has
 * reached through the old master.
 */
void pvmd_link_reopen(struct pvmd_host *host);

/* How calls to it have failed so far, for messages; valid until the next turn of the loop. */
const char *pvmd_link_why(const struct pvmd_host *host);

/* Ends the link if there is one, with a goodbye if it is up, and drops its frames. No event follows. */
void pvmd_link_close(struct pvmd_host *host);

/* Judges incoming calls; passed to pvmd_listen_start(). */
enum pvmd_verdict pvmd_link_offered(const struct pvmd_preface *p);
void pvmd_link_accepted(const struct pvmd_preface *p, int fd, const uint8_t key[PVMD_KEY_BYTES]);

/* The other slave sends through the master from now on, having received `count` of our frames (DM_LINK_LOST). */
void pvmd_link_peer_relays(struct pvmd_host *host, uint32_t count);

/* ---- for virtual.c ---- */

/* Whether frames for it wait to be sent or acknowledged. */
bool pvmd_link_is_busy(const struct pvmd_host *host);

/* ---- for liveness.c ---- */

enum pvmd_link_state pvmd_link_state(const struct pvmd_host *host); /* IDLE when there is no link */

/* When the other side was last heard (pvmc_clock_us()), advanced by pvmd_link_excuse(). UP links only. */
int64_t pvmd_link_heard_us(const struct pvmd_host *host);

/* Whether sent frames wait to be acknowledged. */
bool pvmd_link_has_kept(const struct pvmd_host *host);

/* This daemon did not run for so long: silence during this time does not count. */
void pvmd_link_excuse(struct pvmd_host *host, int64_t us);

void pvmd_link_ping(struct pvmd_host *host);

/* The other side has been silent for too long. If one side is the master the host is lost for good. */
void pvmd_link_silent(struct pvmd_host *host, const char *why);

/* ---- for tests ---- */

/* The socket of an UP link, else -1. */
int pvmd_link_fd(const struct pvmd_host *host);

#endif
