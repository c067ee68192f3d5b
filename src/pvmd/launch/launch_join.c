/* launch_join.c - the daemon has been started by its own host, and has called us: see hosts/arrival.h. */
#include "command.h"

const struct pvmd_launcher pvmd_launch_join = {.name = "join", .label = "the daemon that joins"};
