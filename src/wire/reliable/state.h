/*
 * state.h - what the files of the reliability layer share: the state of a connection, and the form of a packet.
 *
 * Packets are numbered from the sender's incarnation on; numbers wrap, and are compared by their distance.
 */
#ifndef PVMW_RELIABLE_STATE_H
#define PVMW_RELIABLE_STATE_H

#include "reliable.h"

enum packet_flag {
    PACKET_DATA = 1,
    PACKET_FIRST = 2,  /* of a message */
    PACKET_LAST = 4,   /* of a message */
    PACKET_BITMAP = 8, /* the payload is a bitmap of packets that came early: bit i is packet ack + 1 + i */
    PACKET_ASKS = 16,  /* to be acknowledged at once */
    PACKET_END = 32,   /* the sender is no more; number: of the packet that would have been next */
};
#define PACKET_FLAGS (PACKET_DATA | PACKET_FIRST | PACKET_LAST | PACKET_BITMAP | PACKET_ASKS | PACKET_END)

struct packet_header {
    uint8_t flags;
    uint32_t to, from; /* incarnations */
    uint32_t number;   /* of this packet; without data: of the next one */
    uint32_t ack;      /* all before this one have come */
    uint32_t limit;    /* the first that the receiver has no room for */
    uint32_t stamp;    /* the sender's clock, microseconds */
    uint32_t echo;     /* the stamp of the last packet that came, plus the time since then; 0: none */
    uint32_t checksum;
};

/* A packet on its way, or given back early. */
struct out_slot {
    void *message;
    uint32_t offset, length;
    uint8_t flags;
    bool arrived; /* told by a bitmap */
    bool lost;    /* to be sent again */
    unsigned tries;
    int64_t sent_us;
};

struct out_message {
    void *message;
    uint32_t length, offset; /* bytes cut into packets so far */
    uint32_t packet_bytes;   /* of it in a packet, at most */
    bool held;               /* packets wait for pvmw_reliable_step() */
};

struct in_slot {
    uint8_t *data; /* NULL: has not come */
    uint32_t length;
    uint8_t flags;
};

struct pvmw_reliable {
    struct pvmw_reliable_settings settings;
    const struct pvmw_reliable_callbacks *callbacks;
    void *arg;
    uint32_t own, peer; /* incarnations */
    bool dead, met;     /* met: something has come */
    bool ended, whole;  /* dead, because the peer said so; it had nothing on its way then */
    bool greeting;      /* we knock */
    struct pvmw_reliable_counters counters;
    int64_t heard_us; /* when the peer last gave a sign of life, or something became due from it */

    /* sending */
    struct out_message *messages; /* a ring of settings.messages: [done, queued), of which [done, cut) are cut */
    unsigned messages_done, messages_cut, messages_queued;
    struct out_slot *out;  /* a ring of settings.window */
    uint32_t base, next;   /* on their way: [base, next) */
    uint32_t limit;        /* the peer has room before this */
    uint32_t lost_count;   /* slots with `lost` */
    bool blocked;          /* emit() had no room */
    int64_t delivered_us;  /* when the newest packet that is known to have come had been sent */
    int64_t retry_us;      /* when the time limit is over; NEVER: nothing is on its way */
    int64_t recheck_us;    /* when packets that others have overtaken are lost; NEVER: there are none */
    int64_t round_trip_us; /* smoothed; 0: not measured */
    int64_t variation_us;
    unsigned backoff;       /* times that the time limit was doubled */
    uint32_t allowed;       /* packets on their way that losses have left us; the window when all is well */
    uint32_t allowed_count; /* acknowledged since it last grew */
    uint32_t wary;          /* packets that must come through before the carrier passes for a lossless one again */

    /* receiving */
    struct in_slot *in;   /* a ring of in_count; early packets, copied */
    uint32_t in_count;    /* a power of 2, settings.credit or more */
    uint32_t expected;    /* the first that has not come */
    uint32_t early_count; /* that came before their turn and wait */
    uint32_t early_end;   /* one past the last of them */
    uint32_t told_limit;  /* as the peer knows */
    uint32_t owed;        /* packets that came since we last acknowledged */
    bool ack_now;
    int64_t ack_due_us; /* NEVER: none is owed */
    uint32_t last_stamp;
    int64_t last_stamp_us; /* when it came; 0: none */
};

/* ---- wire.c ---- */

void pvmw_reliable_encode(const struct packet_header *h, uint8_t wire[PVMW_RELIABLE_HEADER_BYTES]);
bool pvmw_reliable_decode(const uint8_t *wire, size_t length, struct packet_header *h);

/* Of a header whose checksum field is zero and its payload. */
uint32_t pvmw_reliable_checksum(const uint8_t header[PVMW_RELIABLE_HEADER_BYTES], const struct iovec *pieces,
                                unsigned count);

/* ---- send.c ---- */

/* What a header says of the other direction: packets arrived, room. */
void pvmw_reliable_hear(struct pvmw_reliable *r, const struct packet_header *h, const uint8_t *bitmap, size_t length,
                        int64_t now_us);

/* Whether the peer must say something before anything goes on; a held message that may go waits for others. */
bool pvmw_reliable_needs_word(const struct pvmw_reliable *r);

/* Sends what may be sent, lost packets first. Returns how many. */
int pvmw_reliable_push(struct pvmw_reliable *r, int64_t now_us);

/* Looks again for lost packets, when it is time to. */
void pvmw_reliable_recheck(struct pvmw_reliable *r, int64_t now_us);

/* The time limit is over. */
void pvmw_reliable_retry(struct pvmw_reliable *r, int64_t now_us);

/* Puts a packet on the carrier, with all that there is to say in its header. 0 or what emit() gave. */
int pvmw_reliable_emit(struct pvmw_reliable *r, struct packet_header *h, struct iovec *pieces, unsigned count,
                       int64_t now_us);

/* ---- receive.c ---- */

void pvmw_reliable_take_data(struct pvmw_reliable *r, const struct packet_header *h, const uint8_t *data,
                             uint32_t length, int64_t now_us);

/* Fills in ack, limit and echo, and notes that the peer has been told. */
void pvmw_reliable_tell(struct pvmw_reliable *r, struct packet_header *h, int64_t now_us);

/* Sends an acknowledgement by itself. */
void pvmw_reliable_send_ack(struct pvmw_reliable *r, bool asks, int64_t now_us);

#endif
