/*
 * team.h - the parent's side of a team: starts members, sends them points, ends them.
 *
 * Any error ends the program with a message, after team_fail() has ended all teams. A signal does the same at the next
 * wait.
 */
#ifndef PERF_TEAM_H
#define PERF_TEAM_H

#include "options.h"

struct team;

/* Enrols pvm-perf. Ends the program when no daemon answers. */
void team_open(void);

/* Spawns `count` members with PVM_TRANSPORT=transport (NULL: unchanged); returns when all have enrolled. */
struct team *team_start(const struct options *o, const char *transport, int count);

/* Lets the team measure a point. outcome->verified is the sum over all members. */
void team_measure(struct team *t, const struct point *point, struct outcome *outcome);

/* Frames that member 0 has sent to other members so far, as it reports them. */
struct team_link {
    char routes[64]; /* transports in use, such as "shm" or "shm, daemon"; "" if unknown */
    long direct_frames, daemon_frames;
};

void team_ask_link(const struct team *t, struct team_link *out);

/* Ends the members, waits for their end and frees the team. */
void team_end(struct team *t);

/* Prints "pvm-perf: ..." on stderr, ends all teams, leaves PVM and ends the program with code 1. */
void team_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Sets the state for the progress line on a terminal. */
void team_progress(int done, int total, const char *what);

#endif
