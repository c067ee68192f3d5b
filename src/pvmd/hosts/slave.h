/* slave.h - the slave's side of its launch by the master. */
#ifndef PVMD_SLAVE_H
#define PVMD_SLAVE_H

#include "pvmd/launch/startup.h"

/*
 * Called first in a daemon started with -s. Forks: the caller's process stays with the launcher until the slave is
 * linked to its master, and does not return from here. In the slave: reads the start text from stdin, puts its settings
 * (PVM_VMID, time limits, ...) into the environment, sets pvmd.host_index, master_index, host_name and file_suffix. A
 * failure is reported to the launcher, and the process ends. courier_key: NULL, or the master's key when a hoster
 * starts us: stdin and stdout are then the channel of courier.h. joins: the caller is a child of applicant.c, which
 * waits for it; descriptor PVMD_SLAVE_GUARD is a socket to it, and stdin and stdout are the channel.
 */
#define PVMD_SLAVE_GUARD 3
void pvmd_slave_start(const char *courier_key, bool joins);

/* Tells the launcher that the start failed; the master's user reads `why`. Does nothing in a master or once linked. */
void pvmd_slave_failed(int public_code, const char *why);

/* The master's start text; NULL in a master. */
const struct pvmd_start_text *pvmd_slave_text(void);

/* Tasks and the master can connect: prints the start line, and watches the launcher's channel until the link is up. */
void pvmd_slave_ready(void);

/* The link to the master is up: releases the launcher. Does nothing the second time. */
void pvmd_slave_linked(void);

/* Frees everything when the daemon ends. */
void pvmd_slave_stop(void);

#endif
