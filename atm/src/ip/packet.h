/*
 * packet.h - IP packets with a UDP or TCP header: in memory as fields, on a network as bytes with checksums.
 *
 * Stations are numbered from 1; station n has the address 10.0.0.n (or 10.0.m.n). IP and TCP options are not used;
 * ports and the window have 16 bits.
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
    struct pvma_packet *next;     /* for the holder's use */
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

/* A packet with room for `length` bytes of payload, everything else 0. Release it with free(). */
struct pvma_packet *pvma_packet_new(uint32_t length);

/* Size on a network: headers and payload. */
uint32_t pvma_packet_bytes(const struct pvma_packet *packet);

/* Writes it to bytes[pvma_packet_bytes()]. */
void pvma_packet_encode(const struct pvma_packet *packet, uint8_t *bytes);

/*
 * Decodes bytes from a network into a new packet. NULL: too short, another version or protocol, or a wrong checksum. A
 * fragment other than the first has no UDP header; the checksum of a fragmented datagram is not checked.
 */
struct pvma_packet *pvma_packet_decode(const uint8_t *bytes, size_t length);

#endif
