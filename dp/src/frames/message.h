/*
 * message.h - the Directed Message: a header of 12 bytes after the Ethernet header, and the data. The header names both
 * ends, so that a frame needs no connection. Byte by byte in doc/protocol.md.
 */
#ifndef DPI_DP_MESSAGE_H
#define DPI_DP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DPI_ETHERTYPE      0x88b5 /* "local experimental" of IEEE 802; PVM_DP_ETHERTYPE sets another */
#define DPI_ETHERNET_BYTES 14
#define DPI_MESSAGE_BYTES  12
#define DPI_HEADERS_BYTES  (DPI_ETHERNET_BYTES + DPI_MESSAGE_BYTES)

enum dpi_kind {
    DPI_DATA = 1, /* a message of a raw endpoint */
    DPI_RELIABLE, /* a packet of the reliability layer */
    DPI_WHO,      /* who is this node? */
    DPI_HERE,     /* the answer: it is in the source address of the frame */
    DPI_HELLO,    /* the handshake of a reliable channel */
};

struct dpi_point {
    uint16_t node, point; /* NID, DPID; from 1 */
};

struct dpi_message {
    enum dpi_kind kind;
    struct dpi_point to, from;
    uint16_t length; /* bytes after the header; short frames are padded on the wire */
};

/* Writes the Ethernet header and the message header. */
void dpi_message_encode(const struct dpi_message *m, uint16_t ethertype, const uint8_t to_hardware[6],
                        const uint8_t from_hardware[6], uint8_t wire[DPI_HEADERS_BYTES]);

/*
 * Reads a frame of `length` bytes: 0, PVMC_EFORMAT, PVMC_EVERSION. The data is m->length bytes at frame +
 * DPI_HEADERS_BYTES.
 */
int dpi_message_decode(const uint8_t *frame, size_t length, struct dpi_message *m);

#endif
