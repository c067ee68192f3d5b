/* hoster.c - calls a daemon that a hoster has started, over a channel of our own: pvmd3 -K is its end here. */
#include "command.h"
#include "pvmd/base/own_path.h"

static void command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    (void)o;
    pvmd_command_add(c, pvmd_own_path());
    pvmd_command_add(c, "-K");
}

const struct pvmd_launcher pvmd_launch_hoster = {.name = "hoster", .label = "the hoster", .command = command};
