/* sweep.h - the command `atm-sim sweep`. */
#ifndef SWEEP_SWEEP_H
#define SWEEP_SWEEP_H

/* Runs experiments; argv[0] is the command's name. Returns the exit code. */
int sweep_main(int argc, char **argv);

#endif
