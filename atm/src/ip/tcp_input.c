/* tcp_input.c - processing of arriving segments, see tcp.h: 4.3BSD's tcp_input() for an open connection. */
#include <stdlib.h>
#include "lan/fiber.h"
#include "tcp.h"

enum { DUPLICATES_FOR_LOSS = 3 };

static void go_on(void *arg)
{
    pvma_fiber_resume(arg);
}

static void wake(struct pvma_tcp *tcp, struct pvma_fiber **waiting)
{
    struct pvma_fiber *fiber = *waiting;

    *waiting = NULL;
    if (fiber)
        pvma_cpu_run(&tcp->station->cpu, PVMA_CPU_PROCESS, pvma_price_of(tcp->station->costs.wakeup, 0), go_on, fiber);
}

/* ---- acknowledgements ---- */

static void open_congestion_window(struct pvma_tcp *tcp)
{
    uint32_t more = tcp->settings.mss;

    if (tcp->congestion > tcp->threshold) /* congestion avoidance: one segment per round trip */
        more = (uint32_t)((uint64_t)more * more / tcp->congestion + more / 8);
    tcp->congestion = tcp->congestion + more < UINT16_MAX ? tcp->congestion + more : UINT16_MAX;
}

static uint32_t half_of_flight(const struct pvma_tcp *tcp)
{
    uint32_t window = tcp->window < tcp->congestion ? tcp->window : tcp->congestion;
    uint32_t segments = window / 2 / tcp->settings.mss;

    return (segments < 2 ? 2 : segments) * tcp->settings.mss;
}

/* Sends the segment that the peer is missing; the segments after it are not sent again. */
static void retransmit_fast(struct pvma_tcp *tcp)
{
    uint32_t next = tcp->next;

    tcp->counters.fast_retransmits++;
    tcp->threshold = half_of_flight(tcp);
    tcp->timed_since = 0;
    pvma_tcp_expect_none(tcp);
    tcp->next = tcp->una;
    tcp->congestion = tcp->settings.mss;
    pvma_tcp_output(tcp);
    tcp->congestion = tcp->threshold + tcp->settings.mss * tcp->duplicate_acks;
    if (pvma_tcp_ahead(next, tcp->next) > 0)
        tcp->next = next;
}

static void take_duplicate_ack(struct pvma_tcp *tcp)
{
    if (tcp->settings.no_fast_retransmit)
        return;
    tcp->duplicate_acks++;
    if (tcp->duplicate_acks == DUPLICATES_FOR_LOSS)
        retransmit_fast(tcp);
    else if (tcp->duplicate_acks > DUPLICATES_FOR_LOSS)
        tcp->congestion += tcp->settings.mss;
}

static void take_ack(struct pvma_tcp *tcp, uint32_t acknowledged)
{
    if (tcp->duplicate_acks >= DUPLICATES_FOR_LOSS && tcp->congestion > tcp->threshold)
        tcp->congestion = tcp->threshold;
    else
        open_congestion_window(tcp);
    tcp->duplicate_acks = 0;
    if (tcp->timed_since > 0 && pvma_tcp_ahead(acknowledged, tcp->timed) > 0)
        pvma_tcp_measured(tcp, pvma_sim_now(tcp->station->sim) + 1 - tcp->timed_since);
    pvma_ring_drop(&tcp->out, acknowledged - tcp->una);
    tcp->una = acknowledged;
    if (pvma_tcp_ahead(tcp->una, tcp->next) > 0)
        tcp->next = tcp->una;
    if (tcp->una == tcp->max)
        pvma_tcp_expect_none(tcp);
    else
        pvma_tcp_expect_ack(tcp);
    wake(tcp, &tcp->writer);
}

static void look_at_ack(struct pvma_tcp *tcp, const struct pvma_packet *packet)
{
    bool same_window = packet->window == tcp->window;

    if (pvma_tcp_ahead(packet->acknowledged, tcp->max) > 0)
        return; /* acknowledges bytes that were never sent */
    tcp->window = packet->window;
    if (tcp->window > tcp->widest)
        tcp->widest = tcp->window;
    if (pvma_tcp_ahead(packet->acknowledged, tcp->una) > 0)
        take_ack(tcp, packet->acknowledged);
    else if (packet->length == 0 && same_window && packet->acknowledged == tcp->una && tcp->una != tcp->max)
        take_duplicate_ack(tcp);
}

/* ---- data ---- */

static void queue_reordered(struct pvma_tcp *tcp, struct pvma_packet *packet)
{
    struct pvma_packet **at = &tcp->reorder_queue;

    tcp->counters.reordered++;
    while (*at && pvma_tcp_ahead((*at)->sequence, packet->sequence) < 0)
        at = &(*at)->next;
    if (*at && (*at)->sequence == packet->sequence) {
        free(packet);
        return;
    }
    packet->next = *at;
    *at = packet;
}

/* Takes the part of a segment that is new and fits; returns its length. */
static uint32_t accept_data(struct pvma_tcp *tcp, const struct pvma_packet *packet)
{
    uint32_t old = tcp->expected - packet->sequence, length, room = pvma_ring_space(&tcp->in);

    if (old >= packet->length)
        return 0;
    length = packet->length - old < room ? packet->length - old : room;
    pvma_ring_put(&tcp->in, packet->data + old, length);
    tcp->expected += length;
    return length;
}

static void accept_reordered(struct pvma_tcp *tcp)
{
    struct pvma_packet *packet;

    while ((packet = tcp->reorder_queue) && pvma_tcp_ahead(packet->sequence, tcp->expected) <= 0) {
        tcp->reorder_queue = packet->next;
        accept_data(tcp, packet);
        free(packet);
    }
}

/* Takes a packet. The acknowledgement of data in order may wait; otherwise the peer must know at once. */
static void take_data(struct pvma_tcp *tcp, struct pvma_packet *packet)
{
    bool gap = tcp->reorder_queue;

    tcp->counters.segments_received++;
    if (pvma_tcp_ahead(packet->sequence, tcp->expected) > 0) {
        tcp->ack_now = true;
        queue_reordered(tcp, packet);
        return;
    }
    if (accept_data(tcp, packet) == 0) {
        tcp->counters.duplicates++;
        tcp->ack_now = true;
    }
    free(packet);
    accept_reordered(tcp);
    if (gap)
        tcp->ack_now = true;
    pvma_tcp_owe_ack(tcp);
    if (tcp->in.length > 0)
        wake(tcp, &tcp->reader);
}

void pvma_tcp_input(struct pvma_ip_port *port, struct pvma_packet *packet)
{
    struct pvma_tcp *tcp = PVMA_OF(port, struct pvma_tcp, port);
    bool more = tcp->next != tcp->una + tcp->out.length;

    look_at_ack(tcp, packet);
    if (packet->length > 0) {
        take_data(tcp, packet);
    } else {
        tcp->counters.acks_received++;
        free(packet);
    }
    if (more || tcp->ack_now)
        pvma_tcp_output(tcp);
}
