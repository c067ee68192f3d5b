/*
 * price.h - the processor time of a piece of work, and a host's costs layer by layer. The origin of each number is
 * given where it is set: suns.c, tum_hosts.c and an2.c in papers/.
 */
#ifndef PVMA_PRICE_H
#define PVMA_PRICE_H

#include <stdint.h>
#include "base/sim.h"

struct pvma_price {
    double fixed_us; /* each time */
    double byte_us;  /* for each byte */
};

static inline pvma_ps pvma_price_of(struct pvma_price cost, uint64_t bytes)
{
    return (pvma_ps)((cost.fixed_us + cost.byte_us * (double)bytes) * 1e6 + 0.5);
}

/* The same work on a processor that takes `factor` times as long. */
static inline struct pvma_price pvma_price_scaled(struct pvma_price cost, double factor)
{
    return (struct pvma_price){cost.fixed_us * factor, cost.byte_us * factor};
}

struct pvma_host_costs {
    struct pvma_price frame_out, frame_in;       /* an IP packet in the network interface's driver */
    struct pvma_price tcp_out, tcp_in;           /* a segment with data, IP and checksum included */
    struct pvma_price ack_out, ack_in;           /* a segment without data */
    struct pvma_price udp_out, udp_in;           /* a datagram's packet */
    struct pvma_price socket_write, socket_read; /* a system call and its copy */
    struct pvma_price mbuf_out, mbuf_in;         /* a buffer of a write or of a packet's payload: see mbuf.h */
    struct pvma_price wakeup;                    /* a waiting process runs again */
    struct pvma_price pvm_send, pvm_receive;     /* a message, in libpvm: packing and unpacking */
    struct pvma_price pvm_data;                  /* extra cost of a message with data over an empty one, either side */
    struct pvma_price pvm_fragment;              /* a fragment, in libpvm */
    struct pvma_price local;                     /* a fragment between task and daemon, at either side */
    struct pvma_price pvmd_fragment;             /* a fragment, in a daemon */
    struct pvma_price rpc_call, rpc_reply;       /* a call or an answer in the RPC library; the byte price is XDR's */
};

#endif
