/*
 * confine.h - what a process gives up that speaks to strangers before it knows them: so that whoever takes it over has
 * gained nothing but it.
 */
#ifndef PVMD_CONFINE_H
#define PVMD_CONFINE_H

/*
 * For a process of pvmd3 that has just begun: it has no core dump, cannot be read by other processes, and closes all
 * descriptors but 0 to 2.
 */
void pvmd_confine_start(const char *name);

enum pvmd_confinement {
    PVMD_CONFINE_CALLED, /* it serves sockets that it has */
    PVMD_CONFINE_CALLER, /* and makes calls of its own */
};

/*
 * From now on any system call beyond what that takes kills the process. 0, or why there is no such filter:
 * the errno of a kernel that has none or does not permit it, ENOTSUP where sanitizers or Valgrind need system calls of
 * their own.
 */
int pvmd_confine_calls(enum pvmd_confinement how);

#endif
