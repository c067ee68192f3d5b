/*
 * virtual.h - tasks that live in the virtual time of a simulated network (atm-sim serve --clock virtual). The daemon's
 * work takes no virtual time: time stands still until it is done. Lower rooms announce here what they are about to do;
 * duties/virtual_time.c tells the network. Without such a network these functions do nothing.
 */
#ifndef PVMD_VIRTUAL_H
#define PVMD_VIRTUAL_H

#include <stdbool.h>
#include <sys/types.h>

/* Implementations of the functions below, by the room that knows the network. */
struct pvmd_virtual {
    bool (*is_watched)(void);
    void (*tell)(void);
    void (*expect)(pid_t pid);
    void (*hold)(void);
    void (*release)(void);
};

/* NULL: there is no such network. */
void pvmd_virtual_set(const struct pvmd_virtual *v);

/* Whether our tasks live in virtual time. */
bool pvmd_virtual_is_watched(void);

/* Tells the network what has happened since the last call. Called whenever all possible work is done. */
void pvmd_virtual_tell(void);

/* A started process will connect to us. */
void pvmd_virtual_expect(pid_t pid);

/* There is work that no client waits for. Each hold needs a release. */
void pvmd_virtual_hold(void);
void pvmd_virtual_release(void);

#endif
