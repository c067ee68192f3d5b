/*
 * carrier.h - what messages are measured over: libdp in its modes, UDP, TCP, and plain Ethernet frames, all on the same
 * link and behind one table of functions, so that the same loops measure each.
 *
 * Calls that fail return -1 with errno; ETIMEDOUT stands for a peer that has been silent for too long.
 */
#ifndef CARRIER_H
#define CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MESSAGE_BYTES_MAX = 65536, ROOM_BYTES_MAX = 32 << 20, FRAMES_ETHERTYPE = 0x88b6, PORT_BASE = 47000 };

/* The link: this end of it, as libdp sees it. */
struct wire {
    char interface[16];
    uint16_t nid;
    uint32_t ip; /* IPv4, in network order; 0: the interface has none */
    uint8_t hardware[6];
    int mtu;
};

/* Where an end can be reached, by whatever carrier. */
struct place {
    uint16_t nid, dpid, port;
    uint32_t ip;
    uint8_t hardware[6];
};

struct end {
    const struct carrier *carrier;
    const struct wire *wire;
    bool spin;        /* wait by polling instead of sleeping */
    bool passive;     /* the other end comes to us */
    int fd, listener; /* listener -1: none */
    int longest;      /* bytes of a message */
    uint32_t room;    /* messages that may wait at this end, if there is memory for so many */
    uint32_t head;    /* first bytes of the message that was taken last; only where messages may get lost */
    struct place here, peer;
    size_t moved_out, moved_in; /* of a message that is partly through: TCP */
    struct ring *ring;          /* frames */
};

struct carrier {
    const char *name;
    bool lossless;
    int mode; /* of libdp */

    /* Fills end->fd, longest and here. */
    int (*open)(struct end *end);
    /* Joins the peer at end->peer. A passive end may wait here until the other one has come. */
    int (*meet)(struct end *end);
    /* Sends a message of `bytes`: 1, or 0 if there is no room now and `wait` is false. */
    int (*send)(struct end *end, const char *message, size_t bytes, bool wait);
    /* Sends `count` messages alike, waiting; NULL: one by one. 0. */
    int (*send_many)(struct end *end, const char *message, size_t bytes, long count);
    /* Takes a message, of `bytes` where the carrier knows no lengths: 1, or 0 if there is none and `wait` is false. */
    int (*take)(struct end *end, size_t bytes, bool wait);
    void (*close)(struct end *end);
};

enum { CARRIER_RAW, CARRIER_RELIABLE, CARRIER_GO_BACK_N, CARRIER_UDP, CARRIER_TCP, CARRIER_FRAMES, CARRIERS };

extern const struct carrier carriers[CARRIERS];

/* Opens an end over carriers[which]. */
int end_open(struct end *end, int which, const struct wire *wire, bool spin, bool passive, uint32_t room);
void end_close(struct end *end);

static inline int end_send(struct end *end, const char *message, size_t bytes)
{
    return end->carrier->send(end, message, bytes, true);
}

static inline int end_take(struct end *end, size_t bytes)
{
    return end->carrier->take(end, bytes, true);
}

int end_send_many(struct end *end, const char *message, size_t bytes, long count);

/* What the link of the libdp endpoint `fd` is. */
int wire_find(int fd, struct wire *wire);

/* In carrier_dp.c, carrier_ip.c and carrier_frames.c. */
int dp_end_open(struct end *end);
int dp_end_meet(struct end *end);
int dp_end_send(struct end *end, const char *message, size_t bytes, bool wait);
int dp_end_take(struct end *end, size_t bytes, bool wait);
void dp_end_close(struct end *end);
int udp_end_open(struct end *end);
int udp_end_meet(struct end *end);
int udp_end_send(struct end *end, const char *message, size_t bytes, bool wait);
int udp_end_take(struct end *end, size_t bytes, bool wait);
int tcp_end_open(struct end *end);
int tcp_end_meet(struct end *end);
int tcp_end_send(struct end *end, const char *message, size_t bytes, bool wait);
int tcp_end_take(struct end *end, size_t bytes, bool wait);
void socket_end_close(struct end *end);
int frames_end_open(struct end *end);
int frames_end_meet(struct end *end);
int frames_end_send(struct end *end, const char *message, size_t bytes, bool wait);
int frames_end_send_many(struct end *end, const char *message, size_t bytes, long count);
int frames_end_take(struct end *end, size_t bytes, bool wait);
void frames_end_close(struct end *end);

#endif
