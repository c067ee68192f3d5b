/* siblings.h - telling spawned tasks who was spawned with them (DM_SIBLINGS -> TC_SIBLINGS). */
#ifndef PVMD_SIBLINGS_H
#define PVMD_SIBLINGS_H

void pvmd_siblings_start(void);

#endif
