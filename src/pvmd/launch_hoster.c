/* launch_hoster.c - what a hoster has started is called over a channel of our own: pvmd3 -K is its end here. */
#include "launch.h"

static void command(const struct pvmd_launch_order *o, struct pvmd_command *c)
{
    (void)o;
    pvmd_command_add(c, pvmd_launch_own_path());
    pvmd_command_add(c, "-K");
}

const struct pvmd_launcher pvmd_launch_hoster = {.name = "hoster",
                                                 .label = "the hoster",
                                                 .summary = "a task that has registered for it (pvm_reg_hoster)",
                                                 .command = command};
