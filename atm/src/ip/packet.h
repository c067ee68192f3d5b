/*
 * packet.h - IP packets with a UDP or TCP header: in memory as fields, on a network as bytes with check sums.
 *
 * Stations are numbered from 1; station n has the address 10.0.0.n (or 10.0.m.n). Of IP's options and of TCP's none are
 * used; ports and the window are 16 bits as ever.
 */
#ifndef PVMA_PACKET_H
#define PVMA_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PVMA_IP_BYTES = 20,
    PVMA_UDP_BYTES = 8,
    PVMA_TCP_BYTES = 20,
    PVMA_PACKET_MAX = 65535, /* bytes of an IP packet */
};

enum pvma_protocol { PVMA_TCP = 6, PVMA_UDP = 17 };

struct pvma_packet {
    struct pvma_packet *next;     /* the holder's */
    uint32_t source, destination; /* stations */
    uint8_t protocol;
    uint16_t id, offset; /* of the datagram; of this fragment in it, in bytes */
    bool more;           /* fragments follow */
    uint16_t source_port, destination_port;
    uint32_t sequence, acknowledged; /* TCP */
    uint16_t window;                 /* TCP */
    uint32_t length;                 /* bytes of payload */
    uint8_t data[];
};

/* A packet with room for `length` bytes of payload, all else 0. free() it. */
struct pvma_packet *pvma_packet_new(uint32_t length);

/* Bytes that it has on a network: headers and payload. */
uint32_t pvma_packet_bytes(const struct pvma_packet *packet);

/* Writes it to bytes[pvma_packet_bytes()]. */
void pvma_packet_encode(const struct pvma_packet *packet, uint8_t *bytes);

/*
 * A new packet out of bytes from a network; NULL: too short, another version or protocol, or a wrong check sum. A
 * fragment that is not the first has no UDP header; the check sum of a fragmented datagram is not looked at.
 */
struct pvma_packet *pvma_packet_decode(const uint8_t *bytes, size_t length);

#endif
