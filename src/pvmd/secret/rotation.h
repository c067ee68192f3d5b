/*
 * rotation.h - replaces the machine's secret while the machine runs, so that hosts that have left are shut out: the
 * master takes the keys (keys.h) through their phases, each of which begins when all members have made the one before.
 * Connections that are up stay up. No host is added meanwhile, because start texts hold the secret.
 *
 * A host that leaves meanwhile may have learnt the new secret, so then another one follows before anybody is told that
 * it is done. If the master is lost, the next one finishes what it has begun; who has asked for it asks the next one,
 * which begins anew.
 */
#ifndef PVMD_ROTATION_H
#define PVMD_ROTATION_H

#include <stdint.h>

/* ---- events, start and end ---- */

void pvmd_rotation_host_left(unsigned index);
void pvmd_rotation_master_changed(void);
void pvmd_rotation_committed(uint32_t seq);
void pvmd_rotation_start(void);
void pvmd_rotation_stop(void);

#endif
