/* packet.c - see packet.h. RFC 791, 768, 793; the Internet checksum of RFC 1071. */
#include <stdlib.h>
#include <string.h>
#include "base/sim.h"
#include "packet.h"

enum { VERSION_AND_LENGTH = 0x45, TIME_TO_LIVE = 64, MORE_FRAGMENTS = 0x2000, OFFSET_UNIT = 8, TCP_ACK = 0x10 };

static const uint32_t network = 10u << 24;

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v);
}

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) << 16 | get16(p + 2);
}

static uint64_t sum_of(const uint8_t *p, size_t length)
{
    uint64_t sum = 0;

    for (; length > 1; p += 2, length -= 2)
        sum += get16(p);
    return length ? sum + ((uint32_t)p[0] << 8) : sum;
}

static uint16_t folded(uint64_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* Sums the pseudo header and everything after the IP header: 0 when the checksum in it is right. */
static uint16_t payload_sum(const uint8_t *bytes, size_t length)
{
    size_t rest = length - PVMA_IP_BYTES;

    return folded(sum_of(bytes + 12, 8) + bytes[9] + rest + sum_of(bytes + PVMA_IP_BYTES, rest));
}

static uint32_t header_bytes(uint8_t protocol, uint16_t offset)
{
    if (offset > 0)
        return 0;
    return protocol == PVMA_TCP ? PVMA_TCP_BYTES : PVMA_UDP_BYTES;
}

struct pvma_packet *pvma_packet_new(uint32_t length)
{
    struct pvma_packet *packet = pvma_new(sizeof *packet + length);

    packet->length = length;
    return packet;
}

uint32_t pvma_packet_bytes(const struct pvma_packet *packet)
{
    return PVMA_IP_BYTES + header_bytes(packet->protocol, packet->offset) + packet->length;
}

static void encode_ip(const struct pvma_packet *packet, uint8_t *p)
{
    memset(p, 0, PVMA_IP_BYTES);
    p[0] = VERSION_AND_LENGTH;
    put16(p + 2, pvma_packet_bytes(packet));
    put16(p + 4, packet->id);
    put16(p + 6, packet->offset / OFFSET_UNIT | (packet->more ? MORE_FRAGMENTS : 0));
    p[8] = TIME_TO_LIVE;
    p[9] = packet->protocol;
    put32(p + 12, network | packet->source);
    put32(p + 16, network | packet->destination);
    put16(p + 10, folded(sum_of(p, PVMA_IP_BYTES)));
}

static void encode_tcp(const struct pvma_packet *packet, uint8_t *p)
{
    put32(p + 4, packet->sequence);
    put32(p + 8, packet->acknowledged);
    put16(p + 12, PVMA_TCP_BYTES / 4 << 12 | TCP_ACK);
    put16(p + 14, packet->window);
    put32(p + 16, 0);
}

void pvma_packet_encode(const struct pvma_packet *packet, uint8_t *bytes)
{
    uint32_t header = header_bytes(packet->protocol, packet->offset), total = pvma_packet_bytes(packet);
    uint8_t *p = bytes + PVMA_IP_BYTES;

    encode_ip(packet, bytes);
    if (packet->length > 0)
        memcpy(p + header, packet->data, packet->length);
    if (header == 0)
        return;
    put16(p, packet->source_port);
    put16(p + 2, packet->destination_port);
    if (packet->protocol == PVMA_TCP) {
        encode_tcp(packet, p);
        put16(p + 16, payload_sum(bytes, total));
        return;
    }
    put16(p + 4, header + packet->length);
    put16(p + 6, 0);
    if (!packet->more)
        put16(p + 6, payload_sum(bytes, total));
}

/* Accepts whole IP packets without options, of a known protocol, with good checksums. */
static bool is_sound(const uint8_t *p, size_t length)
{
    uint32_t header;

    if (length < PVMA_IP_BYTES || p[0] != VERSION_AND_LENGTH || get16(p + 2) != length)
        return false;
    if (folded(sum_of(p, PVMA_IP_BYTES)) != 0 || (p[9] != PVMA_TCP && p[9] != PVMA_UDP))
        return false;
    header = header_bytes(p[9], (uint16_t)((get16(p + 6) & 0x1fff) * OFFSET_UNIT));
    if (length < PVMA_IP_BYTES + header)
        return false;
    return header == 0 || get16(p + 6) != 0 || payload_sum(p, length) == 0;
}

static void decode_ports(struct pvma_packet *packet, const uint8_t *p)
{
    packet->source_port = (uint16_t)get16(p);
    packet->destination_port = (uint16_t)get16(p + 2);
    if (packet->protocol == PVMA_TCP) {
        packet->sequence = get32(p + 4);
        packet->acknowledged = get32(p + 8);
        packet->window = (uint16_t)get16(p + 14);
    }
}

struct pvma_packet *pvma_packet_decode(const uint8_t *bytes, size_t length)
{
    struct pvma_packet *packet;
    uint16_t offset;
    uint32_t header;

    if (!is_sound(bytes, length))
        return NULL;
    offset = (uint16_t)((get16(bytes + 6) & 0x1fff) * OFFSET_UNIT);
    header = header_bytes(bytes[9], offset);
    packet = pvma_packet_new((uint32_t)length - PVMA_IP_BYTES - header);
    packet->protocol = bytes[9];
    packet->id = (uint16_t)get16(bytes + 4);
    packet->offset = offset;
    packet->more = get16(bytes + 6) & MORE_FRAGMENTS;
    packet->source = get32(bytes + 12) & ~network;
    packet->destination = get32(bytes + 16) & ~network;
    if (header > 0)
        decode_ports(packet, bytes + PVMA_IP_BYTES);
    memcpy(packet->data, bytes + PVMA_IP_BYTES + header, packet->length);
    return packet;
}
