/* fuzz_dp_graph.c - texts of directed point graphs: no crash, and an accepted text gives a consistent graph. */
#include "fuzz.h"
#include <string.h>
#include "dp_graph.h"

static void check(const struct dp_graph *g)
{
    for (size_t i = 0; i < g->process_count; i++) {
        MUST(g->processes[i].name[0] && g->processes[i].node < g->node_count);
        MUST(dp_graph_find_process(g, g->processes[i].name) == &g->processes[i]);
    }
    for (size_t i = 0; i < g->endpoint_count; i++)
        MUST(g->endpoints[i].process < g->process_count && g->endpoints[i].dpid);
    for (size_t i = 0; i < g->channel_count; i++) {
        const struct dp_graph_channel *c = &g->channels[i];
        MUST(c->from < g->endpoint_count && c->to < g->endpoint_count);
        MUST(g->endpoints[c->from].process != g->endpoints[c->to].process);
        MUST(g->endpoints[c->from].mode == g->endpoints[c->to].mode);
        MUST(dp_graph_find_channel(g, c->name) == c);
    }
}

/* The second half of the text changes the graph of the first one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *cut = memchr(text, '!', size);
    size_t length = cut ? (size_t)(cut - text) : size;
    struct dp_graph *g = dp_graph_parse("fuzz", text, length, NULL);
    if (!g)
        return 0;
    check(g);
    struct dp_graph *h = cut ? dp_graph_edit(g, "fuzz", cut + 1, size - length - 1, NULL) : NULL;
    if (h)
        check(h);
    dp_graph_free(h);
    dp_graph_free(g);
    return 0;
}
