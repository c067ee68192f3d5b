/*
 * sweep.h - a scenario is run again and again, each time with one allocation failing that has not failed yet, until
 * none is left. What is counted: points, and at them deaths, hangs and leaks of the program under test.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include <stdbool.h>
#include <sys/types.h>
#include "scarcity.h"

struct sweep_scenario {
    const char *name;
    /*
     * In a process of its own. 0: all went well; else, as the line of a step that did not: right where an allocation
     * failed, wrong otherwise.
     */
    int (*run)(void);
};

/*
 * Called once, first. `preload` is the value of LD_PRELOAD for what is tested, `program` its file name. `gone_ms`: as
 * in scarcity.h. Turns randomisation of addresses off, for which it may start this program again.
 */
void sweep_begin(const char *preload, const char *program, int gone_ms);

/* Starts argv as the program under test, its output going to `out` (-1: ours). Returns its process id. */
pid_t sweep_start(char *const argv[], int out);

/*
 * Sweeps the scenario. `restart` is called when the program under test, whose process id is *tested, has died or does
 * not answer; it starts it anew.
 */
void sweep_scenario(const struct sweep_scenario *scenario, pid_t *tested, pid_t (*restart)(void));

/* Waits for the end of the program under test, and counts how it ends: exit codes 0 to `worst_code` are right. */
void sweep_wait_end(const char *name, pid_t tested, int worst_code);

/* Runs argv, which is to end by itself, until nothing fails in it any more; `name` is for the report. */
void sweep_program(const char *name, char *const argv[], int worst_code);

/* One allocation at a new point is to fail from now on; true at the end if one has. */
void sweep_arm(void);
bool sweep_disarm(void);

/* Prints what was counted as "NAME: N points, 0 deaths, ..."; returns the exit code. */
int sweep_end(const char *name);

#endif
