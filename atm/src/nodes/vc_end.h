/* vc_end.h - inside the host: the structs of a VC's end and of the host. For host_*.c and call.c only. */
#ifndef PVMA_VC_END_H
#define PVMA_VC_END_H

#include "abr/abr.h"
#include "host.h"
#include "payload.h"

struct pvma_control; /* the host's signalling, see control.h */

/* A PDU in the sending host. */
struct pvma_outgoing {
    struct pvma_job job; /* at the processor */
    struct pvma_outgoing *next;
    struct pvma_adapter *adapter;
    struct pvma_vc *vc; /* NULL: the VC was closed in the meantime */
    uint64_t cookie;
    struct pvma_payload *payload;
};

/* A reassembled PDU that waits for the receiving host's processor. */
struct pvma_incoming {
    struct pvma_job job;
    struct pvma_incoming *next;
    struct pvma_host *host;
    struct pvma_vc *vc; /* NULL: the VC was closed in the meantime */
    size_t length;
    uint8_t data[];
};

struct pvma_vc {
    struct pvma_host *host;
    struct pvma_adapter *tx, *rx; /* where it sends and receives: not always the same */
    struct pvma_vc *next;         /* of the host */
    enum pvma_aal aal;
    struct pvma_vc_ids ids;
    const struct pvma_vc_handler *handler;
    void *arg;
    bool wants_room;          /* PVMC_EAGAIN was returned */
    size_t mtu;               /* 0: the host's */
    pvma_vc_carrier *carrier; /* NULL: it has a VC of its own */
    void *carrier_arg;
    /* sending */
    struct pvma_outgoing *ready, **ready_tail; /* to be segmented, the first in progress */
    struct pvma_payload *payload;              /* of the PDU sent last; NULL: none yet */
    unsigned queued;                           /* PDUs at the processor or in `ready` */
    bool cutting;                              /* the segmenter has begun the first */
    struct pvma_segmenter segmenter;
    struct pvma_cellq injected; /* cells of background sources */
    uint32_t credits;
    pvma_ps gap, not_before;  /* pacing */
    struct pvma_abr *abr;     /* NULL: another service */
    struct pvma_cellq turned; /* ABR: resource-management cells of the other end, on their way back */
    uint64_t cells;           /* sent */
    struct pvma_vc *next_active;
    bool active; /* in the adapter's round of VCs with something to send */
    /* receiving */
    struct pvma_reassembler reassembler;
    bool hold; /* keep PDUs that arrive before a handler is set */
    struct pvma_incoming *held, **held_tail;
    unsigned held_count;
};

/* An adapter has a link, a send queue, and VCs of its own. */
struct pvma_adapter {
    struct pvma_host *host;
    struct pvma_port *at; /* of the host's node */
    struct pvma_stage tx_stage, rx_stage;
    struct pvma_vctable rx; /* by VPI/VCI of incoming cells */
    struct pvma_vctable tx; /* by VPI/VCI of outgoing cells, for credits */
    /* sending */
    unsigned queued;                     /* PDUs in the send queue */
    struct pvma_vc *round, **round_tail; /* VCs with something to send, the next one first */
    unsigned round_length;
    bool has_paced;          /* some VC is paced */
    struct pvma_job cut_job; /* segmentation of `being_cut` */
    struct pvma_cell *being_cut;
    struct pvma_event due;          /* a paced VC may send again */
    struct pvma_cellq fifo, urgent; /* to the link; urgent: signalling */
    /* receiving */
    struct pvma_cellq rx_fifo; /* the first is being reassembled */
    struct pvma_job join_job;
};

struct pvma_host {
    struct pvma_node node;
    const struct pvma_profile *profile;
    struct pvma_host_counters counters;
    size_t mtu; /* of its programs */
    struct pvma_stage processor;
    struct pvma_vc *vcs;
    struct pvma_outgoing *working, **working_tail;                                      /* at the processor, in order */
    struct pvma_incoming *incoming, **incoming_tail;                                    /* at the processor, in order */
    unsigned waiting;                                                                   /* number of `incoming` PDUs */
    void (*signal_cell)(struct pvma_host *host, unsigned port, struct pvma_cell *cell); /* takes cells of VCI 5 */
    struct pvma_control *control;
    struct pvma_adapter adapter[]; /* as many as the node has ports */
};

/* host_send.c */
void pvma_host_send_init(struct pvma_host *host);
void pvma_adapter_send_init(struct pvma_adapter *adapter);
void pvma_host_send_end(struct pvma_host *host);
void pvma_host_link_free(struct pvma_node *node, unsigned port);
void pvma_host_credit(struct pvma_node *node, unsigned port, uint16_t vpi, uint16_t vci);
void pvma_vc_forget_sends(struct pvma_vc *vc); /* the VC closes: drops unsent PDUs */
void pvma_host_urgent(struct pvma_host *host, unsigned port, struct pvma_cell *cell); /* takes a signalling cell */

/* host_receive.c */
void pvma_host_receive_init(struct pvma_host *host);
void pvma_adapter_receive_init(struct pvma_adapter *adapter);
void pvma_host_receive_end(struct pvma_host *host);
void pvma_host_cell(struct pvma_node *node, unsigned port, struct pvma_cell *cell);
void pvma_vc_release_held(struct pvma_vc *vc);    /* delivers held PDUs: a handler was set */
void pvma_vc_forget_receives(struct pvma_vc *vc); /* the VC closes: waiting PDUs will not be delivered */

/* Spaces the cells of a VC at a rate; 0 ends pacing. */
void pvma_vc_pace(struct pvma_vc *vc, int64_t rate_bps);

/* The VC has a cell to turn round, or may send earlier than before. */
void pvma_vc_wake(struct pvma_vc *vc);

static inline int64_t pvma_host_cost(const struct pvma_host *host, enum pvma_cost cost)
{
    return host->profile->cost[cost];
}

#endif
