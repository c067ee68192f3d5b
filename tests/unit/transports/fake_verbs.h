/*
 * fake_verbs.h - a fake of libibverbs within one process: enough for the transport rdma, without a device.
 *
 * Sent messages arrive at once. Everything is checked: keys, ranges, sizes, room in queues, the order in which objects
 * are destroyed; incorrect use of the library ends the test. test_verbs.c compares the fake with real devices. On
 * request, calls and completions fail, events occur, and the device stops responding.
 */
#ifndef FAKE_VERBS_H
#define FAKE_VERBS_H

#include "transports/rdma/verbs.h"

/* X(name): the calls that can be made to fail, as in struct pvmt_verbs. */
#define FAKE_CALLS(X)                                                                                                  \
    X(get_device_list)                                                                                                 \
    X(open_device)                                                                                                     \
    X(query_device)                                                                                                    \
    X(query_port)                                                                                                      \
    X(query_gid_table)                                                                                                 \
    X(alloc_pd)                                                                                                        \
    X(reg_mr)                                                                                                          \
    X(create_comp_channel)                                                                                             \
    X(create_cq)                                                                                                       \
    X(poll_cq)                                                                                                         \
    X(req_notify_cq)                                                                                                   \
    X(get_cq_event)                                                                                                    \
    X(create_srq)                                                                                                      \
    X(post_srq_recv)                                                                                                   \
    X(create_qp)                                                                                                       \
    X(modify_qp)                                                                                                       \
    X(post_recv)                                                                                                       \
    X(post_send)                                                                                                       \
    X(get_async_event)

enum fake_call {
#define X(name) FAKE_##name,
    FAKE_CALLS(X)
#undef X
        FAKE_CALL_COUNT
};

/* Properties of the device, to be set before its use. */
struct fake_device {
    bool absent;     /* there is none */
    bool soft;       /* it identifies itself as soft-RoCE */
    bool infiniband; /* else Ethernet */
    bool no_shared;  /* no shared receive queues */
    bool port_down;
    unsigned gids;       /* in its GID table: a link-local address, 10.0.0.1, 10.0.0.2 */
    unsigned inline_max; /* bytes */
    int max_cqe;         /* 0: enough */
};

/* The faults to inject. All counts start at 1; 0: never. */
struct fake_plan {
    enum fake_call call; /* its ... */
    unsigned fail_at;    /* ... n-th use fails, ... */
    bool for_ever;       /* ... and all uses after it */
    unsigned status_at;  /* the n-th completion has ... */
    enum ibv_wc_status status;
    unsigned event_at; /* after the n-th call of any kind comes ... */
    enum ibv_event_type event;
    unsigned silent_at; /* from the n-th work request on, nothing happens any more */
};

extern struct fake_device fake_device;
extern struct fake_plan fake_plan;
extern unsigned fake_uses[FAKE_CALL_COUNT]; /* of each call since the reset */
extern unsigned fake_completions, fake_all_calls, fake_works;

extern const struct pvmt_verbs fake_verbs;

/* Resets everything: no faults, counts at 0. There must be no objects. */
void fake_verbs_reset(void);

/* Number of objects that have not been destroyed. */
unsigned fake_verbs_objects(void);

/* Bytes registered now. */
size_t fake_verbs_registered(void);

/* Raises an event of the device. */
void fake_verbs_event(enum ibv_event_type type);

/* Forces all queue pairs into the error state, like a device after an internal error. */
void fake_verbs_break_queues(void);

/* Sends a message from the queue pair with this number to its peer, as a hostile peer can. */
void fake_verbs_say(uint32_t from, const void *data, size_t bytes);

/* The number of the n-th queue pair created, from 0. */
uint32_t fake_verbs_queue(unsigned n);

#endif
