/* graph.c - graphs as plain data. */
#include <stdlib.h>
#include <string.h>
#include "dp_graph.h"

void dp_graph_free(struct dp_graph *graph)
{
    if (!graph)
        return;
    free(graph->nodes);
    free(graph->processes);
    free(graph->endpoints);
    free(graph->channels);
    free(graph);
}

const struct dp_graph_process *dp_graph_find_process(const struct dp_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->process_count; i++)
        if (!strcmp(graph->processes[i].name, name))
            return &graph->processes[i];
    return NULL;
}

const struct dp_graph_channel *dp_graph_find_channel(const struct dp_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->channel_count; i++)
        if (!strcmp(graph->channels[i].name, name))
            return &graph->channels[i];
    return NULL;
}
