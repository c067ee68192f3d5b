/*
 * link.h - the authenticated, encrypted stream to another host's daemon (TLS 1.3 with the machine's secret).
 *
 * Each pair of hosts has one link. It neither loses nor reorders frames while both daemons live: sent frames are kept
 * until the other side has counted them, both sides call anew after a connection is lost, and two slaves that cannot
 * reach each other send through the master.
 *
 * Between the master and a slave the link decides when the other side is lost (event link_lost), and hosts/ what comes
 * of it. It is lost when it says goodbye, no longer knows this daemon, or refuses a call, which shows that no daemon
 * listens; or when liveness.c finds it silent for too long. Nothing else, whatever becomes of connections.
 */
#ifndef PVMD_LINK_H
#define PVMD_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include "core/message/frame.h"
#include "pvmd/base/events.h"
#include "wire/address.h"
#include "pvmd/base/hosts.h"
#include "preface.h"

/* Named by what the link waits for. */
enum pvmd_link_state {
    PVMD_LINK_IDLE,    /* for a frame to send, or a call: it has no connection, or two slaves did not use it */
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

/*
 * After its link was lost: whether its daemon has provably ended, and is not only silent, and had heard us so lately
 * that it cannot have given us up before (quorum.h).
 */
bool pvmd_link_is_proven(const struct pvmd_host *host);

/* Slave: after the master's link was lost, whether the master said that this host is not in the machine any more. */
bool pvmd_link_is_out(const struct pvmd_host *master);

/*
 * Calls a host whose link is not UP: the new master all; a slave whose master is lost those that it has reached through
 * that one, and if it has no tables yet all that it knows.
 */
void pvmd_link_reopen(struct pvmd_host *host);

/* How calls to it have failed so far, for messages; valid until the next turn of the loop. */
const char *pvmd_link_why(const struct pvmd_host *host);

/*
 * Ends the link if there is one, and drops its frames. No event follows. If this daemon ends, it says goodbye on a link
 * that is up; the other side counts that as proof (above).
 */
void pvmd_link_close(struct pvmd_host *host);

/* Judges incoming calls; passed to pvmd_listen_start(). */
enum pvmd_verdict pvmd_link_offered(const struct pvmd_preface *p);
void pvmd_link_crossed(const struct pvmd_preface *p);
void pvmd_link_accepted(const struct pvmd_preface *p, int fd, const uint8_t key[PVMD_KEY_BYTES]);

/* The other slave sends through the master, and has received `count` of our frames (DM_LINK_COUNT). */
void pvmd_link_peer_counts(struct pvmd_host *host, uint32_t count, enum pvmd_count kind);

/* ---- for virtual.c ---- */

/* Whether frames for it wait to be sent or acknowledged. */
bool pvmd_link_is_busy(const struct pvmd_host *host);

/* ---- for liveness.c ---- */

enum pvmd_link_state pvmd_link_state(const struct pvmd_host *host); /* IDLE when there is no link */

/* Looks at the connection of an UP link: true if nothing of ours was under way since the last look. */
bool pvmd_link_look(struct pvmd_host *host);

/* Until when bytes got through both ways (pvmc_clock_us()), at least pvmd_link_forgive(). UP and LOST links only. */
int64_t pvmd_link_proven_us(const struct pvmd_host *host);

/* The same, but a connection that has come up counts only once frames get across, if any wait. */
int64_t pvmd_link_useful_us(const struct pvmd_host *host);

/* Whether sent frames wait to be acknowledged. */
bool pvmd_link_has_kept(const struct pvmd_host *host);

/* Silence before `us` does not count. */
void pvmd_link_forgive(struct pvmd_host *host, int64_t us);

void pvmd_link_ping(struct pvmd_host *host);

/*
 * UP links: once two slaves have not used their connection for PVM_LINK_IDLE, it is closed, if the other side agrees.
 * The next frame opens it again.
 */
void pvmd_link_look_idle(struct pvmd_host *host, int64_t now_us);

/* RELAYED links: if nothing got across since the last call, what waits is sent again. */
void pvmd_link_ask_again(struct pvmd_host *host);

/* The connection of an UP link does not work: fresh ones are tried from now on. */
void pvmd_link_stuck(struct pvmd_host *host, const char *why);

/* Gives up: the host is lost for good (link_lost), or sends through the master if both are slaves. */
void pvmd_link_silent(struct pvmd_host *host, const char *why);

/* ---- for metrics ---- */

struct pvmd_link_figures {
    enum pvmd_link_state state;
    size_t queue_bytes;   /* wait to be sent */
    unsigned kept_frames; /* sent, and not yet acknowledged */
};

/* False when there is no link, or it is IDLE. */
bool pvmd_link_look_at(const struct pvmd_host *host, struct pvmd_link_figures *figures);

/* ---- for tests ---- */

/* The socket of an UP link, else -1. */
int pvmd_link_fd(const struct pvmd_host *host);

#endif
