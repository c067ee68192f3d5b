/* command.h - the commands of atm-sim: one file each, one row each in main.c. */
#ifndef ATM_SIM_COMMAND_H
#define ATM_SIM_COMMAND_H

#include <argp.h>
#include "base/argument.h"

enum { EXIT_USAGE = 2 };

/* Runs a command; argv[0] is its name. Returns the exit code. */
typedef int command_run(int argc, char **argv);

command_run command_topo, command_run_network, command_serve, command_exec, command_machine, command_profiles,
    command_overlay;

#endif
