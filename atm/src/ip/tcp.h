/*
 * tcp.h - TCP as in the BSD systems of the early nineties, which explains the papers' anomalies.
 *
 * The model keeps from 4.3BSD: segments of the MSS; write() passes its bytes to TCP in pieces (SunOS: 4096), one by
 * one; Nagle's rule, with "idle" evaluated once per call; acknowledgements delayed to the 200 ms timer unless reading
 * opens the window by two segments or a share of the buffer; slow start, congestion avoidance, fast retransmit and fast
 * recovery; retransmission by Jacobson's estimate in ticks of 500 ms; window probes.
 *
 * The model leaves out: opening and closing (the papers keep connections open and do not time them), urgent data,
 * options.
 */
#ifndef PVMA_TCP_H
#define PVMA_TCP_H

#include "ring.h"
#include "lan/station.h"

struct pvma_fiber;

struct pvma_tcp_settings {
    uint32_t mss;        /* 0: what the interface's MTU allows */
    uint32_t send_bytes; /* socket buffers */
    uint32_t receive_bytes;
    uint32_t write_bytes;    /* bytes that write() passes to TCP at a time; 0: as much as fits */
    bool no_delay;           /* disables Nagle's rule */
    unsigned update_percent; /* share of the buffer that reading must free for a window update; SunOS: 35 */
    bool no_slow_start;      /* the congestion window is open from the start */
    bool no_fast_retransmit; /* 4.3BSD before Tahoe: losses are detected by the timer alone */
    pvma_ps tick;            /* of the retransmission timer; 0: 500 ms */
    pvma_ps delay_tick;      /* of delayed acknowledgements; 0: 200 ms */
};

/* SunOS 4.1 as set up for the four-APIs paper's comparisons: buffers of 32 KB, pieces of 4 KB, no Nagle. */
extern const struct pvma_tcp_settings pvma_tcp_sunos;

struct pvma_tcp_counters {
    uint64_t segments_sent, acks_sent; /* with data, retransmissions included; without data */
    uint64_t resent, timeouts, fast_retransmits;
    uint64_t segments_received, acks_received, duplicates, reordered;
    uint64_t delayed_acks; /* sent by the timer, so the peer may have waited */
    uint64_t probes;
};

struct pvma_tcp {
    struct pvma_ip_port port;
    struct pvma_station *station;
    struct pvma_tcp_settings settings;
    struct pvma_tcp_counters counters;

    struct pvma_ring out;    /* from `una` on */
    uint32_t una, next, max; /* first unacknowledged; next to send; highest sent */
    uint32_t window, widest; /* the peer's current window, and its widest ever */
    uint32_t congestion, threshold;
    bool force;                       /* sends the next segment however small: a probe */
    unsigned duplicate_acks, backoff; /* in a row; doublings of the timeout */
    pvma_ps smoothed, variation;      /* of the round trip; 0: not measured yet */
    pvma_ps timed_since;              /* 0: no segment is timed */
    uint32_t timed;                   /* its sequence number */
    struct pvma_event retransmit;

    struct pvma_ring in;               /* in order, not read yet */
    uint32_t expected, advertised;     /* next byte; end of the window that the peer knows */
    struct pvma_packet *reorder_queue; /* sorted by sequence */
    bool ack_owed, ack_now;
    struct pvma_event delayed;

    struct pvma_fiber *writer, *reader; /* waiting for room and for data */
};

/* Connects two stations; each end has its own settings. The caller owns both sockets. */
void pvma_tcp_connect(struct pvma_tcp *a, struct pvma_station *on_a, const struct pvma_tcp_settings *settings_a,
                      struct pvma_tcp *b, struct pvma_station *on_b, const struct pvma_tcp_settings *settings_b);

/* Releases the resources of a socket; sends nothing more. */
void pvma_tcp_free(struct pvma_tcp *tcp);

/* Writes all bytes; waits while the send buffer is full. From a fiber of that station. */
void pvma_tcp_write(struct pvma_tcp *tcp, const void *data, uint64_t length);

/* Waits for data, reads at most `length` bytes of it, and returns their number. */
uint32_t pvma_tcp_read_some(struct pvma_tcp *tcp, void *data, uint32_t length);

/* Reads exactly `length` bytes; NULL drops them. */
void pvma_tcp_read(struct pvma_tcp *tcp, void *data, uint64_t length);

/* ---- inside TCP ---- */

/* Sends everything that may be sent now, and acknowledgements that are due. */
void pvma_tcp_output(struct pvma_tcp *tcp);

void pvma_tcp_input(struct pvma_ip_port *port, struct pvma_packet *packet);

void pvma_tcp_timers_init(struct pvma_tcp *tcp);
void pvma_tcp_timers_stop(struct pvma_tcp *tcp);

/* Starts or restarts the timeout of the oldest segment. */
void pvma_tcp_expect_ack(struct pvma_tcp *tcp);
void pvma_tcp_expect_none(struct pvma_tcp *tcp);

/* Updates the estimate with a measured round trip. */
void pvma_tcp_measured(struct pvma_tcp *tcp, pvma_ps trip);

/* Delays an acknowledgement to the timer's next tick at the latest. */
void pvma_tcp_owe_ack(struct pvma_tcp *tcp);

/* a - b for sequence numbers, which wrap. */
static inline int32_t pvma_tcp_ahead(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

#endif
