/* reproduce.h - `atm-sim reproduce`: the papers' tables out of the simulator. */
#ifndef PVMA_REPRODUCE_H
#define PVMA_REPRODUCE_H

/*
 * The subcommand with its arguments, argv[0] being "reproduce". Returns the exit code: 0 when everything ran (whether
 * or not the papers' numbers came out), 1 for a wrong argument or a file that could not be written.
 */
int reproduce_main(int argc, char **argv);

#endif
