/* local.c - a further daemon on this machine, for hosts named by its loopback addresses. */
#include "launcher.h"
#include "pvmd/base/own_path.h"

static bool serves(const struct pvmd_launch_wish *w)
{
    return pvmd_launch_is_named(w, "local") || (pvmd_launch_is_auto(w) && w->loopback);
}

static void command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    pvmd_command_add(c, o->daemon_path ? o->daemon_path : pvmd_own_path());
    pvmd_command_add(c, "-s");
}

const struct pvmd_launcher pvmd_launch_local = {
    .name = "local", .label = "pvmd3", .serves = serves, .command = command, .where = PVMD_WHERE_HERE};
