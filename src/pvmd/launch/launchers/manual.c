/* manual.c - the user starts the daemon and copies the texts both ways, as hosts/newcomer.c tells. */
#include "launcher.h"

const struct pvmd_launcher pvmd_launch_manual = {
    .name = "manual", .option = "ms", .means = "by hand", .label = "the user", .way = PVMD_WAY_USER};
