/*
 * machine.h - one program in virtual time: starts a network, a daemon for each of its hosts and the program, and ends
 * all of them.
 *
 *   atm-sim machine       waits, and passes signals on
 *     `- the supervisor     starts and ends all others, also if the first is killed
 *          |- the network
 *          |- pvmd3         of the first host; it starts those of the others
 *          `- the program   under the network's clock
 *
 * Every process that is started here, by whomever, is a descendant of the supervisor, which is their reaper: none is
 * left when the program has ended, whatever happened.
 */
#ifndef PVMA_MACHINE_H
#define PVMA_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "star.h"

enum { PVMA_MACHINE_FAILED = 125 }; /* exit code: network or daemons did not start, or ended early */

struct pvma_machine_options {
    const char *topology; /* file; NULL: the star */
    struct pvma_star star;
    const char *at;        /* hosts with a daemon, separated by commas; the program is on the first. NULL: all hosts */
    const char *cpu;       /* PVM_ATM_CPU; NULL: as it is in the environment */
    const char *calibrate; /* instead: see calibrate.h; NULL: not */
    uint64_t seed;
    bool time;     /* at the end, show the time when the program left */
    bool counters; /* and the counters of the network */
};

/*
 * Runs argv[0], found in PATH, with our standard input, output and error. Returns its exit code, 128 and the number of
 * the signal that ended it or us, 126 or 127 if it cannot be run, or PVMA_MACHINE_FAILED, with a message. Changes this
 * process: its environment, its signals.
 */
int pvma_machine_run(const struct pvma_machine_options *options, char **argv);

#endif
