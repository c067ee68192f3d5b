/*
 * match.h - finds the two ends of each message, see spacetime.h.
 */
#ifndef WEB_MATCH_H
#define WEB_MATCH_H

#include "spacetime.h"

/* A message is sent; to = 0: to whoever receives it (a broadcast). */
void match_send(struct spacetime *s, const struct spacetime_message *m, int context);

void match_receive(struct spacetime *s, const struct spacetime_message *m, int context);

/* Adds a message with both ends (spacetime.c). */
void spacetime_add_message(struct spacetime *s, const struct spacetime_message *m);

#endif
