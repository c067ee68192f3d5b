/*
 * descriptors.h - pvm_getfds(): one descriptor for all routes. It is readable while a call would find something: where
 * a link is armed the kernel sees to that; for messages that have come already a bell is rung (carrier.h).
 */
#ifndef PVMI_DESCRIPTORS_H
#define PVMI_DESCRIPTORS_H

/* Makes it so again. Called by call.c at the end of each public call of a program that knows the descriptor. */
void pvmi_descriptors_settle(void);

/* The machine has been left, and the descriptor is closed. */
void pvmi_descriptors_forget(void);

#endif
