/* main.c - atm-sim: the simulated ATM network as a program. Each command has a file of its own. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../atm/reproduce/programs.h"
#include "../../atm/reproduce/reproduce.h"
#include "../../core/log.h"
#include "command.h"

static const struct {
    const char *name;
    command_run *run;
    const char *help;
} commands[] = {
    {"topo", command_topo, "check, list or draw a topology"},
    {"run", command_run_network, "run a network with its traffic; show times, counters, digest"},
    {"reproduce", reproduce_main, "the papers' experiments: what each printed beside what comes out"},
    {"programs", programs_main, "matmul, pde and molecules over every stack of the papers"},
    {"serve", command_serve, "be the network that programs connect to"},
    {"exec", command_exec, "run a program on a network that is served, in its time"},
    {"profiles", command_profiles, "the built-in profiles of hosts, with the origin of each figure"},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

long command_number(const char *text, long min, long max, const char *what, struct argp_state *state)
{
    char *rest;
    errno = 0;
    long value = strtol(text, &rest, 10);
    if (errno || *rest || rest == text || value < min || value > max)
        argp_error(state, "%s: %s: give a number from %ld to %ld", what, text, min, max);
    return value;
}

static void say(enum pvmi_log_level level, const char *line, void *arg)
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
    pvmi_log_to(say, NULL, PVMI_LOG_WARNING);
    if (!strcmp(word, "--help") || !strcmp(word, "-?")) {
        usage(stdout);
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(word, commands[i].name))
            continue;
        char name[64];
        snprintf(name, sizeof name, "atm-sim %s", word);
        argv[1] = name; /* as the command's messages begin */
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
