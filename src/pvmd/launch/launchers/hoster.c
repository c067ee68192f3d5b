/* hoster.c - calls a daemon that a hoster has started, over a channel of our own: pvmd3 -K is its end here. */
#include "launcher.h"
#include "pvmd/launch/hoster.h"
#include "pvmd/base/own_path.h"

/* As in PVM 3.4, a hoster starts all daemons while there is one. */
static bool serves(const struct pvmd_launch_wish *w)
{
    return pvmd_hoster() && !w->answered;
}

static void command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    (void)o;
    pvmd_command_add(c, pvmd_own_path());
    pvmd_command_add(c, "-K");
}

const struct pvmd_launcher pvmd_launch_hoster = {
    .label = "the hoster", .serves = serves, .command = command, .way = PVMD_WAY_HOSTER, .where = PVMD_WHERE_NAMED};
