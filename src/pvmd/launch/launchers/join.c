/* join.c - the daemon has been started by its own host, and has called us: see hosts/arrival.h. */
#include "launcher.h"

static bool serves(const struct pvmd_launch_wish *w)
{
    return w->joins;
}

const struct pvmd_launcher pvmd_launch_join = {
    .label = "the daemon that joins", .serves = serves, .way = PVMD_WAY_ARRIVAL};
