/*
 * footprint.h - what starting and handshakes touched of the program's and the libraries' code, and nothing needs after
 * that, does not stay resident: with many daemons on one machine it would be most of what each of them holds.
 */
#ifndef PVMD_FOOTPRINT_H
#define PVMD_FOOTPRINT_H

/* Soon, and not while it is called again and again, code pages are given back; what is used comes back by itself. */
void pvmd_footprint_settle(void);

void pvmd_footprint_stop(void);

#endif
