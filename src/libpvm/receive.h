/*
 * receive.h - what the route of a message must know of the receive that waits for it.
 */
#ifndef PVMI_RECEIVE_H
#define PVMI_RECEIVE_H

#include "../core/frame.h"
#include "../core/mem.h"

/*
 * The buffer of a pvm_precv() that waits for just the message that begins with h, as message memory (the caller gets
 * the reference); NULL: none waits, it does not fit, or its format is another. The first message that claims it gets
 * it: the pvm_precv() then waits for that one, and for any again if the reference is given back unfinished.
 * Called by peer.c for the first frame of a message.
 */
struct pvmi_mem *pvmi_receive_claim(const struct pvmi_frame_header *h);

/* The match function of pvm_recvf(), kept for each thread by lock.c; and the one that there is without. */
extern int (*pvmi_receive_match)(int mid, int tid, int tag);
int pvmi_receive_default_match(int mid, int tid, int tag);

/* For jump.c: the receive whose buffer is offered now; all but that one have been left by a jump. */
struct search;
struct search *pvmi_receive_offered(void);
void pvmi_receive_left(struct search *outer);

/* In a forked child: what another thread waits for. */
void pvmi_receive_forget_others(void);

#endif
