/*
 * tum_streams.h - one-way streams between two hosts of TUM-I9701, in tests 1 to 9: single runs over TCP, UDP and the
 * Fore API.
 */
#ifndef PVMA_TUM_STREAMS_H
#define PVMA_TUM_STREAMS_H

#include "tum_hosts.h"

/* In 2^20 bit/s, as the report's: what the sender's calls have taken, and what the receiver's have given. */
struct tum_rates {
    double sender, receiver;
    double percent; /* of the messages, that have arrived */
};

/* A stream of messages; over UDP and the Fore API with a pause after each. */
struct tum_rates tum_stream(struct tum *tum, const struct tum_run *run, uint32_t bytes, double gap_us);

/* Of a sender that pauses, over UDP or the Fore API, just as long as 95 % need to arrive. */
struct tum_rates tum_paced_stream(struct tum *tum, const struct tum_run *run, uint32_t bytes);

#endif
