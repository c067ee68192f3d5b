/* main.c - dp-graph: verifies directed point graphs, draws them, and opens the channels of a process. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include "core/version.h"
#include "dot.h"
#include "pvm3.h"
#include "session.h"

enum { EXIT_BAD_USAGE = 2, CHANGES_MAX = 32 };

struct arguments {
    const char *what, *file, *process;
    const char *changes[CHANGES_MAX];
    int change_count;
    struct session_options session;
};

static const char introduction[] =
    "Verify, draw or open a directed point graph, which dp-graph(5) describes.\vcheck  reports faults line by line, or "
    "counts the parts of the graph\n"
    "dot    prints the graph for Graphviz: dp-graph dot FILE | dot -Tsvg >FILE.svg\n"
    "open   opens the endpoints of PROCESS. A received message is printed as a line \"CHANNEL TEXT\" on standard "
    "output; such lines on standard input are sent. With a COMMAND, its standard input and output are used instead. "
    "SIGHUP reads FILE again and changes to it, completely or not at all.\n\n"
    "In TEXT, \\n, \\t, \\\\ and \\xHH stand for bytes. See dp-graph(1).";

static const struct argp_option option_table[] = {
    {"change", 'c', "FILE", 0, "Apply the statements of FILE to the graph; may be repeated, in order", 0},
    {"messages", 'm', "COUNT", 0, "open: end after this many received messages", 0},
    {"seconds", 's', "SECONDS", 0, "open: end after this many seconds", 0},
    {0}};

static long read_number(struct argp_state *state, const char *option, const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 1 || value > 1000000000)
        argp_error(state, "--%s: \"%s\" is not a number from 1 on", option, text);
    return value;
}

static void take_word(struct argp_state *state, struct arguments *a, char *word)
{
    if (!a->what) {
        a->what = word;
        if (strcmp(word, "check") && strcmp(word, "dot") && strcmp(word, "open"))
            argp_error(state, "\"%s\" is not one of check, dot, open", word);
    } else if (!a->file) {
        a->file = word;
    } else if (!strcmp(a->what, "open") && !a->process) {
        a->process = word;
    } else if (!strcmp(a->what, "open")) {
        a->session.command = &state->argv[state->next - 1];
        state->next = state->argc; /* all further words belong to the command */
    } else {
        argp_error(state, "%s takes one FILE; unexpected argument \"%s\"", a->what, word);
    }
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'c':
        if (a->change_count == CHANGES_MAX)
            argp_error(state, "at most %d changes are possible", CHANGES_MAX);
        a->changes[a->change_count++] = arg;
        return 0;
    case 'm':
        a->session.messages = read_number(state, "messages", arg);
        return 0;
    case 's':
        a->session.seconds = read_number(state, "seconds", arg);
        return 0;
    case ARGP_KEY_ARG:
        take_word(state, a, arg);
        return 0;
    case ARGP_KEY_END:
        if (!a->what || !a->file || (!strcmp(a->what, "open") && !a->process))
            argp_error(state, "%s", !a->what ? "check, dot or open?" : !a->file ? "which FILE?" : "which PROCESS?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Reads the file and applies the changes; NULL after a message. */
static struct dp_graph *read_graph(void *context)
{
    const struct arguments *a = context;
    struct dp_graph *graph = dp_graph_read(a->file, stderr);
    for (int i = 0; graph && i < a->change_count; i++) {
        struct dp_graph *changed = dp_graph_edit_file(graph, a->changes[i], stderr);
        dp_graph_free(graph);
        graph = changed;
    }
    return graph;
}

/* Reports parts that are legal but rarely intended. */
static void warn_of_idle_parts(const struct arguments *a, const struct dp_graph *g)
{
    bool *used = calloc(g->node_count + g->process_count + g->endpoint_count + 1, sizeof *used);
    if (!used)
        return;
    bool *node = used, *process = node + g->node_count, *endpoint = process + g->process_count;
    for (size_t i = 0; i < g->channel_count; i++)
        endpoint[g->channels[i].from] = endpoint[g->channels[i].to] = true;
    for (size_t i = 0; i < g->endpoint_count; i++) {
        const struct dp_graph_endpoint *e = &g->endpoints[i];
        process[e->process] = true;
        if (!endpoint[i])
            printf("%s: endpoint %s:%u has no channel\n", a->file, g->processes[e->process].name, e->dpid);
    }
    for (size_t i = 0; i < g->process_count; i++) {
        node[g->processes[i].node] = true;
        if (!process[i])
            printf("%s: process %s has no endpoint\n", a->file, g->processes[i].name);
    }
    for (size_t i = 0; i < g->node_count; i++)
        if (!node[i])
            printf("%s: node %u has no process\n", a->file, g->nodes[i].nid);
    free(used);
}

static void check(const struct arguments *a, const struct dp_graph *g)
{
    warn_of_idle_parts(a, g);
    printf("%s: %zu nodes, %zu processes, %zu endpoints, %zu channels\n", a->file, g->node_count, g->process_count,
           g->endpoint_count, g->channel_count);
}

static void print_version(FILE *to, struct argp_state *state)
{
    (void)state;
    pvmc_version_print(to, "dp-graph");
}

int main(int argc, char **argv)
{
    const struct argp argp = {
        option_table, take_option, "check|dot FILE\nopen FILE PROCESS [COMMAND...]", introduction, NULL, NULL, NULL};
    struct arguments a = {0};
    int status = EXIT_SUCCESS;
    argp_program_version_hook = print_version;
    argp_err_exit_status = EXIT_BAD_USAGE;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
    struct dp_graph *graph = read_graph(&a);
    if (!graph)
        return EXIT_FAILURE;
    if (!strcmp(a.what, "check"))
        check(&a, graph);
    else if (!strcmp(a.what, "dot"))
        dot_print(graph, stdout);
    else
        status = session_run(graph, a.process, &a.session, read_graph, &a);
    dp_graph_free(graph);
    return status;
}
