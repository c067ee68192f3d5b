/*
 * confine.h - drops a process's privileges before it speaks to strangers, so that an attacker who takes it over gains
 * little.
 */
#ifndef PVMD_CONFINE_H
#define PVMD_CONFINE_H

/*
 * For a pvmd3 process that has just started: disables core dumps and access by other processes, and closes all
 * descriptors but 0 to 2.
 */
void pvmd_confine_start(const char *name);

enum pvmd_confinement {
    PVMD_CONFINE_CALLED, /* it only serves the sockets that it has */
    PVMD_CONFINE_CALLER, /* it connects to others as well */
};

/*
 * Any system call not needed for this purpose kills the process from now on. 0, or why there is no filter: the errno of
 * a kernel that has none or does not permit it, or ENOTSUP if sanitizers or Valgrind need further system calls.
 */
int pvmd_confine_calls(enum pvmd_confinement how);

#endif
