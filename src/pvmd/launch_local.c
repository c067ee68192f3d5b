/* launch_local.c - a further daemon on this machine: for hosts whose name is one of its loopback addresses. */
#include "launch.h"

static void command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    pvmd_command_add(c, o->daemon_path ? o->daemon_path : pvmd_launch_own_path());
    pvmd_command_add(c, "-s");
}

const struct pvmd_launcher pvmd_launch_local = {
    .name = "local", .label = "pvmd3", .summary = "a further daemon on this machine", .command = command};
