/* discovery.c - WHO and HERE. */
#include "discovery.h"
#include <string.h>
#include "../core/clock.h"
#include "endpoint.h"

enum { CHECKSUM_AT = 8 };

/* FNV-1a: control frames are short and rare. */
uint32_t pvmi_discovery_checksum(const uint8_t *frame, size_t length)
{
    uint32_t sum = 0x811c9dc5;
    for (size_t i = PVMI_DP_ETHERNET_BYTES; i < PVMI_DP_HEADERS_BYTES + length; i++)
        sum = (sum ^ frame[i]) * 0x01000193;
    return sum;
}

static void say(struct pvmi_endpoint *e, enum pvmi_dp_kind kind, struct pvmi_dp_point to, const uint8_t hardware[6])
{
    uint8_t frame[PVMI_DP_HEADERS_BYTES + PVMI_DISCOVERY_BYTES] = {0}, *body = frame + PVMI_DP_HEADERS_BYTES;
    struct pvmi_dp_message m = {.kind = kind, .to = to, .from = e->port.point, .length = PVMI_DISCOVERY_BYTES};
    pvmi_dp_message_encode(&m, e->port.ethertype, hardware, e->port.interface.hardware, frame);
    memcpy(body, e->port.interface.hardware, 6);
    uint32_t sum = pvmi_discovery_checksum(frame, CHECKSUM_AT);
    for (int i = 0; i < 4; i++)
        body[CHECKSUM_AT + i] = (uint8_t)(sum >> (24 - 8 * i));
    pvmi_dp_port_put(&e->port, frame, sizeof frame);
}

void pvmi_discovery_ask(struct pvmi_endpoint *e, const struct pvmi_peer *p)
{
    static const uint8_t to_all[6] = {255, 255, 255, 255, 255, 255};
    say(e, PVMI_DP_WHO, p->point, to_all);
}

static bool is_sound(const uint8_t *frame, const struct pvmi_dp_message *m)
{
    const uint8_t *body = frame + PVMI_DP_HEADERS_BYTES, *at = body + CHECKSUM_AT;
    if (m->length != PVMI_DISCOVERY_BYTES || memcmp(body, frame + 6, 6) || body[0] & 1)
        return false;
    uint32_t sum = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    return sum == pvmi_discovery_checksum(frame, CHECKSUM_AT);
}

bool pvmi_discovery_take(struct pvmi_endpoint *e, const uint8_t *frame, const struct pvmi_dp_message *m)
{
    if (!is_sound(frame, m))
        return false;
    int64_t now_us = pvmi_clock_us();
    pvmi_nart_learn(e->nart, m->from.node, frame + 6, now_us);
    struct pvmi_peer *p = pvmi_peer_find(e, m->from);
    if (p)
        pvmi_peer_confirm(e, p, now_us);
    if (m->kind == PVMI_DP_WHO)
        say(e, PVMI_DP_HERE, m->from, frame + 6);
    return true;
}
