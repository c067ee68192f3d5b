/*
 * libraries.h - which libpvm3 a spawned program loads. One that was linked with PVM 3.4 needs a libpvm3.so.3, as ours
 * is called, too, and the system may have the other one: the program would not understand this daemon. PVM_LIBRARIES of
 * the task says what is done about it:
 *
 *   path     our folder goes in front of LD_LIBRARY_PATH, unless that leads to a dpvm already
 *   preload  the same, and LD_PRELOAD gets our libraries: for what looks elsewhere first, by DT_RPATH or a launcher
 *   none     nothing
 *
 * Our folder, $PVM_ROOT/lib/$PVM_ARCH of the installation that this daemon is of, has none but our libraries, so that
 * no other is taken from it. It is not used when other users could put a library there.
 */
#ifndef PVMD_LIBRARIES_H
#define PVMD_LIBRARIES_H

#include "environment.h"

/* Changes what the loader looks at in the environment of a task. 0 or PVMI_ENOMEM. */
int pvmd_libraries_set(struct pvmd_environment *e);

#endif
