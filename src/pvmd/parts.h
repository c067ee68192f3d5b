/*
 * parts.h - the parts of a daemon that serve tasks and other daemons: the order in which they start and end, and in
 * which they receive events.
 */
#ifndef PVMD_PARTS_H
#define PVMD_PARTS_H

/* Registers their handlers; pvmd.loop must exist. No messages may arrive yet. */
void pvmd_parts_start(void);

/* Frees their state without telling anybody. Clients and the network must have been stopped. */
void pvmd_parts_stop(void);

#endif
