/*
 * delivery.h - delivers the relay's frames to tasks of this host, to other hosts, and to this daemon itself, whose
 * messages it reassembles.
 */
#ifndef PVMD_DELIVERY_H
#define PVMD_DELIVERY_H

void pvmd_delivery_start(void);

/* Tells our tasks that the host is gone; messages that it has begun stay unfinished. */
void pvmd_delivery_host_left(unsigned index);

/* Drops unfinished messages from other daemons. */
void pvmd_delivery_stop(void);

#endif
