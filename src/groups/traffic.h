/*
 * traffic.h - parcels between members, as they come.
 *
 * Outside of our own waiting a message handler takes them in any call of libpvm that receives, so that nobody has to
 * wait for a member that computes or waits for something else: what is for others is passed on, what is for a call of
 * our own that has not begun is stored.
 */
#ifndef PVMI_TRAFFIC_H
#define PVMI_TRAFFIC_H

#include "group.h"

#define PVMI_TRAFFIC_GRACE_US 1000000 /* for what may still be on its way from a member that has ended */

/* Puts the handler in place, once per enrolment. */
int pvmi_traffic_start(void);

/* Forgets what is stored: the task has a new tid. */
void pvmi_traffic_restart(void);

/*
 * Brackets sending to members and waiting for them: switches from the server's context to the members', in which
 * parcels then are received by pvmi_traffic_wait() alone, and back. All that has come by then is handled first.
 */
void pvmi_traffic_open(void);
void pvmi_traffic_close(void);

/* The program has jumped out of the call: what comes is handled when it comes, as between calls. */
void pvmi_traffic_left(void);

struct pvmi_wait {
    struct pvmi_group *group;
    /* 1: what we wait for is here; 0: not yet; negative: error, it ends the waiting. Called after each message. */
    int (*ready)(struct pvmi_wait *w);
    /* Will it never come, if nothing is on its way? After a while that is an error. NULL: never so. */
    int (*lost)(struct pvmi_wait *w); /* 0, or the error */
    /* Asks those it should come from; called ever more rarely. NULL: nothing to ask. */
    void (*ask)(struct pvmi_wait *w);
    long limit_us;     /* longest time to wait; negative: none */
    long first_ask_us; /* after which to ask first */
};

/* Waits; open. 1 when ready, 0 when the limit is over, or an error. */
int pvmi_traffic_wait(struct pvmi_wait *w);

/* Takes the first stored parcel of this kind for a call, of any generation; NULL: none. The caller frees it. */
struct pvmi_parcel *pvmi_traffic_take(int way, const struct pvmi_group *g, int number);

/* The same for the group's current barrier. */
struct pvmi_parcel *pvmi_traffic_take_barrier(int way, const struct pvmi_group *g);

/* The group's current call is over: what has come for it is dropped, and so will be what comes. */
void pvmi_traffic_finish(struct pvmi_group *g);

/* Drops what is stored for barriers that are over. */
void pvmi_traffic_prune(const struct pvmi_group *g);

/* Drops what is stored for a group. */
void pvmi_traffic_forget(int group);

/*
 * Brackets joining: parcels of a group that we do not know yet are stored in between, because others may see us in the
 * group before we have the server's answer.
 */
void pvmi_traffic_join_begin(void);
void pvmi_traffic_join_end(void);

#endif
