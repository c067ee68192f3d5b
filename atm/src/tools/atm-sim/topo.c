/* topo.c - atm-sim topo: checks, lists or draws a topology. What it accepts, `run` and `serve` accept, too. */
#include <stdbool.h>
#include <stdlib.h>
#include "command.h"
#include "overlay/overlay.h"

enum { KEY_DOT = 256, KEY_LIST };

struct job {
    const char *file;
    bool dot, list;
};

static const struct argp_option options[] = {
    {"dot", KEY_DOT, NULL, 0, "Write it for Graphviz: | dot -Tsvg", 0},
    {"list", KEY_LIST, NULL, 0, "Write it with ranges and defaults expanded", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct job *job = state->input;
    switch (key) {
    case KEY_DOT:
        job->dot = true;
        return 0;
    case KEY_LIST:
        job->list = true;
        return 0;
    case ARGP_KEY_ARG:
        if (job->file)
            argp_error(state, "one topology at a time");
        job->file = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which topology? Give a file, or - for standard input");
    }
    return ARGP_ERR_UNKNOWN;
}

/* Builds the network once, because admission and routes decide whether its VCs fit. Logs what does not. */
static bool is_feasible(const struct pvma_topology *t)
{
    struct pvma_net *net = pvma_net_new(t, 1);
    struct pvma_overlay *overlay = net && t->overlay.line ? pvma_overlay_new(net, t) : NULL;
    bool feasible = net && (overlay || !t->overlay.line);
    pvma_overlay_free(overlay);
    pvma_net_free(net);
    return feasible;
}

static void summarise(const struct pvma_topology *t)
{
    printf("%s: %zu nodes, %zu links, %zu PVCs, %zu sources, %zu profiles", t->name, t->node_count, t->link_count,
           t->pvc_count, t->source_count, t->profile_count);
    if (t->overlay.line)
        printf(", %zu servers in a %s", t->server_count, t->overlay.shape == PVMA_RING ? "ring" : "tree");
    printf("\n");
}

static void show(const struct job *job, const struct pvma_topology *t)
{
    if (job->dot)
        pvma_topology_dot(t, stdout);
    else if (job->list)
        pvma_topology_list(t, stdout);
    else
        summarise(t);
}

int command_topo(int argc, char **argv)
{
    static const struct argp argp = {options, parse, "FILE", "Check a topology and summarise it.", NULL, NULL, NULL};
    struct job job = {0};
    struct pvma_topology t;
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &job);
    if (pvma_topology_load(job.file, &t))
        return EXIT_FAILURE;
    bool feasible = is_feasible(&t);
    if (feasible)
        show(&job, &t);
    pvma_topology_free(&t);
    return feasible ? EXIT_SUCCESS : EXIT_FAILURE;
}
