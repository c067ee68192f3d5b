/* dot.c - draws a graph as in the paper's figure 1, processes around their endpoints, and adds nodes around processes.
 */
#include "dot.h"

/* Names contain no characters that need a backslash. */
static void print_endpoints(const struct dp_graph *g, size_t process, FILE *to)
{
    static const char *const lines[] = {[DP_RAW] = "solid", [DP_RELIABLE] = "bold", [DP_GO_BACK_N] = "dashed"};
    for (size_t i = 0; i < g->endpoint_count; i++)
        if (g->endpoints[i].process == process)
            fprintf(to, "      e%zu [label=\"%u\", style=%s];\n", i, g->endpoints[i].dpid, lines[g->endpoints[i].mode]);
}

static void print_processes(const struct dp_graph *g, size_t node, FILE *to)
{
    for (size_t i = 0; i < g->process_count; i++) {
        if (g->processes[i].node != node)
            continue;
        fprintf(to, "    subgraph cluster_p%zu {\n      label=\"%s\"; style=rounded; color=\"#888888\";\n", i,
                g->processes[i].name);
        print_endpoints(g, i, to);
        fprintf(to, "      p%zu [style=invis, shape=point];\n    }\n", i); /* Graphviz omits empty clusters */
    }
}

/* The name is a node within the channel's line: Graphviz lets labels of edges overlap, nodes never. */
static void print_channel(const struct dp_graph *g, size_t i, FILE *to)
{
    size_t from = g->channels[i].from, to_end = g->channels[i].to;
    fprintf(to,
            "  c%zu [label=\"%s\", shape=plaintext, fontsize=11, width=0, height=0, margin=\"0.03,0.01\"];\n"
            "  e%zu -> c%zu [arrowhead=none]; c%zu -> e%zu;\n",
            i, g->channels[i].name, from, i, i, to_end);
}

void dot_print(const struct dp_graph *g, FILE *to)
{
    /* Without newrank Graphviz fails on nested clusters whose edges form a circle ("trouble in init_rank"). */
    fprintf(to, "digraph dpg {\n  newrank=true;\n  node [shape=circle, width=0.5];\n");
    for (size_t i = 0; i < g->node_count; i++) {
        fprintf(to, "  subgraph cluster_n%zu {\n    label=\"node %u%s%s\"; style=filled; color=\"#eeeeee\";\n", i,
                g->nodes[i].nid, *g->nodes[i].name ? " " : "", g->nodes[i].name);
        print_processes(g, i, to);
        fprintf(to, "    n%zu [style=invis, shape=point];\n  }\n", i);
    }
    for (size_t i = 0; i < g->channel_count; i++)
        print_channel(g, i, to);
    fprintf(to, "}\n");
}
