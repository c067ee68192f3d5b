/*
 * reserve.h - what a server gets when malloc() has nothing: small blocks of a reserve, so that a shortage costs what is
 * new and not what is under way. A program that links dpvm_reserve has, for all objects of its own (--wrap), the
 * malloc() of reserve.c: the daemon and the group server. Libraries have none of it.
 */
#ifndef PVMI_RESERVE_H
#define PVMI_RESERVE_H

#include <stdbool.h>

/*
 * Sets the reserve up, of PVM_RESERVE bytes. Called once, by main(), before anything else. Without address space there
 * is none, and a log line says so.
 */
void pvmi_reserve_start(void);

/* Whether half of it is in use and malloc() still has nothing: nothing new is to be begun then. */
bool pvmi_reserve_is_low(void);

#endif
