/*
 * libraries.h - which libpvm3 a spawned program loads. A program linked with PVM 3.4 needs libpvm3.so.3. That is our
 * library's name, too, but the system may have PVM 3.4's own, with which the program would not understand this daemon.
 * The task's PVM_LIBRARIES selects the remedy:
 *
 *   path     puts our folder in front of LD_LIBRARY_PATH, unless that leads to a dpvm already
 *   preload  does the same and adds our libraries to LD_PRELOAD, for programs that search elsewhere first (DT_RPATH, or
 *            a launcher that changes the path)
 *   none     does nothing
 *
 * Our folder is $PVM_ROOT/lib/$PVM_ARCH of this daemon's installation. It holds our libraries only, so that no other
 * library is taken from it, and it is not used if other users could put a library there.
 */
#ifndef PVMD_LIBRARIES_H
#define PVMD_LIBRARIES_H

#include "environment.h"

/* Changes the variables of a task that the loader reads. Returns 0 or PVMC_ENOMEM. */
int pvmd_libraries_set(struct pvmd_environment *e);

/*
 * Logs a warning if a program with these variables loads another PVM's libpvm3 all the same, because of its DT_RPATH.
 * A relative path is one from `directory`.
 */
void pvmd_libraries_warn(const struct pvmd_environment *e, const char *program, const char *directory);

#endif
