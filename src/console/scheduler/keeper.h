/*
 * keeper.h - a process that keeps an srun step whose tasks are daemons. It lives as long as the step. It gives the
 * step a token for joining, ends it when the daemon here has ended, and ends that daemon when its job has ended.
 */
#ifndef SCHEDULER_KEEPER_H
#define SCHEDULER_KEEPER_H

#include <stdbool.h>

/*
 * How the lines begin that the tasks of the step print. A daemon is about to join: NODE JOB.STEP; it has left: NODE
 * CODE; a task that only stays has begun: NODE JOB.STEP.
 */
#define KEEPER_NODE "pvm-node "
#define KEEPER_STEP "pvm-step "
#define KEEPER_LEFT "pvm-left "

enum keeper_kind {
    KEEPER_OF_JOB,    /* a step of the job that this machine was started in: both end together */
    KEEPER_OF_ITSELF, /* the step has an allocation of its own, which shrinks when hosts leave */
};

/*
 * Starts a keeper that runs the command `words`, and waits until `hosts` daemons have joined. SIGINT ends the wait and
 * the step. False after a message if one has not joined.
 */
bool keeper_start(enum keeper_kind kind, int hosts, char **words);

/* What a keeper does: argv[0] is KEEPER_WORD; kind, pid of the daemon here, hosts and the command follow. */
#define KEEPER_WORD "keep-step"
int keeper_main(int argc, char **argv);

#endif
