/*
 * end.h - one end of a bidirectional channel between two simulated processes, independent of the stack. The papers'
 * programs echo, matmul and pde use it. As in the papers, both sides know the length of the next message.
 */
#ifndef PVMA_END_H
#define PVMA_END_H

#include <stdint.h>
#include "tcp.h"

struct pvma_vc;

struct pvma_end {
    /* Both run in a fiber of the process at this end; send returns when a blocking call of the stack would. */
    void (*send)(struct pvma_end *end, const void *data, uint32_t length);
    void (*receive)(struct pvma_end *end, void *data, uint32_t length);
    void (*free)(struct pvma_end *end);
};

/* Create both ends; release each with its free(). The stations (or VCs) must outlive them. */

/* The Fore API: a message is split into PDUs of the MTU. Losses are not recovered. */
void pvma_end_fore(struct pvma_vc *vc_a, struct pvma_vc *vc_b, struct pvma_end **a, struct pvma_end **b);

/* A stream socket. */
void pvma_end_tcp(struct pvma_station *on_a, struct pvma_station *on_b, const struct pvma_tcp_settings *settings,
                  struct pvma_end **a, struct pvma_end **b);

/* Sun RPC over TCP: XDR, record marking; a message is a call or an answer. */
void pvma_end_rpc(struct pvma_station *on_a, struct pvma_station *on_b, const struct pvma_tcp_settings *settings,
                  struct pvma_end **a, struct pvma_end **b);

/* PVM's direct route ("advise"): packing, fragments of fragment_bytes plus header, one TCP connection. */
void pvma_end_pvm_direct(struct pvma_station *on_a, struct pvma_station *on_b, const struct pvma_tcp_settings *settings,
                         uint32_t fragment_bytes, struct pvma_end **a, struct pvma_end **b);

struct pvma_daemon;

/* A pvmd of a station; packets to other daemons have at most packet_bytes (PVM: 4096). */
struct pvma_daemon *pvma_daemon_new(struct pvma_station *station, uint32_t packet_bytes);
void pvma_daemon_free(struct pvma_daemon *daemon);

/* PVM's default route ("normal"): task, daemon, UDP with acknowledgements, daemon, task. */
void pvma_end_pvm_daemon(struct pvma_daemon *at_a, struct pvma_daemon *at_b, struct pvma_end **a, struct pvma_end **b);

/* The TCP socket under an end, for its counters. */
struct pvma_tcp *pvma_end_socket(struct pvma_end *end);

#endif
