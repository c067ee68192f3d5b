/*
 * history.h - checks whether what one receiver got can be right: in order per sender, nothing missing, nothing twice,
 * nothing changed. What is missing at the end must be explained by the sender's death, which a notify must report.
 *
 * Senders write with history_write(); the receiver passes every message to history_read(). Independent of PVM: senders
 * and receivers are just numbers. Every check returns NULL, or what is wrong (static storage).
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
    uint64_t messages, bytes; /* of correct messages */
};

void history_init(struct history *h, int me);
void history_free(struct history *h);

/* Fills data with message `number` (from 0) of `from` to `to`; bytes is HISTORY_BYTES_MIN or more. */
void history_write(void *data, size_t bytes, int from, int to, uint32_t number);

/* A message arrived, according to the carrier from `from`: it must be the next one of the pair. */
const char *history_read(struct history *h, int from, const void *data, size_t bytes);

/* Number of messages received from `from`; the next must have this number. */
uint32_t history_count(const struct history *h, int from);

/* A notify has reported the death of `from`. */
void history_death(struct history *h, int from);

/* Nothing will arrive from `from` any more, or be asked about it: frees what is kept of it. */
void history_forget(struct history *h, int from);

/* No more messages will arrive from `from`, which sent `sent` messages (at most, if it died). */
const char *history_end(const struct history *h, int from, uint32_t sent);

#endif
