/*
 * sweep.h - repeats a scenario, each time with one allocation failing that has not failed yet, until none is left.
 * Counts the points, and the deaths, hangs and leaks of the program under test at these points.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include <stdbool.h>
#include <sys/types.h>
#include "scarcity.h"

struct sweep_scenario {
    const char *name;
    /*
     * Runs in a process of its own. 0: success; otherwise the line of the step that failed, which is acceptable only if
     * an allocation failed.
     */
    int (*run)(void);
};

/*
 * Call this once, first. `preload` is the LD_PRELOAD of the program under test, `program` its file name. `gone_ms`: see
 * scarcity.h. Turns off address randomisation, for which it may restart this program.
 */
void sweep_begin(const char *preload, const char *program, int gone_ms);

/* Starts argv as the program under test with its output to `out` (-1: ours). Returns its process id. */
pid_t sweep_start(char *const argv[], int out);

/*
 * Sweeps the scenario. `restart` is called when the program under test, with process id *tested, has died or does not
 * answer; it starts the program again.
 */
void sweep_scenario(const struct sweep_scenario *scenario, pid_t *tested, pid_t (*restart)(void));

/* Waits for the end of the program under test and counts it: exit codes 0 to `worst_code` are acceptable. */
void sweep_wait_end(const char *name, pid_t tested, int worst_code);

/* Runs argv, which must exit by itself, until nothing fails in it any more; `name` is for the report. */
void sweep_program(const char *name, char *const argv[], int worst_code);

/* Arms one failure at a new point; true at the end if an allocation has failed. */
void sweep_arm(void);
bool sweep_disarm(void);

/* Prints the counts as "NAME: N points, 0 deaths, ..."; returns the exit code. */
int sweep_end(const char *name);

#endif
