/*
 * hello.h - the handshake of a reliable channel. Each end draws a random number for the connection, its incarnation,
 * and announces it; so a packet sent before an end was reopened is recognized.
 */
#ifndef DPI_DP_HELLO_H
#define DPI_DP_HELLO_H

#include "peer.h"

#define DPI_HELLO_BYTES 16 /* after the message header: own, yours, flags, three zeros, checksum */

enum dpi_hello_flag {
    DPI_HELLO_ASKS = 1,    /* requests a hello back */
    DPI_HELLO_BACK_N = 2,  /* the channel is Go-Back-N */
    DPI_HELLO_BYE = 4,     /* the sender will close this connection */
    DPI_HELLO_BYE_ACK = 8, /* answers it: the sender has nothing more to send */
};

struct dpi_hello {
    uint32_t own, yours; /* incarnations, as the sender sees them; yours 0: not known */
    uint8_t flags;
};

void dpi_hello_say(struct dpi_endpoint *e, const struct dpi_peer *p, const struct dpi_hello *h);

/* Reads a message of kind HELLO. False: it is malformed. */
bool dpi_hello_read(const uint8_t *frame, const struct dpi_message *m, struct dpi_hello *out);

#endif
