/* station.c - see station.h. */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "base/mbuf.h"
#include "station.h"

enum { FIRST_PORT = 1024 };

/* A packet while the processor works on it. */
struct pvma_passage {
    struct pvma_passage *prev, *next; /* of the station's */
    struct pvma_station *station;
    struct pvma_packet *packet;
};

static struct pvma_passage *new_passage(struct pvma_station *station, struct pvma_packet *packet)
{
    struct pvma_passage *p = pvma_new(sizeof *p);

    p->station = station;
    p->packet = packet;
    DL_APPEND(station->passages, p);
    return p;
}

/* Ends a passage; its packet is the caller's. */
static struct pvma_packet *end_passage(struct pvma_passage *p)
{
    struct pvma_packet *packet = p->packet;

    DL_DELETE(p->station->passages, p);
    free(p);
    return packet;
}

void pvma_station_init(struct pvma_station *station, struct pvma_sim *sim, uint32_t number,
                       const struct pvma_host_costs *costs, struct pvma_interface *interface)
{
    *station = (struct pvma_station){
        .sim = sim, .number = number, .costs = *costs, .interface = interface, .next_id = 1, .next_port = FIRST_PORT};
    pvma_cpu_init(&station->cpu, sim);
    interface->station = station;
}

void pvma_station_clear(struct pvma_station *station)
{
    struct pvma_reassembly_ip *r;

    pvma_cpu_clear(&station->cpu);
    while (station->passages)
        free(end_passage(station->passages));
    while ((r = station->fragments)) {
        station->fragments = r->next;
        free(r->packet);
        free(r);
    }
}

void pvma_station_open(struct pvma_station *station, struct pvma_ip_port *port, uint16_t number)
{
    port->number = number ? number : station->next_port++;
    port->next = station->ports;
    station->ports = port;
}

void pvma_station_close(struct pvma_station *station, struct pvma_ip_port *port)
{
    struct pvma_ip_port **at = &station->ports;

    while (*at && *at != port)
        at = &(*at)->next;
    if (*at)
        *at = port->next;
}

/* ---- out ---- */

static uint32_t payload_of_fragment(const struct pvma_station *station)
{
    return (station->interface->mtu - PVMA_IP_BYTES) / 8 * 8;
}

static unsigned fragments_of(const struct pvma_station *station, const struct pvma_packet *packet)
{
    uint32_t bytes = pvma_packet_bytes(packet), piece = payload_of_fragment(station);

    return bytes <= station->interface->mtu ? 1 : (bytes - PVMA_IP_BYTES + piece - 1) / piece;
}

static void put_on_network(struct pvma_station *station, const struct pvma_packet *packet)
{
    uint32_t length = pvma_packet_bytes(packet);
    uint8_t *bytes = pvma_new(length);

    pvma_packet_encode(packet, bytes);
    station->interface->sent++;
    station->interface->send(station->interface, packet->destination, bytes, length);
    free(bytes);
}

/* Offsets count from the end of the IP header, so the UDP header shortens the first fragment's data. */
static void put_fragments(struct pvma_station *station, const struct pvma_packet *whole)
{
    uint32_t piece = payload_of_fragment(station), header = PVMA_UDP_BYTES, total = header + whole->length;

    for (uint32_t offset = 0; offset < total; offset += piece) {
        uint32_t end = offset + piece < total ? offset + piece : total, begin = offset ? offset - header : 0;
        struct pvma_packet *fragment = pvma_packet_new(end - header - begin);
        uint32_t length = fragment->length;

        *fragment = *whole;
        fragment->length = length;
        fragment->offset = (uint16_t)offset;
        fragment->more = end < total;
        memcpy(fragment->data, whole->data + begin, length);
        put_on_network(station, fragment);
        free(fragment);
    }
}

static void leave(void *arg)
{
    struct pvma_passage *p = arg;
    struct pvma_station *station = p->station;
    struct pvma_packet *packet = end_passage(p);

    if (fragments_of(station, packet) > 1)
        put_fragments(station, packet);
    else
        put_on_network(station, packet);
    free(packet);
}

void pvma_station_send(struct pvma_station *station, struct pvma_packet *packet, pvma_ps cost)
{
    struct pvma_price driver = station->costs.frame_out;

    packet->source = station->number;
    packet->id = station->next_id++;
    driver.fixed_us *= fragments_of(station, packet);
    cost += pvma_price_of(driver, pvma_packet_bytes(packet));
    pvma_cpu_run(&station->cpu, PVMA_CPU_INTERRUPT, cost, leave, new_passage(station, packet));
}

/* ---- in ---- */

static struct pvma_reassembly_ip *reassembly_from(struct pvma_station *station, uint32_t source)
{
    struct pvma_reassembly_ip *r = station->fragments;

    while (r && r->packet && r->packet->source != source)
        r = r->next;
    if (r)
        return r;
    r = pvma_new(sizeof *r);
    r->next = station->fragments;
    station->fragments = r;
    return r;
}

static struct pvma_packet *appended(struct pvma_packet *whole, const struct pvma_packet *more)
{
    uint32_t length = whole->length;

    whole = pvma_renew(whole, sizeof *whole + length + more->length);
    memcpy(whole->data + length, more->data, more->length);
    whole->length = length + more->length;
    whole->more = more->more;
    return whole;
}

/* Returns the datagram if this was its last fragment, else NULL. A missing fragment discards the datagram. */
static struct pvma_packet *reassembled(struct pvma_station *station, struct pvma_packet *fragment)
{
    struct pvma_reassembly_ip *r = reassembly_from(station, fragment->source);
    struct pvma_packet *whole = r->packet;

    if (fragment->offset == 0) {
        free(whole);
        r->packet = fragment;
        return NULL;
    }
    if (whole && whole->id == fragment->id && whole->length + PVMA_UDP_BYTES == fragment->offset)
        r->packet = whole = appended(whole, fragment);
    else
        whole = NULL;
    free(fragment);
    if (!whole || whole->more)
        return NULL;
    r->packet = NULL;
    return whole;
}

static struct pvma_ip_port *port_for(struct pvma_station *station, const struct pvma_packet *packet)
{
    struct pvma_ip_port *port = station->ports;

    while (port && !(port->protocol == packet->protocol && port->number == packet->destination_port &&
                     (port->peer == 0 || (port->peer == packet->source && port->peer_port == packet->source_port))))
        port = port->next;
    return port;
}

static void enter(void *arg)
{
    struct pvma_passage *p = arg;
    struct pvma_station *station = p->station;
    struct pvma_packet *packet = end_passage(p);
    struct pvma_ip_port *port;

    if (packet->more || packet->offset > 0)
        packet = reassembled(station, packet);
    if (!packet)
        return;
    port = port_for(station, packet);
    if (port) {
        port->input(port, packet);
        return;
    }
    station->unclaimed++;
    free(packet);
}

static pvma_ps cost_of_input(const struct pvma_station *station, const struct pvma_packet *packet)
{
    const struct pvma_host_costs *costs = &station->costs;
    pvma_ps driver = pvma_price_of(costs->frame_in, pvma_packet_bytes(packet));

    if (packet->length > 0)
        driver += pvma_price_of(costs->mbuf_in, 0) * pvma_mbufs(packet->length);

    if (packet->protocol == PVMA_UDP) {
        struct pvma_price udp = costs->udp_in;

        if (packet->offset > 0) /* the first fragment pays the fixed part */
            udp.fixed_us = 0;
        return driver + pvma_price_of(udp, packet->length);
    }
    return driver + pvma_price_of(packet->length > 0 ? costs->tcp_in : costs->ack_in, packet->length);
}

void pvma_station_arrived(struct pvma_station *station, const uint8_t *bytes, size_t length)
{
    struct pvma_packet *packet = pvma_packet_decode(bytes, length);

    if (!packet || packet->destination != station->number) {
        station->malformed++;
        free(packet);
        return;
    }
    station->interface->received++;
    pvma_cpu_run(&station->cpu, PVMA_CPU_INTERRUPT, cost_of_input(station, packet), enter,
                 new_passage(station, packet));
}
