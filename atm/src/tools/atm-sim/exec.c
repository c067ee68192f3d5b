/* exec.c - atm-sim exec: runs a program, and everything that it spawns, on the simulated network. */
#include <err.h>
#include "machine/preload.h"
#include "command.h"

int command_exec(int argc, char **argv)
{
    static const struct argp parser = {NULL,
                                       NULL,
                                       "PROGRAM [ARGUMENT...]",
                                       "Run a program as a task on the simulated network, with clocks that show the "
                                       "network's time if that is virtual. "
                                       "Programs that it spawns, and a daemon that it starts, run there too.",
                                       NULL,
                                       NULL,
                                       NULL};
    int first = 0;
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER | ARGP_NO_ARGS, &first, NULL);
    if (first >= argc)
        errx(EXIT_USAGE, "which program? See atm-sim exec --help");
    pvma_preload_exec(argv + first);
}
