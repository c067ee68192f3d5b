/*
 * reliable.h - exactly once and in order over a carrier that loses, doubles, delays and damages packets: raw Ethernet
 * frames, cells of a simulated network. The one such layer; every best-effort carrier stands on it.
 *
 * A struct pvmw_reliable is one end of a connection between two. It is a state machine without I/O and without a clock:
 * the owner tells it the time and what came in, and puts on the carrier what emit() is given. So it is tested in
 * virtual time, and serves one that sleeps in poll() as well as one that simulates.
 *
 * What it does: cuts messages into packets; a window of packets on their way, each of which is acknowledged by itself
 * and alone sent again (selective repeat), or, for comparison, all from the lost one on (Go-Back-N); credit, so that a
 * slow reader's ring never overflows; the time limit follows the measured round trip and doubles with each try;
 * packets of an earlier life of either end are refused, as are damaged ones; a peer that is silent for too long while
 * something is due from it is declared dead.
 *
 * All functions are the owner's to call, from one thread. Times are microseconds of any clock that does not go back.
 */
#ifndef PVMW_RELIABLE_H
#define PVMW_RELIABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define PVMW_RELIABLE_HEADER_BYTES 36
#define PVMW_RELIABLE_WINDOW_MAX   1024 /* packets; its bitmap fits into an acknowledgement of the smallest carrier */
#define PVMW_RELIABLE_MESSAGES_MAX 64   /* messages taken and not yet acknowledged, unless the settings say other */
#define PVMW_RELIABLE_PIECES_MAX   17   /* of one packet's payload */
#define PVMW_RELIABLE_NEVER        INT64_MAX

struct pvmw_reliable_settings {
    uint32_t packet_bytes; /* largest packet of the carrier, our header included; 256 to 65535 */
    uint32_t window;       /* packets that we send ahead of acknowledgements; a power of 2 up to WINDOW_MAX */
    uint32_t credit;       /* packets that the peer may have on their way to us; 1 to WINDOW_MAX */
    uint32_t messages;     /* taken and not yet acknowledged; a power of 2 up to WINDOW_MAX; 0: MESSAGES_MAX */
    bool go_back_n;        /* what arrives out of order is dropped, and everything from the gap on sent again */
    bool unchecked;        /* the checksum covers headers only, not payloads. Both ends must agree. */
    int64_t retry_min_us;  /* an unacknowledged packet is sent again after the measured round trip, at least this, */
    int64_t retry_max_us;  /* then after twice that and so on up to this, or a longer round trip of up to a second */
    int64_t ack_delay_us;  /* how long an acknowledgement may wait for a packet to travel with */
    int64_t dead_after_us; /* without a sign of life while one is due */
};

struct pvmw_reliable_callbacks {
    /*
     * Puts a packet on the carrier, which copies it: 0; PVMC_EAGAIN: no room now, it is tried again by progress(); any
     * other error counts as a lost packet.
     */
    int (*emit)(void *arg, const struct iovec *pieces, unsigned count);

    /* Where bytes [offset, offset + length) of a message are: fills pieces, returns their number. May be asked again.
     */
    unsigned (*gather)(void *arg, void *message, uint32_t offset, uint32_t length,
                       struct iovec pieces[PVMW_RELIABLE_PIECES_MAX]);

    /* The peer has all of the message: it is the owner's again. In the order of pvmw_reliable_send(). */
    void (*sent)(void *arg, void *message);

    /* The next bytes of the peer's next message, valid until this returns. Messages come whole and in order. */
    void (*received)(void *arg, bool first, bool last, const uint8_t *data, uint32_t length);
};

struct pvmw_reliable_counters {
    uint64_t packets_sent, packets_received; /* with data, each time that one went or came */
    uint64_t acks_sent, acks_received;       /* packets without data */
    uint64_t resent;                         /* part of packets_sent */
    uint64_t timeouts;                       /* times that nothing else but the time limit told of a loss */
    uint64_t duplicates, early;              /* came again; came before their turn */
    uint64_t damaged, strangers;             /* refused: checksum or form; another incarnation */
};

struct pvmw_reliable;

/*
 * A connection whose ends are named by two random nonzero numbers, which each got from the other beforehand: `own` and
 * `peer`. NULL: out of memory or settings out of bounds. callbacks and arg must outlive it.
 */
struct pvmw_reliable *pvmw_reliable_new(const struct pvmw_reliable_settings *settings, uint32_t own, uint32_t peer,
                                        const struct pvmw_reliable_callbacks *callbacks, void *arg);

/* Frees it; unsent messages are forgotten without sent(). Not from a callback. */
void pvmw_reliable_free(struct pvmw_reliable *r);

/*
 * Sends a message of `length` bytes (0 is allowed), which stays as it is until sent(). 0; PVMC_EAGAIN: as many as may
 * be are on their way, try again after a sent(); PVMC_EDOWN: the peer is dead.
 */
int pvmw_reliable_send(struct pvmw_reliable *r, void *message, uint32_t length, int64_t now_us);

/*
 * As pvmw_reliable_send(), for a message that goes to several peers at once: its packets have at most `bytes` of it and
 * go one by one, when pvmw_reliable_step() says so, and what was given to send() later waits for them.
 */
int pvmw_reliable_send_held(struct pvmw_reliable *r, void *message, uint32_t length, uint32_t bytes, int64_t now_us);

/* The held message whose next packet may go; NULL: it is not its turn, or there is no room at the peer's. */
void *pvmw_reliable_held(const struct pvmw_reliable *r);

/* Sends that packet: 0, or what emit() gave. If it gets lost it is sent again as any other, without being asked for. */
int pvmw_reliable_step(struct pvmw_reliable *r, int64_t now_us);

/* Whether there are held messages not yet sent. */
bool pvmw_reliable_holds(const struct pvmw_reliable *r);

/* Held messages go as others do: with the next progress(). */
void pvmw_reliable_release(struct pvmw_reliable *r);

/* Messages taken by send() for which sent() has not come. */
unsigned pvmw_reliable_pending(const struct pvmw_reliable *r);

/*
 * Those of them that may not reach the peer before progress() is called again: not all of their packets have been sent;
 * or, where packets got lost lately, they are not acknowledged, unless the first was sent so often that it is the peer
 * who does not look. For owners that are about to do something else for long.
 */
unsigned pvmw_reliable_unsent(const struct pvmw_reliable *r);

/*
 * A packet came. 0, or for one that was refused, PVMC_EFORMAT (damaged) or PVMC_EDENIED (of another incarnation): it
 * has been counted and nothing else has changed.
 */
int pvmw_reliable_take(struct pvmw_reliable *r, const uint8_t *packet, size_t length, int64_t now_us);

/*
 * Does what time asks for, and sends what the window has room for. To be called after a burst of take(), when emit()
 * has room again, and when pvmw_reliable_due_us() has come. Returns how many packets it sent, or PVMC_EDOWN.
 */
int pvmw_reliable_progress(struct pvmw_reliable *r, int64_t now_us);

/*
 * Knocks at the peer until it gives a sign of life, which is then due from it: for the side that knows first that both
 * ends are there. emit() may send each knock by all ways that may lead to the peer.
 */
void pvmw_reliable_greet(struct pvmw_reliable *r, int64_t now_us);

/* Whether the peer has ever been heard of. */
bool pvmw_reliable_is_met(const struct pvmw_reliable *r);

/* Whether an acknowledgement is owed. */
bool pvmw_reliable_owes(const struct pvmw_reliable *r);

/*
 * Says what the peer waits to hear: an acknowledgement that is owed goes at once. To be called before sleeping.
 */
void pvmw_reliable_acknowledge(struct pvmw_reliable *r, int64_t now_us);

/* When progress() must be called at the latest, or PVMW_RELIABLE_NEVER. */
int64_t pvmw_reliable_due_us(const struct pvmw_reliable *r);

/* The peer has not been heard of for dead_after_us while something was due; nothing is sent any more. */
bool pvmw_reliable_is_dead(const struct pvmw_reliable *r);

/* Several tries in a row have brought no sign of life: time to try other ways to the peer, if there are any. */
bool pvmw_reliable_is_unanswered(const struct pvmw_reliable *r);

/* Tells the peer that this end is about to be freed. It is said a few times, since nobody confirms it. */
void pvmw_reliable_end(struct pvmw_reliable *r, int64_t now_us);

/* The peer has said so (is_dead() then holds, too); *whole: all that it had sent before has come. */
bool pvmw_reliable_is_ended(const struct pvmw_reliable *r, bool *whole);

/* The incarnation that a packet says it is for, unchecked; 0: it is none. For owners of many connections. */
uint32_t pvmw_reliable_addressee(const uint8_t *packet, size_t length);

/*
 * Writes the answer to a packet for an incarnation that is not here (any more): that it has ended. Returns its length,
 * or 0: this one is not to be answered.
 */
size_t pvmw_reliable_refuse(const uint8_t *packet, size_t length, int64_t now_us,
                            uint8_t answer[PVMW_RELIABLE_HEADER_BYTES]);

/*
 * Changes the credit for the peer, e.g. when peers that share a ring come and go; 0: no more until it is set again.
 * What was granted stays granted. A peer that may be waiting for room is told with the next progress().
 */
void pvmw_reliable_set_credit(struct pvmw_reliable *r, uint32_t packets);

/* Smoothed round trip, 0 before the first. */
int64_t pvmw_reliable_round_trip_us(const struct pvmw_reliable *r);

const struct pvmw_reliable_counters *pvmw_reliable_counters(const struct pvmw_reliable *r);

#endif
