/* siblings.h - telling spawned tasks who was spawned with them (DM_SIBLINGS -> TC_SIBLINGS). */
#ifndef PVMD_SIBLINGS_H
#define PVMD_SIBLINGS_H

#include <stddef.h>
#include <stdint.h>

/* Tells each host with tasks among `tids` of all of them once, in the order given. */
void pvmd_siblings_tell(const int32_t *tids, size_t count);

void pvmd_siblings_start(void);

#endif
