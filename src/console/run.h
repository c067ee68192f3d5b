/* run.h - pvm run: one program, from start to end. */
#ifndef RUN_H
#define RUN_H

/* argv[0] is "pvm run"; the others are its options and the program. Returns the exit code. */
int run_main(int argc, char **argv);

#endif
