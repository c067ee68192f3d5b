/* tcp_socket.c - the calls of TCP for programs, see tcp.h. */
#include <stdlib.h>
#include "base/mbuf.h"
#include "lan/fiber.h"
#include "tcp.h"

enum { DROP_BYTES = 65536 };

const struct pvma_tcp_settings pvma_tcp_sunos = {
    .send_bytes = 32768, .receive_bytes = 32768, .write_bytes = 4096, .no_delay = true, .update_percent = 35};

static void tcp_init(struct pvma_tcp *tcp, struct pvma_station *station, const struct pvma_tcp_settings *settings)
{
    *tcp = (struct pvma_tcp){.station = station, .settings = *settings};
    if (tcp->settings.mss == 0)
        tcp->settings.mss = station->interface->mtu - PVMA_IP_BYTES - PVMA_TCP_BYTES;
    pvma_ring_init(&tcp->out, settings->send_bytes);
    pvma_ring_init(&tcp->in, settings->receive_bytes);
    tcp->port.protocol = PVMA_TCP;
    tcp->port.input = pvma_tcp_input;
    tcp->congestion = settings->no_slow_start ? UINT16_MAX : tcp->settings.mss;
    tcp->threshold = UINT16_MAX;
    pvma_tcp_timers_init(tcp);
    pvma_station_open(station, &tcp->port, 0);
}

static void meet(struct pvma_tcp *tcp, const struct pvma_tcp *peer)
{
    tcp->port.peer = peer->station->number;
    tcp->port.peer_port = peer->port.number;
    if (peer->settings.mss < tcp->settings.mss)
        tcp->settings.mss = peer->settings.mss;
    tcp->window = tcp->widest = peer->in.size < UINT16_MAX ? peer->in.size : UINT16_MAX;
    tcp->advertised = tcp->in.size < UINT16_MAX ? tcp->in.size : UINT16_MAX;
}

void pvma_tcp_connect(struct pvma_tcp *a, struct pvma_station *on_a, const struct pvma_tcp_settings *settings_a,
                      struct pvma_tcp *b, struct pvma_station *on_b, const struct pvma_tcp_settings *settings_b)
{
    tcp_init(a, on_a, settings_a);
    tcp_init(b, on_b, settings_b);
    meet(a, b);
    meet(b, a);
}

void pvma_tcp_free(struct pvma_tcp *tcp)
{
    struct pvma_packet *packet;

    pvma_tcp_timers_stop(tcp);
    pvma_station_close(tcp->station, &tcp->port);
    pvma_ring_free(&tcp->out);
    pvma_ring_free(&tcp->in);
    while ((packet = tcp->reorder_queue)) {
        tcp->reorder_queue = packet->next;
        free(packet);
    }
}

/* Like sosend(): a process with more data than fits waits for room for a whole piece. */
static uint32_t wait_for_room(struct pvma_tcp *tcp, uint64_t left)
{
    uint32_t piece = tcp->settings.write_bytes ? tcp->settings.write_bytes : tcp->settings.mss, room;

    if (piece > left)
        piece = (uint32_t)left;
    if (piece > tcp->out.size)
        piece = tcp->out.size;
    while ((room = pvma_ring_space(&tcp->out)) < piece) {
        tcp->writer = pvma_fiber_current();
        pvma_fiber_pause();
    }
    if (tcp->settings.write_bytes && room > tcp->settings.write_bytes)
        room = tcp->settings.write_bytes;
    return room < left ? room : (uint32_t)left;
}

void pvma_tcp_write(struct pvma_tcp *tcp, const void *data, uint64_t length)
{
    struct pvma_station *station = tcp->station;
    const uint8_t *at = data;

    pvma_cpu_use(&station->cpu, pvma_price_of(station->costs.socket_write, 0));
    while (length > 0) {
        uint32_t piece = wait_for_room(tcp, length);
        struct pvma_price copy = {station->costs.mbuf_out.fixed_us * pvma_mbufs(piece),
                                  station->costs.socket_write.byte_us};

        pvma_cpu_use(&station->cpu, pvma_price_of(copy, piece));
        pvma_ring_put(&tcp->out, at, piece);
        pvma_tcp_output(tcp);
        pvma_cpu_use(&station->cpu, 0); /* lets the segments be made first */
        at += piece;
        length -= piece;
    }
}

uint32_t pvma_tcp_read_some(struct pvma_tcp *tcp, void *data, uint32_t length)
{
    struct pvma_station *station = tcp->station;

    while (tcp->in.length == 0) {
        tcp->reader = pvma_fiber_current();
        pvma_fiber_pause();
    }
    if (length > tcp->in.length)
        length = tcp->in.length;
    pvma_ring_copy(&tcp->in, 0, data, length);
    pvma_cpu_use(&station->cpu, pvma_price_of(station->costs.socket_read, length));
    pvma_ring_drop(&tcp->in, length);
    pvma_tcp_output(tcp); /* the window may have opened far enough for an update */
    pvma_cpu_use(&station->cpu, 0);
    return length;
}

void pvma_tcp_read(struct pvma_tcp *tcp, void *data, uint64_t length)
{
    static uint8_t drop[DROP_BYTES];
    uint8_t *at = data;

    while (length > 0) {
        uint32_t most = length < DROP_BYTES ? (uint32_t)length : DROP_BYTES;
        uint32_t got = pvma_tcp_read_some(tcp, at ? at : drop, most);

        length -= got;
        at = at ? at + got : at;
    }
}
