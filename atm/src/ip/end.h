/*
 * end.h - one end of a two-way way between two simulated processes, whatever the stack below: what echo, matmul and
 * pde of the papers are written on. Both sides know how long the next message is, as in the papers' programs.
 */
#ifndef PVMA_END_H
#define PVMA_END_H

#include <stdint.h>
#include "tcp.h"

struct pvma_vc;

struct pvma_end {
    /* Both from a fiber of the process at this end; send returns when a blocking call of the stack would. */
    void (*send)(struct pvma_end *end, const void *data, uint32_t length);
    void (*receive)(struct pvma_end *end, void *data, uint32_t length);
    void (*free)(struct pvma_end *end);
};

/* Makes both ends; each is freed with its free(). The stations (or VCs) must outlive them. */

/* The Fore API: a message is cut into PDUs of the MTU. Nothing that is lost comes again. */
void pvma_end_fore(struct pvma_vc *vc_a, struct pvma_vc *vc_b, struct pvma_end **a, struct pvma_end **b);

/* A stream socket. */
void pvma_end_tcp(struct pvma_station *on_a, struct pvma_station *on_b, const struct pvma_tcp_settings *settings,
                  struct pvma_end **a, struct pvma_end **b);

/* Sun RPC over TCP: XDR, record marking; a message is a call or an answer. */
void pvma_end_rpc(struct pvma_station *on_a, struct pvma_station *on_b, const struct pvma_tcp_settings *settings,
                  struct pvma_end **a, struct pvma_end **b);

/* PVM's direct route ("advise"): packing, fragments of so many bytes with headers, one TCP connection. */
void pvma_end_pvm_direct(struct pvma_station *on_a, struct pvma_station *on_b, const struct pvma_tcp_settings *settings,
                         uint32_t fragment_bytes, struct pvma_end **a, struct pvma_end **b);

struct pvma_daemon;

/* A pvmd of a station, with packets of that many bytes to other daemons (PVM: 4096). */
struct pvma_daemon *pvma_daemon_new(struct pvma_station *station, uint32_t packet_bytes);
void pvma_daemon_free(struct pvma_daemon *daemon);

/* PVM's default route ("normal"): task, daemon, UDP with acknowledgements, daemon, task. */
void pvma_end_pvm_daemon(struct pvma_daemon *at_a, struct pvma_daemon *at_b, struct pvma_end **a, struct pvma_end **b);

/* The TCP socket of an end that stands on one: for its counters. */
struct pvma_tcp *pvma_end_socket(struct pvma_end *end);

#endif
