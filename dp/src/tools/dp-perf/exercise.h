/*
 * exercise.h - the loops that move messages, for both sides. They return 0, or -1 with errno. Times go into `samples`,
 * one for each turn.
 */
#ifndef EXERCISE_H
#define EXERCISE_H

#include "order.h"
#include "samples.h"

enum { ACK_BYTES = 4 };

/* ---- the client's side ---- */

/* Samples half of a round trip. */
int exercise_ping(struct end *end, uint32_t bytes, uint32_t turns, struct samples *samples);

/* Samples `count` messages to the server and the acknowledgement back. */
int exercise_stream(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples);

/* Samples `count` messages in both directions at once, after a barrier. Also the server's side. */
int exercise_exchange(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples);

/* Samples the time of a call that sends one of `turns` messages; nothing comes back. */
int exercise_send(struct end *end, uint32_t bytes, uint32_t turns, struct samples *samples);

/* Samples the time per message of `count` messages sent without a pause. */
int exercise_burst(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples);

/* Samples the time to take a message that has arrived: one of `count`, which the server sends on request. */
int exercise_pick(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples);

/* Sends `count` messages each time the server has begun to compute. */
int exercise_disturb(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns);

/* ---- the server's side ---- */

/* Does the server's part of an order; *figure_us as in struct answer. */
int exercise_serve(struct end *end, const struct order *order, double *figure_us);

#endif
