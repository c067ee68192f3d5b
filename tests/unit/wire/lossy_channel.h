/*
 * lossy_channel.h - a channel that loses, duplicates, delays, overtakes and damages packets, in virtual time; the same
 * way each time for the same `random`.
 */
#ifndef LOSSY_CHANNEL_H
#define LOSSY_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

enum { LOSSY_BYTES_MAX = 600, LOSSY_FLIGHTS_MAX = 4096 };

/* A packet in flight. */
struct lossy_flight {
    int64_t arrives_us;
    uint64_t order; /* of those that arrive at the same time */
    void *to;       /* as given */
    uint32_t length;
    uint8_t bytes[LOSSY_BYTES_MAX];
};

/* Begins with all zeros, but for the settings and `random`. */
struct lossy_channel {
    unsigned loss, duplicate, reorder, damage; /* of 10,000 packets */
    int64_t delay_us, packet_us;               /* one-way delay; time that a packet occupies the wire */
    int64_t now_us;
    uint64_t random, order;
    struct lossy_flight *heap[LOSSY_FLIGHTS_MAX]; /* [0] arrives first */
    unsigned count;
};

uint32_t lossy_random(struct lossy_channel *c);

/* Sends a packet of 1 to LOSSY_BYTES_MAX bytes to `to`, on a wire that is occupied until *wire_us. */
void lossy_send(struct lossy_channel *c, void *to, int64_t *wire_us, const uint8_t *bytes, uint32_t length);

/* Takes out the packet that arrives first; there is one. The caller frees it. */
struct lossy_flight *lossy_take(struct lossy_channel *c);

#endif
