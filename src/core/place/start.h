/* start.h - what this process must have so that a daemon can start. */
#ifndef PVMC_START_H
#define PVMC_START_H

#include <stddef.h>

#define PVMC_DESCRIPTORS_MIN 24 /* for the daemon itself and a few tasks */

/* Whether this user may start a daemon: root only with PVM_ALLOW_ROOT. 0, or PVMC_EDENIED with the reason. */
int pvmc_start_check_user(char *why, size_t size);

/* Whether `limit` descriptors are enough. 0, or PVMC_ELIMIT with the reason. */
int pvmc_start_check_descriptors(unsigned long limit, char *why, size_t size);

#endif
