/*
 * control.h - the control processors of all nodes. They reassemble signalling messages, spend time on each and act on
 * it (passage.c in switches, call.c in hosts), and they segment messages into cells.
 */
#ifndef PVMA_CONTROL_H
#define PVMA_CONTROL_H

#include "network.h"
#include "signal.h"

struct pvma_task;
struct pvma_passage;
struct pvma_listen;

struct pvma_control {
    struct pvma_net *net;
    struct pvma_node *node;
    struct pvma_stage own, *stage;  /* a switch has a processor of its own, a host uses its only one */
    pvma_ps cost;                   /* of a message */
    struct pvma_reassembler *in;    /* per port */
    struct pvma_task *head, **tail; /* messages at the processor, in order */
    void (*act)(struct pvma_control *control, unsigned port, const struct pvma_signal *signal);
    uint64_t malformed;            /* messages that could not be decoded */
    struct pvma_passage *passages; /* of a switch: calls through it */
    struct pvma_call *calls;       /* of a host */
    struct pvma_listen *listening;
    uint32_t last_call;
};

/* Called by network.c: gives each node its control processor; removes them with all calls. */
void pvma_control_install(struct pvma_net *net);
void pvma_control_remove(struct pvma_net *net);

/* Sends a message out of a port at once. */
void pvma_control_send(struct pvma_control *control, unsigned port, const struct pvma_signal *signal);

/* Sends a message from the host that creates it, after its processing time. */
void pvma_control_originate(struct pvma_control *control, unsigned port, const struct pvma_signal *signal);

/* A port's link has been down for too long: drops its messages that wait here and ends the calls over it. */
void pvma_control_lose_link(struct pvma_control *control, unsigned port);

/* passage.c */
void pvma_passages_lose_link(struct pvma_control *control, unsigned port);
void pvma_passage_act(struct pvma_control *control, unsigned port, const struct pvma_signal *signal);
void pvma_passages_free(struct pvma_control *control);

/* call.c */
void pvma_calls_lose_link(struct pvma_control *control, unsigned port);
void pvma_call_act(struct pvma_control *control, unsigned port, const struct pvma_signal *signal);
void pvma_calls_free(struct pvma_control *control);

#endif
