/* calibrate.h - how much slower than this computer the hosts of the network are, measured by a program. */
#ifndef PVMA_CALIBRATE_H
#define PVMA_CALIBRATE_H

#include <stddef.h>

/*
 * "SECONDS=COMMAND": how long a shell command takes on a host. Runs it here some times, outside of any network, and
 * writes the factor from its median processor time to SECONDS, as PVM_ATM_CPU takes it. The command's standard
 * output is discarded. 0, or a PVMC_E code, logged.
 */
int pvma_calibrate(const char *text, char *factor, size_t size);

#endif
