/* caller.h - calls between the hosts a and b of a lab, and what their two sides hear. */
#ifndef CALLER_H
#define CALLER_H

#include "lab.h"

struct side {
    struct pvma_call *call; /* NULL: it has ended */
    struct pvma_sim *sim;
    unsigned connected, ended;
    int cause;
    pvma_ps at; /* when it heard last */
};

static inline void side_connected(void *arg, struct pvma_call *call, struct pvma_vc *vc,
                                  const struct pvma_contract *granted)
{
    struct side *side = arg;
    (void)call, (void)vc, (void)granted;
    side->connected++;
    side->at = pvma_sim_now(side->sim);
}

static inline void side_ended(void *arg, struct pvma_call *call, int cause)
{
    struct side *side = arg;
    (void)call;
    side->ended++;
    side->cause = cause;
    side->at = pvma_sim_now(side->sim);
    side->call = NULL;
}

static const struct pvma_call_handler side_handler = {.connected = side_connected, .ended = side_ended};

static inline void side_accept(void *arg, struct pvma_call *call, struct pvma_address caller,
                               const struct pvma_contract *contract)
{
    struct side *side = arg;
    (void)caller, (void)contract;
    side->call = call;
    pvma_call_accept(call, NULL, &side_handler, side);
}

/* Calls from a to b, 1 Mbit/s either way. */
static inline void lab_call(struct lab *lab, struct side *caller, struct side *called)
{
    const struct pvma_contract contract = {
        .aal = PVMA_AAL5, .flow = PVMA_DUPLEX, .wanted.mean_bps = 1000000, .back_wanted.mean_bps = 1000000};
    struct pvma_host *a = pvma_net_host(lab->net, "a"), *b = pvma_net_host(lab->net, "b");
    *caller = *called = (struct side){.sim = lab->sim};
    pvma_host_unlisten(b, 1);
    ck_assert_int_eq(pvma_host_listen(b, 1, side_accept, called), 0);
    caller->call = pvma_call_open(a, pvma_host_address(b), 1, &contract, &side_handler, caller);
}

/* The bandwidth that is reserved on all links. */
static inline int64_t lab_reserved_bps(struct lab *lab)
{
    int64_t sum = 0;
    for (size_t i = 0; i < pvma_net_link_count(lab->net); i++)
        sum += pvma_net_link_at(lab->net, i)->reserved_bps;
    return sum;
}

#endif
