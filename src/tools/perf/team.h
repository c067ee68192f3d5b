/*
 * team.h - the spawned tasks of pvm-perf, seen from pvm-perf itself: starts them, gives them points, ends them.
 *
 * Whatever goes wrong ends the program with a message: team_fail() ends all teams first. So does a signal, when the
 * next wait notices it.
 */
#ifndef PERF_TEAM_H
#define PERF_TEAM_H

#include "options.h"

struct team;

/* Enrols pvm-perf. Ends the program when no daemon answers. */
void team_open(void);

/* Spawns `count` members with PVM_TRANSPORT=transport (NULL: as it is); returns when all have enrolled. */
struct team *team_start(const struct options *o, const char *transport, int count);

/* Has the team measure a point. outcome->verified is the sum of all members. */
void team_measure(struct team *t, const struct point *point, struct outcome *outcome);

/* What member 0 has sent to the other members so far, as it tells itself. */
struct team_link {
    char routes[64]; /* transports in use, such as "shm" or "shm, daemon"; "" when it has not told */
    long direct_frames, daemon_frames;
};

void team_ask_link(const struct team *t, struct team_link *out);

/* Ends the members, waits until they are gone, frees the team. */
void team_end(struct team *t);

/* Prints "pvm-perf: ..." on stderr, ends all teams, leaves PVM and ends the program with code 1. */
void team_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* What members are busy with, for the line of progress on a terminal. */
void team_progress(int done, int total, const char *what);

#endif
