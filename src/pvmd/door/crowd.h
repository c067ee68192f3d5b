/*
 * crowd.h - limits how many strangers are connected at a time, in total and per source. Above half of the limit,
 * newcomers are turned away at random, more of them the fuller it is. An admitted stranger stays until its time is up,
 * so a flood cannot push out a caller whose answer takes 100 ms. A flood from one source leaves half of the places to
 * all others. Pure bookkeeping, without sockets or clock.
 */
#ifndef PVMD_CROWD_H
#define PVMD_CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/address.h"

#define PVMD_CROWD_BUCKETS 16384 /* a power of two */

struct pvmd_crowd {
    unsigned max;        /* limit of strangers at a time */
    uint64_t multiplier; /* random and odd: an attacker cannot choose sources that share a bucket */
    unsigned count;
    uint16_t of_bucket[PVMD_CROWD_BUCKETS]; /* counts per hashed source */
};

/* What counts as one source: an IPv4 address, or the first 64 bits of an IPv6 address. */
uint64_t pvmd_crowd_source(const union pvmw_address *a);

/* Admits a newcomer and counts it, or turns it away; `random` is any uniform number. */
bool pvmd_crowd_admit(struct pvmd_crowd *c, uint64_t source, uint32_t random);

/* An admitted stranger has left. */
void pvmd_crowd_leave(struct pvmd_crowd *c, uint64_t source);

/* Whether newcomers of this source are being turned away: then admitted ones get less time. */
bool pvmd_crowd_is_pressed(const struct pvmd_crowd *c, uint64_t source);

#endif
