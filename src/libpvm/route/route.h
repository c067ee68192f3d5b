/*
 * route.h - chooses the route of frames to a task: its direct link if there is one, else the daemons.
 *
 * A link starts with an offer (TC_OFFER), which travels by the daemons. The peer joins it in its next library call and
 * answers (TC_ANSWER). No call waits for this: the daemons carry frames until the link is up. It is up for the offering
 * side when the transport says so, and for the joining side with the other side's first frame. A failed offer is
 * repeated after growing pauses.
 */
#ifndef PVMI_ROUTE_H
#define PVMI_ROUTE_H

#include "core/message/message.h"
#include "pvm3.h"
#include "libpvm/engine/link.h"
#include "libpvm/base/options.h"
#include "libpvm/engine/peer.h"

/* Callbacks: a direct link to a task is up or lost. NULL: none. Set by notify.c. */
struct pvmi_route_listener {
    void (*added)(pvmc_tid tid);
    void (*deleted)(pvmc_tid tid);
};
extern const struct pvmi_route_listener *pvmi_route_listener;

/* Reads PVM_TRANSPORT. 0, or PVMC_EPARAM (logged) for an unknown name. Called on enrolment. */
int pvmi_route_start(void);

/* The chosen transport whose network has a clock of its own, or NULL. */
const struct pvmt_transport_ops *pvmi_route_clock(void);

/* Our tid is known now: processes the offers received before. `in` false: drops them. */
void pvmi_route_enrolled(bool in);

/* The link for the next frame to p. */
static inline struct pvmi_link *pvmi_route_link(const struct pvmi_peer *p)
{
    return p->link && pvmi_options.route != PvmDontRoute ? p->link : &pvmi_daemon_link;
}

/* `frames` more frames go to p by the daemon, with so many bytes: offers a direct link when it is time. */
void pvmi_route_consider(struct pvmi_peer *p, unsigned frames, uint64_t bytes);

/*
 * In virtual time, frames carried by the daemons take no time, so the first message waits for a link, if there can be
 * one. In real time it does not wait. 0 or PVMC_EDOWN.
 */
int pvmi_route_await(struct pvmi_peer *p);

/* TC_OFFER and TC_ANSWER have arrived. */
void pvmi_route_take_offer(struct pvmc_message *m);
void pvmi_route_take_answer(struct pvmc_message *m);

/* A link is up now: it delivered a frame, or the peer has joined. */
void pvmi_route_heard(struct pvmi_link *l);

/*
 * A link refused a frame as down: nothing more is sent over it. Frames it has received are still processed before it is
 * closed.
 */
void pvmi_route_broken(struct pvmi_link *l);

/* A link is down; frees it. */
void pvmi_route_lost(struct pvmi_link *l, int reason);

/* Asks the daemon to report by TC_ENDED when the task has left, at once if it already has. */
void pvmi_route_watch_end(pvmc_tid tid);

/*
 * Asks the same about all peers, except those about which it has been asked and not been answered. Called when many
 * have come: a task that meets new ones all its life must not keep those that have ended.
 */
void pvmi_route_watch_all(void);

/* Withdraws our offer to p unless p has joined. */
void pvmi_route_withdraw(struct pvmi_peer *p);

/* Closes all links to p without telling it. */
void pvmi_route_forget(struct pvmi_peer *p);

/* An alarm is due: ends what has taken too long. Returns the number of events. */
int pvmi_route_alarm(void);

/* Before pvm_exit(): makes sure that everything sent arrives, by the daemon if need be. 0 or PVMC_EDOWN. */
int pvmi_route_leave(void);

/* Closes all direct links. */
void pvmi_route_clear(void);

#endif
