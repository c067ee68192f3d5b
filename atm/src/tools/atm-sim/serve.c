/* serve.c - atm-sim serve: serves the network to programs. */
#include <stdbool.h>
#include <string.h>
#include "serve/serve.h"
#include "core/config.h"
#include "capture_options.h"
#include "command.h"

enum { KEY_ONCE = 256, KEY_COUNTERS, KEY_DIGEST };

static const struct argp_option options[] = {
    {"topology", 't', "FILE", 0, "The network (default: PVM_ATM_TOPOLOGY)", 0},
    {"socket", 's', "PATH", 0, "Where programs connect (default: PVM_ATM_SOCKET, else the user's in PVM_TMP)", 0},
    {"clock", 'c', "KIND", 0, "real or virtual (default: PVM_ATM_CLOCK)", 0},
    {"wait-for", 'w', "PROGRAMS", 0, "Virtual time begins when this many programs have connected (default: 1)", 0},
    {"seed", 'S', "NUMBER", 0, "Seed of all random numbers (default: 1)", 0},
    {"once", KEY_ONCE, NULL, 0, "End when the last program has left", 0},
    {"counters", KEY_COUNTERS, NULL, 0, "Show the counters of all layers at the end, and on SIGUSR1", 0},
    {"digest", KEY_DIGEST, NULL, 0, "Likewise the digest of all events: equal runs have equal ones", 0},
    {0}};

static bool parse_clock(const char *name, const char *text, struct argp_state *state)
{
    if (strcmp(text, "real") && strcmp(text, "virtual"))
        argp_error(state, "%s=%s: give real or virtual", name, text);
    return !strcmp(text, "virtual");
}

static bool clock_is_given;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct pvma_serve_options *o = state->input;
    switch (key) {
    case 't':
        return o->topology = arg, 0;
    case 's':
        return o->socket = arg, 0;
    case 'c':
        clock_is_given = true;
        return o->is_virtual = parse_clock("--clock", arg, state), 0;
    case 'w':
        return o->wait_for = (unsigned)pvma_argument_number(arg, 1, 100000, "--wait-for", state), 0;
    case 'S':
        return o->seed = (uint64_t)pvma_argument_number(arg, 0, INT64_MAX, "--seed", state), 0;
    case KEY_ONCE:
        return o->once = true, 0;
    case KEY_COUNTERS:
        return o->report = true, 0;
    case KEY_DIGEST:
        return o->digest = true, 0;
    case ARGP_KEY_INIT:
        return state->child_inputs[0] = &o->capture, 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: give the topology as --topology=%s", arg, arg);
        return 0;
    case ARGP_KEY_END:
        if (!*o->topology)
            argp_error(state, "which network? Give --topology=FILE");
        if (!clock_is_given)
            o->is_virtual = parse_clock("PVM_ATM_CLOCK", pvmc_config_text(PVMC_SETTING_ATM_CLOCK), state);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

int command_serve(int argc, char **argv)
{
    static char path[4096];
    struct pvma_serve_options o = {.topology = pvmc_config_text(PVMC_SETTING_ATM_TOPOLOGY),
                                   .socket = pvmc_config_text(PVMC_SETTING_ATM_SOCKET),
                                   .wait_for = 1,
                                   .seed = 1};
    static const struct argp parser = {
        options,          parse, "",  "Serve a simulated ATM network to programs of the Fore API and of PVM.",
        capture_children, NULL,  NULL};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    if (!*o.socket && pvmc_config_daemon_file("atm-sim", path, sizeof path))
        return EXIT_USAGE;
    if (!*o.socket)
        o.socket = path;
    return pvma_serve(&o);
}
