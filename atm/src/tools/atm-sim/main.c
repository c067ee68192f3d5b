/* main.c - atm-sim: the simulated ATM network as a program. Each command has its own file. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reproduce/programs.h"
#include "reproduce/reproduce.h"
#include "core/log.h"
#include "sweep/sweep.h"
#include "command.h"

static const struct {
    const char *name;
    command_run *run;
    const char *help;
} commands[] = {
    {"topo", command_topo, "check, list or draw a topology"},
    {"run", command_run_network, "run a network with its traffic; show times, counters, digest"},
    {"sweep", sweep_main, "run experiments with varied parameters; write tables and figures"},
    {"reproduce", reproduce_main, "repeat the papers' experiments; show printed and simulated results"},
    {"programs", programs_main, "run matmul, pde and molecules over every stack of the papers"},
    {"serve", command_serve, "serve the network to programs"},
    {"machine", command_machine, "run a program in virtual time: with a network, daemons and hosts of its own"},
    {"exec", command_exec, "run a program on a served network, in its time"},
    {"overlay", command_overlay, "survey an overlay of servers: hops, times, VCs of connections"},
    {"profiles", command_profiles, "list the built-in host profiles, with the origin of each figure"},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void say(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)arg;
    fprintf(stderr, "atm-sim: %s\n", line);
}

static void usage(FILE *out)
{
    fprintf(out, "Usage: atm-sim COMMAND [OPTION...]\nSimulate an ATM network, cell by cell. COMMANDs:\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\natm-sim COMMAND --help tells more. See atm-sim(1) and atm-topology(5).\n");
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    argp_err_exit_status = EXIT_USAGE;
    pvmc_log_to(say, NULL, PVMC_LOG_WARNING);
    if (!strcmp(word, "--help") || !strcmp(word, "-?")) {
        usage(stdout);
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(word, commands[i].name))
            continue;
        char name[64];
        snprintf(name, sizeof name, "atm-sim %s", word);
        argv[1] = name; /* prefix of the command's messages */
        int status = commands[i].run(argc - 1, argv + 1);
        if (fflush(stdout) || ferror(stdout))
            err(EXIT_FAILURE, "standard output");
        return status;
    }
    if (*word)
        warnx("there is no command \"%s\"", word);
    usage(stderr);
    return EXIT_USAGE;
}
