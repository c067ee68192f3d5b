/* udp.c - see udp.h. */
#include <stdlib.h>
#include <string.h>
#include "base/mbuf.h"
#include "lan/fiber.h"
#include "udp.h"

static void wake(void *arg)
{
    pvma_fiber_resume(arg);
}

static void input(struct pvma_ip_port *port, struct pvma_packet *packet)
{
    struct pvma_udp *udp = PVMA_OF(port, struct pvma_udp, port);
    struct pvma_fiber *reader = udp->reader;

    if (udp->bytes + packet->length > udp->buffer_bytes) {
        udp->overflows++;
        free(packet);
        return;
    }
    packet->next = NULL;
    *udp->last = packet;
    udp->last = &packet->next;
    udp->bytes += packet->length;
    udp->received++;
    udp->reader = NULL;
    if (reader)
        pvma_cpu_run(&udp->station->cpu, PVMA_CPU_PROCESS, pvma_price_of(udp->station->costs.wakeup, 0), wake, reader);
}

void pvma_udp_open(struct pvma_udp *udp, struct pvma_station *station, uint16_t port, uint32_t buffer_bytes)
{
    *udp = (struct pvma_udp){.station = station, .buffer_bytes = buffer_bytes};
    udp->last = &udp->first;
    udp->port.protocol = PVMA_UDP;
    udp->port.input = input;
    pvma_station_open(station, &udp->port, port);
}

void pvma_udp_close(struct pvma_udp *udp)
{
    struct pvma_packet *packet;

    pvma_station_close(udp->station, &udp->port);
    while ((packet = udp->first)) {
        udp->first = packet->next;
        free(packet);
    }
}

void pvma_udp_send(struct pvma_udp *udp, uint32_t to, uint16_t port, const void *data, uint32_t length)
{
    struct pvma_station *station = udp->station;
    struct pvma_packet *packet = pvma_packet_new(length);
    struct pvma_price write = station->costs.socket_write;

    write.fixed_us += station->costs.mbuf_out.fixed_us * pvma_mbufs(length);
    packet->protocol = PVMA_UDP;
    packet->destination = to;
    packet->source_port = udp->port.number;
    packet->destination_port = port;
    memcpy(packet->data, data, length);
    pvma_cpu_use(&station->cpu, pvma_price_of(write, length));
    pvma_station_send(station, packet, pvma_price_of(station->costs.udp_out, length));
    pvma_cpu_use(&station->cpu, 0); /* waits for the work just queued */
}

struct pvma_packet *pvma_udp_receive(struct pvma_udp *udp)
{
    struct pvma_packet *packet;

    while (!udp->first) {
        udp->reader = pvma_fiber_current();
        pvma_fiber_pause();
    }
    packet = udp->first;
    udp->first = packet->next;
    if (!udp->first)
        udp->last = &udp->first;
    udp->bytes -= packet->length;
    pvma_cpu_use(&udp->station->cpu, pvma_price_of(udp->station->costs.socket_read, packet->length));
    return packet;
}
