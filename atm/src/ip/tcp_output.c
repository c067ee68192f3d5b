/* tcp_output.c - decides what to send and when, see tcp.h: 4.3BSD's tcp_output(). */
#include "tcp.h"

enum { NOTHING = -1 };

/* The window to advertise: avoids silly windows and never takes back what was advertised. */
static uint32_t own_window(const struct pvma_tcp *tcp)
{
    uint32_t room = pvma_ring_space(&tcp->in), promised = tcp->advertised - tcp->expected;

    if (room < tcp->in.size / 4 && room < tcp->settings.mss)
        room = 0;
    if (room > UINT16_MAX)
        room = UINT16_MAX;
    return room > promised ? room : promised;
}

static void send_segment(struct pvma_tcp *tcp, uint32_t length)
{
    struct pvma_station *station = tcp->station;
    struct pvma_packet *packet = pvma_packet_new(length);
    struct pvma_price cost = length > 0 ? station->costs.tcp_out : station->costs.ack_out;
    uint32_t window = own_window(tcp);

    packet->protocol = PVMA_TCP;
    packet->destination = tcp->port.peer;
    packet->source_port = tcp->port.number;
    packet->destination_port = tcp->port.peer_port;
    packet->sequence = tcp->next;
    packet->acknowledged = tcp->expected;
    packet->window = (uint16_t)window;
    pvma_ring_copy(&tcp->out, tcp->next - tcp->una, packet->data, length);
    tcp->advertised = tcp->expected + window;
    tcp->ack_now = tcp->ack_owed = tcp->force = false;
    pvma_station_send(station, packet, pvma_price_of(cost, length));
}

/* Accounts for a data segment: new data is timed, old data counts as retransmitted. */
static void note_segment(struct pvma_tcp *tcp, uint32_t length)
{
    tcp->counters.segments_sent++;
    if (pvma_tcp_ahead(tcp->max, tcp->next) > 0)
        tcp->counters.resent++;
    else if (tcp->timed_since == 0) {
        tcp->timed_since = pvma_sim_now(tcp->station->sim) + 1; /* 0 means "none" */
        tcp->timed = tcp->next;
    }
    tcp->next += length;
    if (pvma_tcp_ahead(tcp->next, tcp->max) > 0)
        tcp->max = tcp->next;
    if (!pvma_event_is_scheduled(&tcp->retransmit))
        pvma_tcp_expect_ack(tcp);
}

/* Whether reading has opened the window far enough for an update. */
static bool update_is_due(const struct pvma_tcp *tcp)
{
    uint32_t window = own_window(tcp), opened = tcp->expected + window - tcp->advertised;

    return window > 0 && (opened >= 2 * tcp->settings.mss ||
                          100ull * opened >= (uint64_t)tcp->settings.update_percent * tcp->in.size);
}

static uint32_t usable_window(const struct pvma_tcp *tcp)
{
    return tcp->window < tcp->congestion ? tcp->window : tcp->congestion;
}

/* The length of the next segment, 0 for an acknowledgement alone, or NOTHING. */
static int32_t decide(const struct pvma_tcp *tcp, bool idle)
{
    uint32_t offset = tcp->next - tcp->una, window = usable_window(tcp);
    uint32_t end = tcp->out.length < window ? tcp->out.length : window;
    uint32_t length = end > offset ? end - offset : 0;

    if (length > tcp->settings.mss)
        length = tcp->settings.mss;
    if (length > 0) {
        bool last = offset + length >= tcp->out.length, again = pvma_tcp_ahead(tcp->max, tcp->next) > 0;

        if (length == tcp->settings.mss || (last && (idle || tcp->settings.no_delay)) || again || tcp->force ||
            length >= tcp->widest / 2)
            return (int32_t)length;
    }
    return tcp->ack_now || update_is_due(tcp) ? 0 : NOTHING;
}

void pvma_tcp_output(struct pvma_tcp *tcp)
{
    bool idle = tcp->max == tcp->una; /* evaluated once, as in BSD, so a short last segment goes with the others */
    int32_t length;

    while ((length = decide(tcp, idle)) != NOTHING) {
        send_segment(tcp, (uint32_t)length);
        if (length == 0) {
            tcp->counters.acks_sent++;
            return;
        }
        note_segment(tcp, (uint32_t)length);
    }
    if (tcp->out.length > 0 && tcp->max == tcp->una && !pvma_event_is_scheduled(&tcp->retransmit))
        pvma_tcp_expect_ack(tcp); /* the same timer probes a window that is closed or too small to use */
}
