/*
 * traffic.h - receives packets from other members.
 *
 * While no group call waits, a message handler receives them in any libpvm call that receives. It forwards packets for
 * other members, so that these need not wait for a member that computes, and queues packets for calls that this task
 * has not started (the queue of unexpected packets).
 */
#ifndef PVMG_TRAFFIC_H
#define PVMG_TRAFFIC_H

#include "groups/group.h"

#define PVMG_TRAFFIC_GRACE_US 1000000 /* wait for packets in transit from a member that has ended */

/* Installs the handler, once per enrolment. */
int pvmg_traffic_start(void);

/* Drops all queued packets: the task has a new tid. */
void pvmg_traffic_restart(void);

/*
 * Bracket sending to members and waiting for them. They switch from the server's context to the members' and back; in
 * between only pvmg_traffic_wait() receives packets. Both first handle all packets that have arrived.
 */
void pvmg_traffic_open(void);
void pvmg_traffic_close(void);

/* The program has jumped out of the call: reinstalls the handler. */
void pvmg_traffic_left(void);

struct pvmg_wait {
    struct pvmg_group *group;
    /* Called after each message. 1: the wait is over; 0: not yet; negative: an error, which ends the wait. */
    int (*ready)(struct pvmg_wait *w);
    /* 0, or the error if the wait cannot end except by packets in transit; it takes effect after a grace period. NULL:
     * never. */
    int (*lost)(struct pvmg_wait *w);
    /* Probes the members that we wait for, at intervals that double. NULL: no probes. */
    void (*ask)(struct pvmg_wait *w);
    long limit_us;     /* time limit; negative: none */
    long first_ask_us; /* delay until the first probe */
};

/* Waits between open and close: 1 when ready, 0 when the time limit is reached, or an error. */
int pvmg_traffic_wait(struct pvmg_wait *w);

/* Handles a packet that has come otherwise than by message, and takes it over. */
void pvmg_traffic_deliver(struct pvmg_packet *p);

/* Takes the first queued packet of this kind for a call, of any generation; NULL: none. The caller frees it. */
struct pvmg_packet *pvmg_traffic_take(int kind, const struct pvmg_group *g, int number);

/* Whether there is such a packet. */
bool pvmg_traffic_has(int kind, const struct pvmg_group *g, int number);

/* Takes the first one for the group's current barrier. */
struct pvmg_packet *pvmg_traffic_take_barrier(int kind, const struct pvmg_group *g);

/* The group's current call is finished: drops its queued packets and all that arrive later. */
void pvmg_traffic_finish(struct pvmg_group *g);

/* Drops queued packets of finished barriers. */
void pvmg_traffic_prune(const struct pvmg_group *g);

/* Drops all queued packets of a group. */
void pvmg_traffic_forget(int group);

/*
 * Bracket joining a group. In between, packets of unknown groups are queued, because other members may know of this
 * task before it has the server's answer.
 */
void pvmg_traffic_join_begin(void);
void pvmg_traffic_join_end(void);

#endif
