/*
 * history.h - tells whether what one receiver got can be right: per sender in order, nothing missing, nothing twice,
 * nothing changed. What is missing at the end must be explained by the sender's death, and of that a notify must tell.
 *
 * Senders write with history_write(), the receiver gives everything that comes to history_read(). Knows nothing of PVM:
 * who sends to whom are just numbers. Every check returns NULL, or what is wrong (static storage).
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_BYTES_MIN 32 /* bytes of the smallest message */

struct history_pair;

struct history {
    int me;
    struct history_pair *pairs;
    unsigned pair_count;
    uint64_t messages, bytes; /* all that were right */
};

void history_init(struct history *h, int me);
void history_free(struct history *h);

/* Fills data with message `number` (from 0) of `from` to `to`; bytes is HISTORY_BYTES_MIN or more. */
void history_write(void *data, size_t bytes, int from, int to, uint32_t number);

/* A message came that the carrier says to be from `from`: it must be the next one of the pair. */
const char *history_read(struct history *h, int from, const void *data, size_t bytes);

/* How many messages of `from` have come; the next must have this number. */
uint32_t history_count(const struct history *h, int from);

/* A notify told that `from` is dead. */
void history_death(struct history *h, int from);

/* No more will come of `from`, which sent `sent` messages (all it may have sent, if it died). */
const char *history_end(const struct history *h, int from, uint32_t sent);

#endif
