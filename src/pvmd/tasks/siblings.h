/* siblings.h - tells spawned tasks which tasks were spawned with them (DM_SIBLINGS, then TC_SIBLINGS). */
#ifndef PVMD_SIBLINGS_H
#define PVMD_SIBLINGS_H

#include <stddef.h>
#include <stdint.h>

/* Sends `tids`, in this order, once to each host that has tasks among them. */
void pvmd_siblings_tell(const int32_t *tids, size_t count);

/* Tasks that wait for TC_SIBLINGS from that host have no siblings. */
void pvmd_siblings_host_left(unsigned index);

void pvmd_siblings_start(void);

#endif
