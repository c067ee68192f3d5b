/* launch_ssh.c - OpenSSH's client, which must get in without asking: by key or agent. */
#include <stdlib.h>
#include "../core/config.h"
#include "launch.h"

static void command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    char *remote = pvmd_launch_remote_command(o);
    long connect_s =
        (long)(pvmi_config_us(PVMI_SETTING_START_TIMEOUT) * 2 / 3000000); /* so that ssh says first what is wrong */
    pvmd_command_add(c, "ssh");
    pvmd_command_add(c, "-T");
    pvmd_command_add(c, "-x");
    pvmd_command_add(c, "-oBatchMode=yes");
    pvmd_command_addf(c, "-oConnectTimeout=%ld", connect_s > 1 ? connect_s : 1);
    if (o->login) {
        pvmd_command_add(c, "-l");
        pvmd_command_add(c, o->login);
    }
    pvmd_command_add(c, "--");
    pvmd_command_add(c, o->target);
    pvmd_command_add(c, remote ? remote : "");
    c->failed |= !remote;
    free(remote);
}

const struct pvmd_launcher pvmd_launch_ssh = {
    .name = "ssh", .label = "ssh", .summary = "ssh, by key or agent (the default)", .command = command};
