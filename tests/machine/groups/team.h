/*
 * team.h - what the group tests share: tasks that run one role, and tell the master when they are done.
 *
 * The programs of this folder take the number of hosts as their last argument, 1 without.
 */
#ifndef TEAM_H
#define TEAM_H

#include <stdbool.h>
#include "tests/machine/runner/check.h"

enum { TEAM_MAX = 128, TAG_TEAM_GO = 900, TAG_TEAM_DONE, TAG_TEAM_NOTE, TAG_TEAM_RESULT };

struct team {
    int size;
    int tids[TEAM_MAX];
};

/* Master: the number of hosts in argv, which it adds first. */
int team_hosts(int argc, char **argv);

/* Master: starts n tasks, dealt out to the hosts, that run `role` with a number as argument. */
void team_start(struct team *t, const char *role, int argument, int n, int hosts);

/* Master: waits until all have called team_done() and ended. */
void team_finish(struct team *t);

/* Member: the number from team_start(). */
int team_argument(int argc, char **argv);

/* Member: the work is done. */
void team_done(void);

/* Member: joins and waits until n have joined; returns the instance. */
int team_join(const char *group, int n);

/* Member: the same, and freezes the group if `frozen`. */
int team_join_kind(const char *group, int n, int frozen);

/* Member: whether this task has found a board, where it meets the others of its host in shared memory. */
bool team_has_board(void);

/* A clock that all tasks on this machine share, in microseconds. */
double team_now_us(void);

#endif
