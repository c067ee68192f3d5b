/* reproduce.h - `atm-sim reproduce`: repeats the papers' tables in the simulator. */
#ifndef PVMA_REPRODUCE_H
#define PVMA_REPRODUCE_H

/*
 * Runs the subcommand; argv[0] is "reproduce". Returns the exit code: 0 when everything ran (whether or not it
 * reproduced the papers' numbers), 1 for a wrong argument or a file that could not be written.
 */
int reproduce_main(int argc, char **argv);

#endif
