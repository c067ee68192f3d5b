/*
 * message.h - the Directed Message: a header of 12 bytes behind the Ethernet header, and what follows it. The channel
 * is named in full, so that a frame needs no connection. Byte by byte in doc/protocol.md.
 */
#ifndef PVMI_DP_MESSAGE_H
#define PVMI_DP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PVMI_DP_ETHERTYPE      0x88b5 /* "local experimental" of IEEE 802; another one by PVM_DP_ETHERTYPE */
#define PVMI_DP_ETHERNET_BYTES 14
#define PVMI_DP_MESSAGE_BYTES  12
#define PVMI_DP_HEADERS_BYTES  (PVMI_DP_ETHERNET_BYTES + PVMI_DP_MESSAGE_BYTES)

enum pvmi_dp_kind {
    PVMI_DP_DATA = 1, /* a message of a raw endpoint */
    PVMI_DP_RELIABLE, /* a packet of the reliability layer */
    PVMI_DP_WHO,      /* who is this node? */
    PVMI_DP_HERE,     /* the answer: it is in the source address of the frame */
    PVMI_DP_HELLO,    /* ends of a reliable channel name themselves to one another */
};

struct pvmi_dp_point {
    uint16_t node, point; /* NID, DPID; from 1 */
};

struct pvmi_dp_message {
    enum pvmi_dp_kind kind;
    struct pvmi_dp_point to, from;
    uint16_t length; /* bytes behind the header; short frames are padded on the wire */
};

/* Writes Ethernet header and message header. */
void pvmi_dp_message_encode(const struct pvmi_dp_message *m, uint16_t ethertype, const uint8_t to_hardware[6],
                            const uint8_t from_hardware[6], uint8_t wire[PVMI_DP_HEADERS_BYTES]);

/*
 * Reads a frame of `length` bytes; PVMI_EFORMAT, PVMI_EVERSION. What follows the header is m->length bytes at
 * frame + PVMI_DP_HEADERS_BYTES.
 */
int pvmi_dp_message_decode(const uint8_t *frame, size_t length, struct pvmi_dp_message *m);

#endif
