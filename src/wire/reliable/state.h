/*
 * state.h - state of a connection and layout of a packet, shared by the files of the reliability layer.
 *
 * Packet numbers start at the sender's incarnation and wrap; they are compared by distance.
 */
#ifndef PVMW_RELIABLE_STATE_H
#define PVMW_RELIABLE_STATE_H

#include "reliable.h"

enum packet_flag {
    PACKET_DATA = 1,
    PACKET_FIRST = 2,  /* of a message */
    PACKET_LAST = 4,   /* of a message */
    PACKET_BITMAP = 8, /* the payload is a bitmap of the reorder queue: bit i is packet ack + 1 + i */
    PACKET_ASKS = 16,  /* acknowledge at once */
    PACKET_END = 32,   /* the sender has ended; number is the one that its next packet would have had */
};
#define PACKET_FLAGS (PACKET_DATA | PACKET_FIRST | PACKET_LAST | PACKET_BITMAP | PACKET_ASKS | PACKET_END)

struct packet_header {
    uint8_t flags;
    uint32_t to, from; /* incarnations */
    uint32_t number;   /* of this packet; without data: of the next one */
    uint32_t ack;      /* all packets before this one have arrived */
    uint32_t limit;    /* the first packet that the receiver has no room for */
    uint32_t stamp;    /* the sender's clock, microseconds */
    uint32_t echo;     /* stamp of the newest packet received, plus the time since then; 0: none */
    uint32_t checksum;
};

/* A packet in flight, or acknowledged out of order. */
struct out_slot {
    void *message;
    uint32_t offset, length;
    uint8_t flags;
    bool arrived; /* according to a bitmap */
    bool lost;    /* to be retransmitted */
    unsigned tries;
    int64_t sent_us;
};

struct out_message {
    void *message;
    uint32_t length, offset; /* offset: bytes already split into packets */
    uint32_t packet_bytes;   /* payload per packet, at most */
    bool held;               /* packets wait for pvmw_reliable_step() */
};

struct in_slot {
    uint8_t *data; /* NULL: not received */
    uint32_t length;
    uint8_t flags;
};

struct pvmw_reliable {
    struct pvmw_reliable_settings settings;
    const struct pvmw_reliable_callbacks *callbacks;
    void *arg;
    uint32_t own, peer; /* incarnations */
    bool dead, met;     /* met: something was received */
    bool ended, whole;  /* dead because the peer said so; it had nothing in flight then */
    bool greeting;      /* we send probes */
    struct pvmw_reliable_counters counters;
    int64_t heard_us; /* when the peer last answered, or an answer became due */

    /* sending */
    struct out_message *messages; /* a ring of settings.messages: [done, queued); [done, cut) are split into packets */
    unsigned messages_done, messages_cut, messages_queued;
    struct out_slot *out;  /* a ring of settings.window */
    uint32_t base, next;   /* in flight: [base, next) */
    uint32_t limit;        /* the peer has room for packets before this one */
    uint32_t lost_count;   /* slots with `lost` */
    bool blocked;          /* emit() had no room */
    int64_t arrived_us;    /* send time of the newest acknowledged packet */
    int64_t delivered_us;  /* the same, with packets that Go-Back-N dropped: earlier ones may be lost */
    int64_t retry_us;      /* end of the retransmission timeout; NEVER: nothing is in flight */
    int64_t recheck_us;    /* when overtaken packets count as lost; NEVER: there are none */
    int64_t round_trip_us; /* smoothed; 0: not measured */
    int64_t variation_us;
    unsigned backoff;       /* how often the timeout was doubled */
    uint32_t allowed;       /* congestion window in packets; the whole window if nothing gets lost */
    uint32_t allowed_count; /* acknowledged since it last grew */
    uint32_t wary;          /* packets still to be delivered before the carrier counts as lossless */

    /* receiving */
    struct in_slot *in;       /* the reorder queue: a ring of in_count copies */
    uint32_t in_count;        /* a power of 2, settings.credit or more */
    uint32_t expected;        /* the first packet not received */
    uint32_t reordered_count; /* packets in the reorder queue */
    uint32_t reordered_end;   /* one past the last of them */
    uint32_t told_limit;      /* the limit last sent to the peer */
    uint32_t owed;            /* packets received since our last acknowledgement */
    bool ack_now;
    int64_t ack_due_us; /* NEVER: none is pending */
    uint32_t last_stamp;
    int64_t last_stamp_us; /* when last_stamp arrived; 0: none */
};

/* ---- wire.c ---- */

void pvmw_reliable_encode(const struct packet_header *h, uint8_t wire[PVMW_RELIABLE_HEADER_BYTES]);

/* Writes the checksum of an encoded header. */
void pvmw_reliable_seal(uint8_t wire[PVMW_RELIABLE_HEADER_BYTES], uint32_t checksum);
bool pvmw_reliable_decode(const uint8_t *wire, size_t length, struct packet_header *h);

/* Of a header with a zero checksum field, and its payload. */
uint32_t pvmw_reliable_checksum(const uint8_t header[PVMW_RELIABLE_HEADER_BYTES], const struct iovec *pieces,
                                unsigned count);

/* ---- send.c ---- */

/* Processes a header's acknowledgement and credit. */
void pvmw_reliable_hear(struct pvmw_reliable *r, const struct packet_header *h, const uint8_t *bitmap, size_t length,
                        int64_t now_us);

/* Whether progress depends on the peer. A held message that may be sent depends on other connections instead. */
bool pvmw_reliable_needs_word(const struct pvmw_reliable *r);

/* Sends what the windows allow, retransmissions first. Returns the number of packets. */
int pvmw_reliable_push(struct pvmw_reliable *r, int64_t now_us);

/* Looks for losses again if the time has come. */
void pvmw_reliable_recheck(struct pvmw_reliable *r, int64_t now_us);

/* Handles the expired retransmission timer. */
void pvmw_reliable_retry(struct pvmw_reliable *r, int64_t now_us);

/* Sends a packet, with acknowledgement, credit and echo in its header. 0 or the result of emit(). */
int pvmw_reliable_emit(struct pvmw_reliable *r, struct packet_header *h, struct iovec *pieces, unsigned count,
                       int64_t now_us);

/* ---- receive.c ---- */

void pvmw_reliable_take_data(struct pvmw_reliable *r, const struct packet_header *h, const uint8_t *data,
                             uint32_t length, int64_t now_us);

/* Fills in ack, limit and echo, and records what was told. */
void pvmw_reliable_tell(struct pvmw_reliable *r, struct packet_header *h, int64_t now_us);

/* Sends a packet that only acknowledges. */
void pvmw_reliable_send_ack(struct pvmw_reliable *r, bool asks, int64_t now_us);

#endif
