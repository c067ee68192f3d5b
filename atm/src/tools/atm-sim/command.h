/* command.h - the commands of atm-sim: one file each, one row each in main.c. */
#ifndef ATM_SIM_COMMAND_H
#define ATM_SIM_COMMAND_H

#include <argp.h>

enum { EXIT_USAGE = 2 };

/* Runs a command; argv[0] is its name. Returns the exit code. */
typedef int command_run(int argc, char **argv);

command_run command_topo, command_run_network, command_serve, command_exec, command_machine, command_profiles;

/* For a command's parser: a whole number from min to max; ends with a usage message otherwise. */
long command_number(const char *text, long min, long max, const char *what, struct argp_state *state);

#endif
