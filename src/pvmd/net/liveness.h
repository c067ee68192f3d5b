/*
 * liveness.h - detects silent daemons: stopped, or cut off without their connection being closed.
 *
 * A link that works proves it: each side pings when it has sent nothing for 1/16 of PVM_HOST_TIMEOUT, and bytes of the
 * other side count as a sign of life as long as its kernel acknowledges ours. After a quarter of PVM_HOST_TIMEOUT
 * without proof both sides try fresh connections. Both count the other one as lost between 1.09 and 1.19 times
 * PVM_HOST_TIMEOUT after the cause, so that they agree, and no shorter outage costs a host. Time during which this
 * daemon did not run does not count. Two slaves check their link only while sent frames wait for a count or a
 * connection; after PVM_HOST_TIMEOUT they send through the master.
 */
#ifndef PVMD_LIVENESS_H
#define PVMD_LIVENESS_H

void pvmd_liveness_start(void);

/* Starts the checks; they run while there is another host. */
void pvmd_liveness_go_on(void);

void pvmd_liveness_stop(void);

#endif
