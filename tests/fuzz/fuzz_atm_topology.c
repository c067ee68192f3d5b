/* fuzz_atm_topology.c - topologies: an accepted topology can be listed, parsed again, built and run. */
#include "fuzz.h"
#include <stdio.h>
#include <string.h>
#include "atm/src/network/network.h"
#include "core/log.h"

static void ignore(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)arg;
    MUST(strlen(line) < 2048);
}

static void read_again(const struct pvma_topology *t)
{
    struct pvma_topology again;
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    MUST(out);
    pvma_topology_list(t, out);
    fclose(out);
    if (length <= PVMA_TOPOLOGY_BYTES_MAX) {
        MUST(pvma_topology_parse("again", text, length, &again) == 0);
        MUST(again.node_count == t->node_count && again.link_count == t->link_count);
        MUST(again.source_count == t->source_count && again.failure_count == t->failure_count);
        pvma_topology_free(&again);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { EVENTS = 2000, NODES = 100 };
    struct pvma_topology t;
    pvmc_log_to(ignore, NULL, PVMC_LOG_DEBUG);
    if (pvma_topology_parse("fuzz", (const char *)data, size, &t)) {
        MUST(!t.nodes && !t.node_count);
        return 0;
    }
    read_again(&t);
    struct pvma_net *net = t.node_count <= NODES ? pvma_net_new(&t, 1) : NULL;
    for (size_t i = 0; net && i < t.pvc_count; i++)
        pvma_vc_send(pvma_net_pvc_end(net, i, false), data, size < 100 ? size : 100, 0);
    for (int i = 0; net && i < EVENTS && pvma_sim_step(pvma_net_sim(net)); i++)
        ;
    pvma_net_free(net);
    pvma_topology_free(&t);
    return 0;
}
