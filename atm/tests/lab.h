/* lab.h - used by all tests of the simulated network: a network from a text, and a record of received PDUs. */
#ifndef LAB_H
#define LAB_H

#include "core/log.h"
#include "atm/src/network/network.h"
#include "unit.h"

struct lab {
    struct pvma_topology topology;
    struct pvma_net *net;
    struct pvma_sim *sim;
};

/* Builds the network of a text, which must be valid. */
static inline void lab_open(struct lab *lab, const char *text, uint64_t seed)
{
    ck_assert_int_eq(pvma_topology_parse("lab", text, strlen(text), &lab->topology), 0);
    lab->net = pvma_net_new(&lab->topology, seed);
    ck_assert_ptr_nonnull(lab->net);
    lab->sim = pvma_net_sim(lab->net);
}

/* Frees the network; every cell must be accounted for. */
static inline void lab_close(struct lab *lab)
{
    pvma_net_free(lab->net);
    pvma_topology_free(&lab->topology);
}

/* The PDUs received at an end of a VC. */
struct lab_inbox {
    struct pvma_sim *sim;
    unsigned pdus;
    uint64_t bytes;
    size_t last_length;
    pvma_ps last;
    uint8_t data[PVMA_PDU_MAX];
};

static inline void lab_take(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct lab_inbox *inbox = arg;
    (void)vc;
    inbox->pdus++;
    inbox->bytes += length;
    inbox->last_length = length;
    inbox->last = pvma_sim_now(inbox->sim);
    memcpy(inbox->data, data, length);
}

static inline void lab_receive(struct lab *lab, struct pvma_vc *vc, struct lab_inbox *inbox)
{
    static const struct pvma_vc_handler handler = {.received = lab_take};
    memset(inbox, 0, sizeof *inbox);
    inbox->sim = lab->sim;
    pvma_vc_handle(vc, &handler, inbox);
}

/* A sender that always has another PDU to send. */
struct lab_greedy {
    size_t bytes;
    unsigned sent, left; /* left: how many more it may send */
};

static inline void lab_greedy_more(struct lab_greedy *greedy, struct pvma_vc *vc)
{
    static uint8_t data[PVMA_PDU_MAX];
    if (greedy->left && !pvma_vc_send(vc, data, greedy->bytes, 0)) {
        greedy->left--;
        greedy->sent++;
    }
}

static inline void lab_greedy_taken(void *arg, struct pvma_vc *vc, uint64_t cookie)
{
    (void)cookie;
    lab_greedy_more(arg, vc);
}

static inline void lab_greedy_room(void *arg, struct pvma_vc *vc)
{
    lab_greedy_more(arg, vc);
}

static inline void lab_flood(struct pvma_vc *vc, struct lab_greedy *greedy, size_t bytes, unsigned pdus)
{
    static const struct pvma_vc_handler handler = {.taken = lab_greedy_taken, .room = lab_greedy_room};
    *greedy = (struct lab_greedy){.bytes = bytes, .left = pdus};
    pvma_vc_handle(vc, &handler, greedy);
    lab_greedy_more(greedy, vc);
}

/* Simulated time in whole nanoseconds, rounded. */
static inline long lab_ns(pvma_ps time)
{
    return (long)((time + 500) / 1000);
}

#endif
