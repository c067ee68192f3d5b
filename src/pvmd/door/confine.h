/*
 * confine.h - what a process gives up before it speaks to strangers, so that an attacker who takes it over gains
 * nothing else.
 */
#ifndef PVMD_CONFINE_H
#define PVMD_CONFINE_H

/*
 * For a process of pvmd3 that has just begun: it has no core dump, cannot be read by other processes, and closes all
 * descriptors but 0 to 2.
 */
void pvmd_confine_start(const char *name);

enum pvmd_confinement {
    PVMD_CONFINE_CALLED, /* it only serves the sockets that it has */
    PVMD_CONFINE_CALLER, /* it connects to others as well */
};

/*
 * From now on any system call that this does not need kills the process. 0, or why there is no such filter: the errno
 * of a kernel that has none or does not permit it, or ENOTSUP if sanitizers or Valgrind need further system calls.
 */
int pvmd_confine_calls(enum pvmd_confinement how);

#endif
