/* message.c - the format of a Directed Message. Numbers are in network byte order, as tcpdump expects. */
#include "message.h"
#include <string.h>
#include "core/error.h"

#define VERSION 1

static void put16(uint8_t *to, uint16_t v)
{
    to[0] = (uint8_t)(v >> 8);
    to[1] = (uint8_t)v;
}

static uint16_t get16(const uint8_t *from)
{
    return (uint16_t)(from[0] << 8 | from[1]);
}

void dpi_message_encode(const struct dpi_message *m, uint16_t ethertype, const uint8_t to_hardware[6],
                        const uint8_t from_hardware[6], uint8_t wire[DPI_HEADERS_BYTES])
{
    uint8_t *header = wire + DPI_ETHERNET_BYTES;
    memcpy(wire, to_hardware, 6);
    memcpy(wire + 6, from_hardware, 6);
    put16(wire + 12, ethertype);
    header[0] = VERSION;
    header[1] = (uint8_t)m->kind;
    put16(header + 2, m->length);
    put16(header + 4, m->to.node);
    put16(header + 6, m->to.point);
    put16(header + 8, m->from.node);
    put16(header + 10, m->from.point);
}

int dpi_message_decode(const uint8_t *frame, size_t length, struct dpi_message *m)
{
    const uint8_t *header = frame + DPI_ETHERNET_BYTES;
    if (length < DPI_HEADERS_BYTES)
        return PVMC_EFORMAT;
    if (header[0] != VERSION)
        return PVMC_EVERSION;
    *m = (struct dpi_message){.kind = header[1],
                              .length = get16(header + 2),
                              .to = {get16(header + 4), get16(header + 6)},
                              .from = {get16(header + 8), get16(header + 10)}};
    bool known = m->kind >= DPI_DATA && m->kind <= DPI_HELLO;
    return known && m->length <= length - DPI_HEADERS_BYTES ? 0 : PVMC_EFORMAT;
}
