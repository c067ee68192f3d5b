/*
 * reliable.h - exactly-once, in-order delivery over a carrier that loses, duplicates, delays and damages packets, such
 * as raw Ethernet frames or cells of a simulated network. All best-effort carriers use this one layer.
 *
 * A struct pvmw_reliable is one end of a connection. It is a state machine without I/O and without a clock: the owner
 * passes in the time and the packets that arrived, and sends what emit() receives. Tests therefore run in virtual time,
 * and an owner may sleep in poll() or simulate.
 *
 * It splits messages into packets and acknowledges and retransmits each packet on its own (selective repeat), or, for
 * comparison, everything from the lost packet on (Go-Back-N). Credit keeps a slow reader's ring from overflowing. The
 * retransmission timeout follows the measured round trip and doubles with each try. Damaged packets and packets of an
 * earlier incarnation of either end are refused. A peer that owes an answer and stays silent too long is declared dead.
 *
 * The owner calls all functions from one thread. Times are microseconds of any monotonic clock.
 */
#ifndef PVMW_RELIABLE_H
#define PVMW_RELIABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define PVMW_RELIABLE_HEADER_BYTES 36
#define PVMW_RELIABLE_WINDOW_MAX   1024 /* packets; the bitmap fits into an acknowledgement of the smallest carrier */
#define PVMW_RELIABLE_MESSAGES_MAX 64   /* default limit of messages accepted and not yet acknowledged */
#define PVMW_RELIABLE_PIECES_MAX   17   /* of one packet's payload */
#define PVMW_RELIABLE_NEVER        INT64_MAX

struct pvmw_reliable_settings {
    uint32_t packet_bytes; /* largest packet of the carrier, including our header; 256 to 65535 */
    uint32_t window;       /* our send window in packets; a power of 2 up to WINDOW_MAX */
    uint32_t credit;       /* packets that the peer may have in flight to us; 1 to WINDOW_MAX */
    uint32_t messages;     /* limit of unacknowledged messages; a power of 2 up to WINDOW_MAX; 0: MESSAGES_MAX */
    bool go_back_n;        /* drop out-of-order packets, and retransmit everything from the gap on */
    bool unchecked;        /* the checksum covers headers only, not payloads. Both ends must agree. */
    int64_t retry_min_us;  /* the retransmission timeout is the measured round trip, but at least this ... */
    int64_t retry_max_us;  /* ... and doubles up to this, or up to a longer round trip of at most a second */
    int64_t ack_delay_us;  /* how long an acknowledgement may wait to be piggybacked */
    int64_t dead_after_us; /* silence while an answer is due */
};

struct pvmw_reliable_callbacks {
    /*
     * Sends a packet; the carrier copies it. 0; PVMC_EAGAIN: no room now, progress() tries again; any other error
     * counts as a lost packet.
     */
    int (*emit)(void *arg, const struct iovec *pieces, unsigned count);

    /*
     * Fills pieces with the places of bytes [offset, offset + length) of a message and returns their number.
     * Retransmission asks again.
     */
    unsigned (*gather)(void *arg, void *message, uint32_t offset, uint32_t length,
                       struct iovec pieces[PVMW_RELIABLE_PIECES_MAX]);

    /* The peer has the whole message: the owner may reuse it. Called in the order of pvmw_reliable_send(). */
    void (*sent)(void *arg, void *message);

    /* The next bytes of the peer's next message, valid until this returns. Messages are complete and in order. */
    void (*received)(void *arg, bool first, bool last, const uint8_t *data, uint32_t length);
};

struct pvmw_reliable_counters {
    uint64_t packets_sent, packets_received; /* data packets, retransmissions and duplicates included */
    uint64_t acks_sent, acks_received;       /* packets without data */
    uint64_t resent;                         /* part of packets_sent */
    uint64_t timeouts;                       /* losses that only the retransmission timer detected */
    uint64_t duplicates, reordered;          /* duplicates; packets that arrived out of order */
    uint64_t damaged, strangers;             /* refused: wrong checksum or form; another incarnation */
};

struct pvmw_reliable;

/*
 * Creates one end of a connection. Two random nonzero numbers, exchanged beforehand, name the ends: `own` and `peer`.
 * NULL: out of memory or settings out of bounds. callbacks and arg must outlive it.
 */
struct pvmw_reliable *pvmw_reliable_new(const struct pvmw_reliable_settings *settings, uint32_t own, uint32_t peer,
                                        const struct pvmw_reliable_callbacks *callbacks, void *arg);

/* Frees it and drops unsent messages without calling sent(). Not from a callback. */
void pvmw_reliable_free(struct pvmw_reliable *r);

/*
 * Sends a message of `length` bytes (0 is allowed), which must not change until sent(). 0; PVMC_EAGAIN: too many
 * messages are unacknowledged, try again after a sent(); PVMC_EDOWN: the peer is dead.
 */
int pvmw_reliable_send(struct pvmw_reliable *r, void *message, uint32_t length, int64_t now_us);

/*
 * Like pvmw_reliable_send(), for a message that goes to several peers at once. Its packets carry at most `bytes` of it;
 * pvmw_reliable_step() sends them one by one, and later messages wait for them.
 */
int pvmw_reliable_send_held(struct pvmw_reliable *r, void *message, uint32_t length, uint32_t bytes, int64_t now_us);

/* The held message whose next packet may be sent; NULL: another message is first, or the peer has no room. */
void *pvmw_reliable_held(const struct pvmw_reliable *r);

/* Sends that packet: 0, or the result of emit(). A lost packet is retransmitted like any other. */
int pvmw_reliable_step(struct pvmw_reliable *r, int64_t now_us);

/* Whether a held message is not fully sent. */
bool pvmw_reliable_holds(const struct pvmw_reliable *r);

/* Turns held messages into ordinary ones, which the next progress() sends. */
void pvmw_reliable_release(struct pvmw_reliable *r);

/* Messages that send() accepted and sent() has not returned. */
unsigned pvmw_reliable_pending(const struct pvmw_reliable *r);

/*
 * How many of them may not reach the peer before the next progress(): those with unsent packets and, after recent
 * losses, those not yet acknowledged. Not counted if the first was sent so often that the peer must be the one not
 * listening. For owners about to do something else for long.
 */
unsigned pvmw_reliable_unsent(const struct pvmw_reliable *r);

/*
 * Processes an incoming packet. 0, or for a refused packet PVMC_EFORMAT (damaged) or PVMC_EDENIED (other incarnation):
 * it has been counted and nothing else has changed.
 */
int pvmw_reliable_take(struct pvmw_reliable *r, const uint8_t *packet, size_t length, int64_t now_us);

/*
 * Handles expired timers and sends what the window has room for. Call it after a burst of take(), when emit() has room
 * again, and at pvmw_reliable_due_us(). Returns the number of packets sent, or PVMC_EDOWN.
 */
int pvmw_reliable_progress(struct pvmw_reliable *r, int64_t now_us);

/*
 * Sends probes until the peer answers, and from now on expects an answer. For the side that knows first that both ends
 * exist. emit() may send each probe by every path that may lead to the peer.
 */
void pvmw_reliable_greet(struct pvmw_reliable *r, int64_t now_us);

/* Whether the peer was ever heard. */
bool pvmw_reliable_is_met(const struct pvmw_reliable *r);

/* Whether an acknowledgement is pending. */
bool pvmw_reliable_owes(const struct pvmw_reliable *r);

/* Sends a pending acknowledgement at once. Call it before sleeping. */
void pvmw_reliable_acknowledge(struct pvmw_reliable *r, int64_t now_us);

/* The latest time of the next progress(), or PVMW_RELIABLE_NEVER. */
int64_t pvmw_reliable_due_us(const struct pvmw_reliable *r);

/* The peer was silent for dead_after_us while an answer was due. Nothing is sent any more. */
bool pvmw_reliable_is_dead(const struct pvmw_reliable *r);

/* Several tries in a row got no answer: the owner should try other paths to the peer, if any. */
bool pvmw_reliable_is_unanswered(const struct pvmw_reliable *r);

/* Tells the peer that this end is about to be freed. Sends a few copies, because nobody acknowledges them. */
void pvmw_reliable_end(struct pvmw_reliable *r, int64_t now_us);

/* The peer has announced its end, so is_dead() holds as well; *whole: everything it sent before has arrived. */
bool pvmw_reliable_is_ended(const struct pvmw_reliable *r, bool *whole);

/* The incarnation that a packet is addressed to, unchecked; 0: none. For owners of many connections. */
uint32_t pvmw_reliable_addressee(const uint8_t *packet, size_t length);

/*
 * Writes the answer to a packet for an unknown or former incarnation: that it has ended. Returns the length, or 0 if
 * this packet must not be answered.
 */
size_t pvmw_reliable_refuse(const uint8_t *packet, size_t length, int64_t now_us,
                            uint8_t answer[PVMW_RELIABLE_HEADER_BYTES]);

/*
 * Changes the peer's credit, for example when peers that share a ring come and go; 0 stops it until the next call.
 * Credit already granted remains. The next progress() tells a peer that may be waiting for room.
 */
void pvmw_reliable_set_credit(struct pvmw_reliable *r, uint32_t packets);

/* Smoothed round trip, 0 before the first. */
int64_t pvmw_reliable_round_trip_us(const struct pvmw_reliable *r);

const struct pvmw_reliable_counters *pvmw_reliable_counters(const struct pvmw_reliable *r);

#endif
