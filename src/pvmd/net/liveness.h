/*
 * liveness.h - notices daemons that are silent: stopped, or cut off without their connection being closed.
 *
 * Between the master and each slave, a side that has heard nothing for a quarter of PVM_HOST_TIMEOUT sends a PING;
 * after the whole of it the other counts as failed. Any bytes are a sign of life, and time that we did not run
 * ourselves does not count. Two slaves look after their link only while sent frames wait on it; the master's word
 * decides about hosts.
 */
#ifndef PVMD_LIVENESS_H
#define PVMD_LIVENESS_H

void pvmd_liveness_start(void);

/* There is another host: looks from now on, until there is none. */
void pvmd_liveness_go_on(void);

void pvmd_liveness_stop(void);

#endif
