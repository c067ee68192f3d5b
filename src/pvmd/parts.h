/*
 * parts.h - the parts of a daemon that tasks and other daemons ask for something: the order in which they start and
 * end, and in which they hear of events.
 */
#ifndef PVMD_PARTS_H
#define PVMD_PARTS_H

/* Registers what they do; pvmd.loop must exist. Nothing may come in yet. */
void pvmd_parts_start(void);

/* Frees what they keep; nobody is told. Clients and the network must have been stopped. */
void pvmd_parts_stop(void);

#endif
