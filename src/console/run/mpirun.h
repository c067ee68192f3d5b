/* mpirun.h - the options of Open MPI's and MPICH's mpirun, for people who are used to them. */
#ifndef RUN_MPIRUN_H
#define RUN_MPIRUN_H

/*
 * Replaces mpirun's options by ours in the words before the program; argv[0] is left alone. Ends the process after a
 * message that names ours, or says why there is none, if an option of mpirun means nothing here.
 */
void mpirun_translate(int argc, char **argv);

#endif
