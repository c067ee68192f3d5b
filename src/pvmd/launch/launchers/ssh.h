/* ssh.h - the command line of OpenSSH's client, for the two launchers that run it. */
#ifndef PVMD_SSH_H
#define PVMD_SSH_H

#include "command.h"

/* batch_mode "yes": it asks no questions. */
void pvmd_ssh_command(const struct pvmd_launch_order *o, const char *batch_mode, struct pvmd_command *c);

#endif
