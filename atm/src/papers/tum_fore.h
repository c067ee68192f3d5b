/* tum_fore.h - TUM-I9701's streams over the Fore API: tests 4 and 7 to 9. */
#ifndef PVMA_TUM_FORE_H
#define PVMA_TUM_FORE_H

#include "tum_hosts.h"

/* Fills in the tests' values and claims. */
void tum_run_fore(struct tum *tum, struct report *report);

#endif
