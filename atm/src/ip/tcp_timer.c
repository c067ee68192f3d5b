/* tcp_timer.c - TCP's timers, see tcp.h. As in BSD they expire at ticks of the host's clock. */
#include "tcp.h"

enum { TICKS_MIN = 2, TICKS_MAX = 128, BACKOFF_MAX = 6 };

static const pvma_ps slow_tick = 500 * PVMA_MS, fast_tick = 200 * PVMA_MS, first_limit = 3 * PVMA_S;

/* The end of the `ticks`-th tick from now. */
static pvma_ps tick_end(pvma_ps now, pvma_ps tick, int64_t ticks)
{
    return (now / tick + ticks) * tick;
}

void pvma_tcp_expect_none(struct pvma_tcp *tcp)
{
    pvma_sim_cancel(tcp->station->sim, &tcp->retransmit);
    tcp->backoff = 0;
}

void pvma_tcp_expect_ack(struct pvma_tcp *tcp)
{
    pvma_ps tick = tcp->settings.tick;
    pvma_ps limit = tcp->smoothed > 0 ? tcp->smoothed + 4 * tcp->variation : first_limit;
    int64_t ticks = (limit + tick - 1) / tick;

    if (ticks < TICKS_MIN)
        ticks = TICKS_MIN;
    ticks <<= tcp->backoff;
    if (ticks > TICKS_MAX * slow_tick / tick)
        ticks = TICKS_MAX * slow_tick / tick;
    pvma_sim_at(tcp->station->sim, &tcp->retransmit, tick_end(pvma_sim_now(tcp->station->sim), tick, ticks));
}

void pvma_tcp_measured(struct pvma_tcp *tcp, pvma_ps trip)
{
    pvma_ps error = trip - tcp->smoothed;

    tcp->timed_since = 0;
    tcp->backoff = 0;
    if (tcp->smoothed == 0) {
        tcp->smoothed = trip;
        tcp->variation = trip / 2;
        return;
    }
    tcp->smoothed += error / 8;
    tcp->variation += ((error < 0 ? -error : error) - tcp->variation) / 4;
}

/* The retransmission timeout: slow start from the oldest byte, or a window probe of one byte if the window is closed.
 */
static void retransmit_now(struct pvma_event *event)
{
    struct pvma_tcp *tcp = PVMA_OF(event, struct pvma_tcp, retransmit);
    uint32_t flight = tcp->window < tcp->congestion ? tcp->window : tcp->congestion;
    uint32_t segments = flight / 2 / tcp->settings.mss;

    if (tcp->backoff < BACKOFF_MAX)
        tcp->backoff++;
    tcp->timed_since = 0;
    tcp->duplicate_acks = 0;
    tcp->next = tcp->una;
    if (tcp->window == 0 || tcp->una == tcp->max) {
        tcp->counters.probes++;
        tcp->window += tcp->window == 0;
        tcp->force = true;
    } else {
        tcp->counters.timeouts++;
        tcp->threshold = (segments < 2 ? 2 : segments) * tcp->settings.mss;
        tcp->congestion = tcp->settings.mss;
    }
    pvma_tcp_expect_ack(tcp);
    pvma_tcp_output(tcp);
}

static void acknowledge(struct pvma_event *event)
{
    struct pvma_tcp *tcp = PVMA_OF(event, struct pvma_tcp, delayed);

    if (!tcp->ack_owed)
        return;
    tcp->counters.delayed_acks++;
    tcp->ack_now = true;
    pvma_tcp_output(tcp);
}

void pvma_tcp_owe_ack(struct pvma_tcp *tcp)
{
    struct pvma_sim *sim = tcp->station->sim;

    tcp->ack_owed = true;
    if (!pvma_event_is_scheduled(&tcp->delayed))
        pvma_sim_at(sim, &tcp->delayed, tick_end(pvma_sim_now(sim), tcp->settings.delay_tick, 1));
}

void pvma_tcp_timers_init(struct pvma_tcp *tcp)
{
    if (tcp->settings.tick == 0)
        tcp->settings.tick = slow_tick;
    if (tcp->settings.delay_tick == 0)
        tcp->settings.delay_tick = fast_tick;
    pvma_event_init(&tcp->retransmit, PVMA_EVENT_USER, retransmit_now);
    pvma_event_init(&tcp->delayed, PVMA_EVENT_USER, acknowledge);
}

void pvma_tcp_timers_stop(struct pvma_tcp *tcp)
{
    pvma_sim_cancel(tcp->station->sim, &tcp->retransmit);
    pvma_sim_cancel(tcp->station->sim, &tcp->delayed);
}
