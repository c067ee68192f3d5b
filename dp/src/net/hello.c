/* hello.c - the format of a hello. */
#include "hello.h"
#include <string.h>
#include "discovery.h"
#include "endpoint.h"

enum { OWN_AT = 0, YOURS_AT = 4, FLAGS_AT = 8, CHECKSUM_AT = 12, FLAGS = 15 };

static void put32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> (24 - 8 * i));
}

static uint32_t get32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

void dpi_hello_say(struct dpi_endpoint *e, const struct dpi_peer *p, const struct dpi_hello *h)
{
    uint8_t frame[DPI_HEADERS_BYTES + DPI_HELLO_BYTES] = {0}, *body = frame + DPI_HEADERS_BYTES;
    memcpy(frame, p->headers, sizeof p->headers);
    frame[DPI_ETHERNET_BYTES + 1] = DPI_HELLO;
    frame[DPI_ETHERNET_BYTES + 3] = DPI_HELLO_BYTES;
    put32(body + OWN_AT, h->own);
    put32(body + YOURS_AT, h->yours);
    body[FLAGS_AT] = h->flags;
    put32(body + CHECKSUM_AT, dpi_discovery_checksum(frame, CHECKSUM_AT));
    dpi_port_put(&e->port, frame, sizeof frame);
}

bool dpi_hello_read(const uint8_t *frame, const struct dpi_message *m, struct dpi_hello *out)
{
    const uint8_t *body = frame + DPI_HEADERS_BYTES;
    if (m->length != DPI_HELLO_BYTES || body[FLAGS_AT] & ~FLAGS ||
        get32(body + CHECKSUM_AT) != dpi_discovery_checksum(frame, CHECKSUM_AT))
        return false;
    *out = (struct dpi_hello){get32(body + OWN_AT), get32(body + YOURS_AT), body[FLAGS_AT]};
    return out->own != 0;
}
