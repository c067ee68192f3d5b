/* run.h - the command pvm run. */
#ifndef RUN_H
#define RUN_H

/* argv[0] is "pvm run"; options and the program follow. Returns the exit code. */
int run_main(int argc, char **argv);

#endif
