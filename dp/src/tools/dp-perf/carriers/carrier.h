/*
 * carrier.h - the compared ways to send messages: libdp in its modes, UDP, TCP, and plain Ethernet frames. All use the
 * same link and one table of functions, so that the same loops measure each.
 *
 * Calls that fail return -1 with errno; ETIMEDOUT means that the peer has been silent for too long.
 */
#ifndef CARRIER_H
#define CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MESSAGE_BYTES_MAX = 65536, ROOM_BYTES_MAX = 32 << 20, FRAMES_ETHERTYPE = 0x88b6, PORT_BASE = 47000 };

/* This end of the link, as libdp sees it. */
struct wire {
    char interface[16];
    uint16_t nid;
    uint32_t ip; /* IPv4, in network order; 0: the interface has none */
    uint8_t hardware[6];
    int mtu;
};

/* The address of an end, for any carrier. */
struct place {
    uint16_t nid, dpid, port;
    uint32_t ip;
    uint8_t hardware[6];
};

struct end {
    const struct carrier *carrier;
    const struct wire *wire;
    bool spin;        /* wait by polling instead of sleeping */
    bool passive;     /* the other end connects */
    int fd, listener; /* listener -1: none */
    int longest;      /* bytes of a message */
    uint32_t room;    /* messages to buffer at this end, as far as memory permits */
    uint32_t head;    /* first bytes of the message taken last; only for lossy carriers */
    struct place here, peer;
    size_t moved_out, moved_in; /* bytes done of a partial message: TCP */
    struct ring *ring;          /* frames */
};

struct carrier {
    const char *name;
    bool lossless;
    int mode; /* of libdp */

    /* Sets end->fd, longest and here. */
    int (*open)(struct end *end);
    /* Connects to the peer at end->peer. A passive end may wait here for the other one. */
    int (*meet)(struct end *end);
    /* Sends a message. Returns 1, or 0 if there is no room now and `wait` is false. */
    int (*send)(struct end *end, const char *message, size_t bytes, bool wait);
    /* Sends `count` equal messages, waiting for room; NULL: the caller sends them one by one. Returns 0. */
    int (*send_many)(struct end *end, const char *message, size_t bytes, long count);
    /* Takes a message; TCP needs its length `bytes`. Returns 1, or 0 if there is none and `wait` is false. */
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

/* Finds the link of the libdp endpoint `fd`. */
int wire_find(int fd, struct wire *wire);

/* Implemented in carrier_dp.c, carrier_ip.c and carrier_frames.c. */
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
