/*
 * reserve.h - what the daemon gets when malloc() has nothing: small blocks of a reserve, so that a shortage costs what
 * is new and not what is under way. pvmd3 is linked so that the malloc() of all objects of ours is the one here
 * (--wrap), and OpenSSL is told to use it, since its start does not survive a failure.
 */
#ifndef PVMD_RESERVE_H
#define PVMD_RESERVE_H

#include <stdbool.h>

/*
 * Sets the reserve up, of PVM_RESERVE bytes. Called once, by main(), before anything else. Without address space the
 * daemon has none, and says so.
 */
void pvmd_reserve_start(void);

/* Whether half of it is in use and malloc() still has nothing: nothing new is to be begun then. */
bool pvmd_reserve_is_low(void);

#endif
