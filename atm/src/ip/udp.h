/* udp.h - UDP sockets of a station, for fibers. */
#ifndef PVMA_UDP_H
#define PVMA_UDP_H

#include "lan/station.h"

struct pvma_fiber;

struct pvma_udp {
    struct pvma_ip_port port;
    struct pvma_station *station;
    struct pvma_packet *first, **last; /* datagrams not yet read */
    uint32_t bytes, buffer_bytes;      /* queued bytes, and their limit */
    struct pvma_fiber *reader;         /* waiting for a datagram */
    uint64_t received, overflows;      /* datagrams received; dropped because the buffer was full */
};

/* A socket on a port (0: any free one) with a receive buffer of that size. */
void pvma_udp_open(struct pvma_udp *udp, struct pvma_station *station, uint16_t port, uint32_t buffer_bytes);
void pvma_udp_close(struct pvma_udp *udp);

/* Sends a datagram, unreliably. The fiber continues when its processor has passed it to the network. */
void pvma_udp_send(struct pvma_udp *udp, uint32_t to, uint16_t port, const void *data, uint32_t length);

/* Waits for a datagram, which is the caller's to free(). */
struct pvma_packet *pvma_udp_receive(struct pvma_udp *udp);

#endif
