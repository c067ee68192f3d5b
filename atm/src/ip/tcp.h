/*
 * tcp.h - TCP as the BSD systems of the early nineties had it: what the papers' anomalies are made of.
 *
 * Kept of 4.3BSD: segments of the MSS; write() hands its bytes on in pieces (as SunOS does: 4096), each of which goes
 * to TCP by itself; Nagle's rule, with "idle" looked at once per call; acknowledgements that wait for the 200 ms timer
 * unless reading opens the window by two segments or a share of the buffer; slow start, congestion avoidance, fast
 * retransmit and fast recovery; retransmission by Jacobson's estimate in ticks of 500 ms; window probes.
 *
 * Left out: opening and closing (the papers keep connections open and out of their times), urgent data, options.
 */
#ifndef PVMA_TCP_H
#define PVMA_TCP_H

#include "ring.h"
#include "station.h"

struct pvma_fiber;

struct pvma_tcp_settings {
    uint32_t mss;        /* 0: what the interface's MTU leaves */
    uint32_t send_bytes; /* socket buffers */
    uint32_t receive_bytes;
    uint32_t write_bytes;    /* write() gives TCP this much at a time; 0: as much as fits */
    bool no_delay;           /* no Nagle's rule */
    unsigned update_percent; /* a window update goes when reading opened this share of the buffer; SunOS: 35 */
    bool no_slow_start;      /* the congestion window is open from the start */
    bool no_fast_retransmit; /* 4.3BSD before Tahoe: only the timer tells of a loss */
    pvma_ps tick;            /* of the retransmission timer; 0: 500 ms */
    pvma_ps delay_tick;      /* of delayed acknowledgements; 0: 200 ms */
};

/* SunOS 4.1: buffers of 32 KB, pieces of 4 KB, no Nagle: how the four-APIs paper runs its comparisons. */
extern const struct pvma_tcp_settings pvma_tcp_sunos;

struct pvma_tcp_counters {
    uint64_t segments_sent, acks_sent; /* with data, again or not; without */
    uint64_t resent, timeouts, fast_retransmits;
    uint64_t segments_received, acks_received, duplicates, early;
    uint64_t delayed_acks; /* sent by the timer: somebody may have waited */
    uint64_t probes;
};

struct pvma_tcp {
    struct pvma_ip_port port;
    struct pvma_station *station;
    struct pvma_tcp_settings settings;
    struct pvma_tcp_counters counters;

    struct pvma_ring out;    /* from una on */
    uint32_t una, next, max; /* not acknowledged yet; to send next; highest sent */
    uint32_t window, widest; /* the peer's, and the widest it ever was */
    uint32_t congestion, threshold;
    bool force;                       /* what is next goes although it is small: a probe */
    unsigned duplicate_acks, backoff; /* in a row; doublings of the time limit */
    pvma_ps smoothed, variation;      /* of the round trip; 0: not measured yet */
    pvma_ps timed_since;              /* 0: no segment is timed */
    uint32_t timed;                   /* its sequence number */
    struct pvma_event retransmit;

    struct pvma_ring in;           /* in order, not read yet */
    uint32_t expected, advertised; /* next byte; end of the window that the peer knows */
    struct pvma_packet *early;     /* out of order, by sequence */
    bool ack_owed, ack_now;
    struct pvma_event delayed;

    struct pvma_fiber *writer, *reader; /* that wait for room, for data */
};

/* Connects two stations; each end has its own settings. Both sockets are the caller's. */
void pvma_tcp_connect(struct pvma_tcp *a, struct pvma_station *on_a, const struct pvma_tcp_settings *settings_a,
                      struct pvma_tcp *b, struct pvma_station *on_b, const struct pvma_tcp_settings *settings_b);

/* Gives back what a socket holds; nothing more is sent. */
void pvma_tcp_free(struct pvma_tcp *tcp);

/* Writes all bytes; waits while the send buffer is full. From a fiber of that station. */
void pvma_tcp_write(struct pvma_tcp *tcp, const void *data, uint64_t length);

/* Waits for data and reads what there is, at most `length` bytes: how many. */
uint32_t pvma_tcp_read_some(struct pvma_tcp *tcp, void *data, uint32_t length);

/* Reads exactly `length` bytes; data NULL: they are dropped. */
void pvma_tcp_read(struct pvma_tcp *tcp, void *data, uint64_t length);

/* For tcp_output.c, tcp_input.c and tcp_timer.c. */

/* Sends what may be sent now, and acknowledgements that are due. */
void pvma_tcp_output(struct pvma_tcp *tcp);

void pvma_tcp_input(struct pvma_ip_port *port, struct pvma_packet *packet);

void pvma_tcp_timers_init(struct pvma_tcp *tcp);
void pvma_tcp_timers_stop(struct pvma_tcp *tcp);

/* The time limit of the oldest segment begins; again, when it runs already. */
void pvma_tcp_expect_ack(struct pvma_tcp *tcp);
void pvma_tcp_expect_none(struct pvma_tcp *tcp);

/* A round trip was measured. */
void pvma_tcp_measured(struct pvma_tcp *tcp, pvma_ps trip);

/* An acknowledgement may wait: until the timer's next tick at the latest. */
void pvma_tcp_owe_ack(struct pvma_tcp *tcp);

/* a - b, where sequence numbers wrap. */
static inline int32_t pvma_tcp_ahead(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

#endif
