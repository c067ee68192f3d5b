/* doctor.h - `pvm doctor`: looks for the causes of troubles, here and on named hosts. It neither needs a daemon nor
 * starts one. */
#ifndef DOCTOR_H
#define DOCTOR_H

/* Runs `pvm doctor`; argv[0] stands for both words. Returns the exit code. */
int doctor_main(int argc, char **argv);

#endif
