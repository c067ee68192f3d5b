/* machine.c - atm-sim machine: runs a program in virtual time, with all that it needs. */
#include <err.h>
#include <string.h>
#include "machine/machine.h"
#include "core/config.h"
#include "command.h"

enum { KEY_TIME = 256, KEY_COUNTERS, KEY_SWITCH, KEY_RATE, KEY_LOSS, KEY_CALIBRATE };

static const struct argp_option options[] = {
    {"topology", 't', "FILE", 0, "The network (default: PVM_ATM_TOPOLOGY)", 0},
    {"profile", 'p', "NAME", 0, "Instead: hosts h1, h2, ... of this profile on one switch", 0},
    {"hosts", 'n', "NUMBER", 0, "How many of them (default: 2)", 0},
    {"switch", KEY_SWITCH, "MODEL", 0, "Their switch: output, asx100, asx200 (default) or an2", 0},
    {"rate", KEY_RATE, "RATE", 0, "Rate of their links (default: oc3)", 0},
    {"loss", KEY_LOSS, "P", 0, "Probability that one of their links loses a cell (default: 0)", 0},
    {"at", 'a', "HOST,...", 0, "Hosts with a daemon, the first is the program's (default: all)", 0},
    {"cpu", 'c', "FACTOR", 0, "From processor time here to virtual time: PVM_ATM_CPU", 0},
    {"calibrate", KEY_CALIBRATE, "SECONDS=COMMAND", 0,
     "So that what COMMAND computes takes SECONDS of virtual time: it is run here a few times first", 0},
    {"seed", 'S', "NUMBER", 0, "Seed of all random numbers (default: 1)", 0},
    {"print-time", KEY_TIME, NULL, 0, "At the end, show the virtual time that the program took", 0},
    {"counters", KEY_COUNTERS, NULL, 0, "At the end, show the counters of all layers", 0},
    {0}};

struct line {
    struct pvma_machine_options options;
    const char *star_option; /* that needs --profile */
    int first;               /* word of the program */
};

static void check(struct line *line, struct argp_state *state)
{
    struct pvma_machine_options *o = &line->options;
    if (o->topology && o->star.profile)
        argp_error(state, "--topology and --profile are two networks: give one");
    if (line->star_option && !o->star.profile)
        argp_error(state, "%s belongs to --profile", line->star_option);
    if (o->cpu && o->calibrate)
        argp_error(state, "--cpu and --calibrate both give the factor: choose one");
    if (!o->topology && !o->star.profile)
        o->topology = pvmc_config_text(PVMC_SETTING_ATM_TOPOLOGY);
    if (o->topology && !*o->topology)
        argp_error(state, "which network? Give --profile=NAME, or --topology=FILE");
    if (line->first >= state->argc)
        argp_error(state, "which program?");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct line *line = state->input;
    struct pvma_machine_options *o = &line->options;
    char why[512];
    switch (key) {
    case 't':
        return o->topology = arg, 0;
    case 'p':
        return o->star.profile = arg, 0;
    case 'n':
        line->star_option = "--hosts";
        return o->star.hosts = (unsigned)pvma_argument_number(arg, 1, 255, "--hosts", state), 0;
    case KEY_SWITCH:
        line->star_option = "--switch";
        return o->star.model = arg, 0;
    case KEY_RATE:
        line->star_option = "--rate";
        return o->star.rate = arg, 0;
    case KEY_LOSS:
        line->star_option = "--loss";
        return o->star.loss = arg, 0;
    case 'a':
        return o->at = arg, 0;
    case 'c':
        if (pvmc_config_check(PVMC_SETTING_ATM_CPU, arg, why, sizeof why))
            argp_error(state, "--cpu=%s: %s", arg, why);
        return o->cpu = arg, 0;
    case KEY_CALIBRATE:
        return o->calibrate = arg, 0;
    case 'S':
        return o->seed = (uint64_t)pvma_argument_number(arg, 0, INT64_MAX, "--seed", state), 0;
    case KEY_TIME:
        return o->time = true, 0;
    case KEY_COUNTERS:
        return o->counters = true, 0;
    case ARGP_KEY_ARGS:
        return line->first = state->next, 0;
    case ARGP_KEY_END:
        check(line, state);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

int command_machine(int argc, char **argv)
{
    struct line line = {.first = argc,
                        .options = {.seed = 1, .star = {.hosts = 2, .model = "asx200", .rate = "oc3", .loss = "0"}}};
    static const struct argp parser = {
        options,
        parse,
        "PROGRAM [ARGUMENT...]",
        "Run a PVM program in virtual time on a simulated ATM network, with a virtual machine of its own: a daemon for "
        "each host of the network. All of it ends with the program, whose exit code is this command's.",
        NULL,
        NULL,
        NULL};
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &line);
    return pvma_machine_run(&line.options, argv + line.first);
}
