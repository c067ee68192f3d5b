/* discovery.c - WHO and HERE. */
#include "discovery.h"
#include <string.h>
#include "core/clock.h"
#include "endpoint.h"

enum { CHECKSUM_AT = 8 };

/* FNV-1a: control frames are short and rare. */
uint32_t dpi_discovery_checksum(const uint8_t *frame, size_t length)
{
    uint32_t sum = 0x811c9dc5;
    for (size_t i = DPI_ETHERNET_BYTES; i < DPI_HEADERS_BYTES + length; i++)
        sum = (sum ^ frame[i]) * 0x01000193;
    return sum;
}

static void say(struct dpi_endpoint *e, enum dpi_kind kind, struct dpi_point to, const uint8_t hardware[6])
{
    uint8_t frame[DPI_HEADERS_BYTES + DPI_DISCOVERY_BYTES] = {0}, *body = frame + DPI_HEADERS_BYTES;
    struct dpi_message m = {.kind = kind, .to = to, .from = e->port.point, .length = DPI_DISCOVERY_BYTES};
    dpi_message_encode(&m, e->port.ethertype, hardware, e->port.interface.hardware, frame);
    memcpy(body, e->port.interface.hardware, 6);
    uint32_t sum = dpi_discovery_checksum(frame, CHECKSUM_AT);
    for (int i = 0; i < 4; i++)
        body[CHECKSUM_AT + i] = (uint8_t)(sum >> (24 - 8 * i));
    dpi_port_put(&e->port, frame, sizeof frame);
}

void dpi_discovery_ask(struct dpi_endpoint *e, const struct dpi_peer *p)
{
    static const uint8_t to_all[6] = {255, 255, 255, 255, 255, 255};
    say(e, DPI_WHO, p->point, to_all);
}

static bool is_sound(const uint8_t *frame, const struct dpi_message *m)
{
    const uint8_t *body = frame + DPI_HEADERS_BYTES, *at = body + CHECKSUM_AT;
    if (m->length != DPI_DISCOVERY_BYTES || memcmp(body, frame + 6, 6) || body[0] & 1)
        return false;
    uint32_t sum = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    return sum == dpi_discovery_checksum(frame, CHECKSUM_AT);
}

bool dpi_discovery_take(struct dpi_endpoint *e, const uint8_t *frame, const struct dpi_message *m)
{
    if (!is_sound(frame, m))
        return false;
    int64_t now_us = pvmc_clock_us();
    dpi_nart_learn(e->nart, m->from.node, frame + 6, now_us);
    struct dpi_peer *p = dpi_peer_find(e, m->from);
    if (p)
        dpi_peer_confirm(e, p, now_us);
    if (m->kind == DPI_WHO)
        say(e, DPI_HERE, m->from, frame + 6);
    return true;
}
