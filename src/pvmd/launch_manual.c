/* launch_manual.c - the user starts the daemon and carries the texts to and fro; add.c tells how. */
#include "launch.h"

const struct pvmd_launcher pvmd_launch_manual = {
    .name = "manual", .label = "the user", .summary = "started by hand, with a text to paste (so=ms)", .command = NULL};
