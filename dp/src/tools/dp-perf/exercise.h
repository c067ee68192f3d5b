/*
 * exercise.h - the loops in which messages move, each from both sides. They return 0, or -1 with errno. Times go into
 * `samples`, one for each turn.
 */
#ifndef EXERCISE_H
#define EXERCISE_H

#include "order.h"
#include "samples.h"

enum { ACK_BYTES = 4 };

/* ---- the client's sides ---- */

/* Half of a message there and back. */
int exercise_ping(struct end *end, uint32_t bytes, uint32_t turns, struct samples *samples);

/* `count` messages there and the acknowledgement back. */
int exercise_stream(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples);

/* `count` messages there and as many back at once, after a barrier; also the server's side. */
int exercise_exchange(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples);

/* The time of a call that sends; `turns` messages, nothing comes back. */
int exercise_send(struct end *end, uint32_t bytes, uint32_t turns, struct samples *samples);

/* One of `count` messages sent without a pause. */
int exercise_burst(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples);

/* The time to take a message that is there: one of `count`, which the server sends when it is asked to. */
int exercise_pick(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples);

/* Sends `count` messages whenever the server has begun to compute. */
int exercise_disturb(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns);

/* ---- the server's side ---- */

/* Does what is ordered; *figure_us as in struct answer. */
int exercise_serve(struct end *end, const struct order *order, double *figure_us);

#endif
