/*
 * machine.h - what all daemons of one virtual machine share and nobody else knows: its secret. It is made by the master
 * and travels only over the launchers' channels.
 */
#ifndef PVMD_MACHINE_H
#define PVMD_MACHINE_H

#include <stdint.h>

#define PVMD_MACHINE_ID_BYTES 16
#define PVMD_SECRET_BYTES     32
#define PVMD_KEY_BYTES        32

struct pvmd_machine {
    uint8_t id[PVMD_MACHINE_ID_BYTES]; /* not secret: tells strays of another machine from strangers */
    uint8_t secret[PVMD_SECRET_BYTES];
};

/* This daemon's machine. */
extern struct pvmd_machine pvmd_machine;

/* Draws a new machine's id and secret: 0 or PVMI_ESYSTEM, logged. */
int pvmd_machine_new(void);

#endif
