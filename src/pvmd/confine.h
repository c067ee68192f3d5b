/*
 * confine.h - what a process gives up that speaks to strangers before it knows them: so that whoever takes it over has
 * gained nothing but it.
 */
#ifndef PVMD_CONFINE_H
#define PVMD_CONFINE_H

/*
 * For a process that pvmd3 has just started: dies with its parent, has no core dump, cannot be read by other processes,
 * and closes all descriptors but 0 to 2.
 */
void pvmd_confine_start(const char *name);

/*
 * From now on any system call beyond what serving sockets takes kills the process. 0, or why there is no such filter:
 * the errno of a kernel that has none or does not permit it, ENOTSUP where sanitizers or Valgrind need system calls of
 * their own.
 */
int pvmd_confine_calls(void);

#endif
