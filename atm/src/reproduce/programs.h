/* programs.h - `atm-sim programs`: matmul, pde and molecules over every stack of the papers, in virtual time. */
#ifndef PVMA_PROGRAMS_H
#define PVMA_PROGRAMS_H

/*
 * Runs the command; argv[0] is its name. The programs' messages and computing follow examples/matmul.c, pde.c and
 * molecules.c, which run for real over the transport atm. Returns the exit code: 0, or 1 for a file that could not be
 * written.
 */
int programs_main(int argc, char **argv);

#endif
