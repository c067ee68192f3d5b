/*
 * liveness.h - detects silent daemons: stopped, or cut off without their connection being closed.
 *
 * Between the master and each slave, a side that has heard nothing for a quarter of PVM_HOST_TIMEOUT sends a PING;
 * after all of PVM_HOST_TIMEOUT it declares the other failed. Any bytes are a sign of life. Time during which this
 * daemon did not run does not count. Two slaves check their link only while sent frames wait for a count; the master
 * decides whether hosts are lost.
 */
#ifndef PVMD_LIVENESS_H
#define PVMD_LIVENESS_H

void pvmd_liveness_start(void);

/* Starts the checks; they run while there is another host. */
void pvmd_liveness_go_on(void);

void pvmd_liveness_stop(void);

#endif
