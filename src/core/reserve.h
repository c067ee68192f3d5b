/*
 * reserve.h - a memory reserve for servers. When malloc() fails, small blocks come from the reserve, so that a shortage
 * stops new work and not work in progress. The daemon and the group server link dpvm_reserve, whose --wrap options make
 * all their own objects use the malloc() of reserve.c. Libraries do not use it.
 */
#ifndef PVMC_RESERVE_H
#define PVMC_RESERVE_H

#include <stdbool.h>

/*
 * Allocates the reserve of 1 MiB. main() calls it once, before anything else. If there is no memory for it,
 * it logs a warning and the program runs without a reserve.
 */
void pvmc_reserve_start(void);

/* Whether more than half of the reserve is in use and malloc() still fails: the caller then starts no new work. */
bool pvmc_reserve_is_low(void);

#endif
