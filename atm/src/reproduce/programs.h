/* programs.h - `atm-sim programs`: matmul, pde and molecules over every stack of the papers, in virtual time. */
#ifndef PVMA_PROGRAMS_H
#define PVMA_PROGRAMS_H

/*
 * The command with its arguments, argv[0] being its name. The programs' messages and computing are modelled after
 * examples/matmul.c, pde.c and molecules.c; the real ones run over the transport atm. Returns the exit code: 0, or 1
 * for a file that could not be written.
 */
int programs_main(int argc, char **argv);

#endif
