/*
 * route.h - which way frames to a task take: by a direct link when there is one, else by the daemons.
 *
 * A link comes about by an offer (TC_OFFER) that travels by the daemons; the peer joins it in its next library call and
 * answers (TC_ANSWER). Nobody waits for that: the daemons carry until the link is up. It is up for the side that
 * offered when the transport says so, and for the side that joined with the first frame of the other one. A link that
 * cannot be made is tried again later, after growing pauses.
 */
#ifndef PVMI_ROUTE_H
#define PVMI_ROUTE_H

#include "../core/message.h"
#include "pvm3.h"
#include "link.h"
#include "options.h"
#include "peer.h"

/* Reads PVM_TRANSPORT. 0, or PVMI_EPARAM (logged): it names what nobody knows. Called on enrolment. */
int pvmi_route_start(void);

/* The chosen transport whose network has a clock of its own, or NULL. */
const struct pvmi_transport_ops *pvmi_route_clock(void);

/* We know our tid now: takes the offers that came too early; `in` false: drops them. */
void pvmi_route_enrolled(bool in);

/* The link for the next frame to p. */
static inline struct pvmi_link *pvmi_route_link(const struct pvmi_peer *p)
{
    return p->link && pvmi_options.route != PvmDontRoute ? p->link : &pvmi_daemon_link;
}

/* A message of so many frames goes to p by the daemon: offers a direct link when it is time for one. */
void pvmi_route_consider(struct pvmi_peer *p, unsigned frames);

/*
 * Virtual time: what the daemons carry takes none, so the first message waits until there is a link, if there can be
 * one. 0 or PVMI_EDOWN.
 */
int pvmi_route_await(struct pvmi_peer *p);

/* TC_OFFER and TC_ANSWER came. Called by control.c. */
void pvmi_route_take_offer(struct pvmi_message *m);
void pvmi_route_take_answer(struct pvmi_message *m);

/* A link that was not up is there: it brought a frame, or the peer has joined. */
void pvmi_route_heard(struct pvmi_link *l);

/* A link refused a frame as down: nothing more is sent by it; what it brought comes yet, then it is lost. */
void pvmi_route_broken(struct pvmi_link *l);

/* A link is down; frees it. */
void pvmi_route_lost(struct pvmi_link *l, int reason);

/* Asks the daemon to say by TC_ENDED when the task has left, at once if it has. */
void pvmi_route_watch_end(pvmi_tid tid);

/* Takes an offer of ours back that p has not joined. */
void pvmi_route_withdraw(struct pvmi_peer *p);

/* Closes all links to p without a word. */
void pvmi_route_forget(struct pvmi_peer *p);

/* Time has come to look for what took too long. Number of things that happened. */
int pvmi_route_alarm(void);

/* Before pvm_exit(): sees that all we sent arrives, by the daemon if need be. 0 or PVMI_EDOWN. */
int pvmi_route_leave(void);

/* Closes all direct links. */
void pvmi_route_clear(void);

#endif
