/*
 * virtual.h - tasks that live in the virtual time of a simulated network (atm-sim serve --clock virtual). The daemon
 * has no time of its own there: what it does takes none, and time stands still until it is done. Lower rooms say here
 * what they are about to do; duties/virtual_time.c tells the network. Without such a network nothing happens here.
 */
#ifndef PVMD_VIRTUAL_H
#define PVMD_VIRTUAL_H

#include <stdbool.h>
#include <sys/types.h>

/* The functions below, for the part of the daemon that knows the network. */
struct pvmd_virtual {
    bool (*is_watched)(void);
    void (*tell)(void);
    void (*expect)(pid_t pid);
    void (*hold)(void);
    void (*release)(void);
};

/* NULL: nobody does. */
void pvmd_virtual_set(const struct pvmd_virtual *v);

/* Whether our tasks live in virtual time. */
bool pvmd_virtual_is_watched(void);

/* Tells the network what has happened since it was last told. Called whenever all that could be done is done. */
void pvmd_virtual_tell(void);

/* A process was started that will connect to us. */
void pvmd_virtual_expect(pid_t pid);

/* There is something to do yet that no client waits for. Released as often as held. */
void pvmd_virtual_hold(void);
void pvmd_virtual_release(void);

#endif
