/*
 * broker.h - calls that someone above the network arranges: the overlay of servers (atm/src/overlay). The broker says
 * of each call whether it is one of its own, and then either lets the network make it (it is dialled), or carries it.
 * Those who open, accept and release calls (call.h) see no difference.
 */
#ifndef PVMA_BROKER_H
#define PVMA_BROKER_H

#include "network.h"

/* What is asked for by a call. */
struct pvma_call_request {
    struct pvma_host *from;
    struct pvma_address caller, called;
    uint32_t asap;
    uint32_t number; /* of the caller's host */
    struct pvma_contract contract;
};

/* `part` is the broker's own part of a call. After open() each call has one, until over() or dialled(). */
struct pvma_broker {
    /* A call is opened. Returns the part; NULL: the call is none of the broker's, and is dialled. */
    void *(*open)(void *arg, struct pvma_call *call, const struct pvma_call_request *request);
    /* A dialled call found no free VCI: it is now as before pvma_call_dial(). Not for multicast calls, which end. */
    void (*no_vci)(void *part);
    /* A dialled call is connected. */
    void (*dialled)(void *part);
    /* The called side accepts a call of pvma_call_offer(). Returns its end of the VC, which the call then owns. */
    struct pvma_vc *(*accept)(void *part, const struct pvma_contract *granted);
    /* A side has released or refused the call, or it has ended while it was dialled. Its end is freed on return. */
    void (*over)(void *part, int cause);
};

/* Sets the network's broker; NULL: none. Before the network is freed, the broker must be gone. */
void pvma_net_set_broker(struct pvma_net *net, const struct pvma_broker *broker, void *arg);

/* The caller: lets the network make the call. */
void pvma_call_dial(struct pvma_call *call);

/* The caller: the called side of a carried call has accepted. The call owns the end from now on. */
void pvma_call_connect(struct pvma_call *call, struct pvma_vc *vc, const struct pvma_contract *granted);

/* Either side: the call ends. `ended` is called, over() is not. */
void pvma_call_end(struct pvma_call *call, int cause);

/*
 * The called side: offers a carried call to the listener, after setting *call. False: nothing listens. The listener may
 * refuse or accept it before this returns: then over() or accept() was called.
 */
bool pvma_call_offer(struct pvma_host *host, const struct pvma_call_request *request, void *part,
                     struct pvma_call **call);

#endif
