/* fake_verbs_state.h - the objects of the fake library, for its own files only. */
#ifndef FAKE_VERBS_STATE_H
#define FAKE_VERBS_STATE_H

#include "fake_verbs.h"

struct fake_context {
    struct ibv_context base;
    int event_pipe[2];
    struct fake_context *prev, *next;
};

struct fake_cq;

struct fake_channel {
    struct ibv_comp_channel base;
    int write_end;
    struct fake_cq *cq;
};

struct fake_entry {
    struct ibv_wc wc;
    unsigned frees; /* entries of the send queue that are freed when this one is polled */
    struct fake_qp *sender;
    struct fake_entry *prev, *next;
};

struct fake_cq {
    struct ibv_cq base;
    struct fake_entry *entries;
    int count, most;
    bool notify;
    unsigned unacknowledged, users;
};

struct fake_receive {
    struct ibv_recv_wr wr;
    struct ibv_sge sge;
    struct fake_receive *prev, *next;
};

struct fake_srq {
    struct ibv_srq base;
    struct fake_receive *receives;
    unsigned count, most, users;
};

struct fake_work {
    struct ibv_send_wr wr;
    struct ibv_sge sge;
    uint8_t *inlined;
    struct fake_work *prev, *next;
};

/* A READ whose completion was reported although it has delivered nothing yet. */
struct fake_late {
    void *bytes, *to;
    size_t length;
};

struct fake_qp {
    struct ibv_qp base;
    struct ibv_qp_init_attr init;
    enum ibv_qp_state state;
    uint32_t peer;
    int access;
    struct fake_receive *receives;
    unsigned receive_count;
    struct fake_work *works; /* sends that wait for a buffer of the peer */
    unsigned outstanding;    /* entries of the send queue in use */
    unsigned since_signal;   /* of these: those after the last signalled one */
    struct fake_late late;
    bool running;
    struct fake_qp *prev, *next;
};

struct fake_mr {
    struct ibv_mr base;
    int access;
    struct fake_mr *prev, *next;
};

extern unsigned fake_objects;
extern struct fake_mr *fake_mrs;
extern struct fake_qp *fake_qps;
extern struct fake_context *fake_contexts;
extern uint32_t fake_next_number;

/* Counts the use of a call; returns whether it must fail. */
bool fake_fails(enum fake_call call);

/* Ends the test: incorrect use of the library. */
void fake_violation(const char *what) __attribute__((noreturn));

/* The region with this key that covers the bytes and allows the access, or NULL. */
struct fake_mr *fake_mr_find(uint32_t key, uint64_t at, size_t bytes, int access);

struct ibv_cq *fake_create_cq(struct ibv_context *c, int entries, struct ibv_comp_channel *channel);
int fake_destroy_cq(struct ibv_cq *cq);
int fake_poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *wc);
int fake_req_notify_cq(struct ibv_cq *cq);
int fake_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq);
void fake_ack_cq_events(struct ibv_cq *cq, unsigned count);
struct ibv_srq *fake_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int fake_destroy_srq(struct ibv_srq *srq);
int fake_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
struct ibv_qp *fake_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int fake_destroy_qp(struct ibv_qp *qp);
int fake_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);

/* Adds a completion to cq; the send queue of `sender` regains `frees` entries when it is polled. */
void fake_complete(struct fake_cq *cq, const struct ibv_wc *wc, struct fake_qp *sender, unsigned frees);

/* Completes everything left on its queues with an error. */
void fake_qp_flush(struct fake_qp *q);

#endif
