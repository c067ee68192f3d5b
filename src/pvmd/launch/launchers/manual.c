/* manual.c - the user starts the daemon and copies the texts both ways, as newcomer.c tells. */
#include "command.h"

const struct pvmd_launcher pvmd_launch_manual = {.name = "manual", .label = "the user"};
