/* profiles.c - atm-sim profiles: the costs of the built-in hosts, with the origin of each figure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "base/profile.h"

static void show(const struct pvma_profile *profile)
{
    printf("%s: %s\n", profile->name, profile->about);
    for (int cost = 0; cost < PVMA_COST_COUNT; cost++) {
        char value[32];
        pvma_cost_format(cost, profile->cost[cost], value, sizeof value);
        printf("  %-9s %10s  %-7s %s\n", pvma_cost_name(cost), value, pvma_origin_name(profile->origin[cost]),
               pvma_cost_help(cost));
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    const char **wanted = state->input;
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (*wanted)
        argp_error(state, "one profile at a time");
    if (!pvma_profile_find(arg))
        argp_error(state, "there is no profile %s; atm-sim profiles lists them", arg);
    *wanted = arg;
    return 0;
}

int command_profiles(int argc, char **argv)
{
    static const struct argp argp = {NULL,
                                     parse,
                                     "[PROFILE]",
                                     "List the built-in profiles of hosts, or one with all its figures. Each figure is "
                                     "printed in a paper, fitted to a paper's results, or chosen.",
                                     NULL,
                                     NULL,
                                     NULL};
    const char *wanted = NULL;
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &wanted);
    if (wanted) {
        show(pvma_profile_find(wanted));
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; pvma_profile_at(i); i++)
        printf("%-20s %s\n", pvma_profile_at(i)->name, pvma_profile_at(i)->about);
    return EXIT_SUCCESS;
}
