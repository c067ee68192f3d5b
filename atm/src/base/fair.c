/* fair.c - max-min fair shares by filling: all flows grow together until a link is full, which fixes its flows. */
#include <stdlib.h>
#include "network/network.h"

struct filling {
    const uint64_t *flows;
    size_t flow_count, link_count;
    double *left; /* capacity left on each link */
    bool *done;   /* flows whose share is fixed */
};

static unsigned growing_on(const struct filling *f, size_t link)
{
    unsigned count = 0;
    for (size_t flow = 0; flow < f->flow_count; flow++)
        count += !f->done[flow] && f->flows[flow] >> link & 1;
    return count;
}

/* Finds the link that fills up first and what each flow on it still gets. False when no flow can grow. */
static bool find_bottleneck(const struct filling *f, size_t *bottleneck, double *share)
{
    bool found = false;
    for (size_t link = 0; link < f->link_count; link++) {
        unsigned flows = growing_on(f, link);
        if (!flows || (found && f->left[link] / flows >= *share))
            continue;
        *share = f->left[link] / flows;
        *bottleneck = link;
        found = true;
    }
    return found;
}

void pvma_fair_shares(const uint64_t *flows, size_t flow_count, const double *capacity, size_t link_count,
                      double *share)
{
    struct filling f = {flows, flow_count, link_count, pvma_new(link_count * sizeof(double)),
                        pvma_new(flow_count * sizeof(bool))};
    for (size_t link = 0; link < link_count; link++)
        f.left[link] = capacity[link];
    for (size_t flow = 0; flow < flow_count; flow++)
        share[flow] = 0;
    size_t full = 0;
    double each = 0;
    while (find_bottleneck(&f, &full, &each)) {
        for (size_t flow = 0; flow < flow_count; flow++) {
            if (f.done[flow] || !(flows[flow] >> full & 1))
                continue;
            f.done[flow] = true;
            share[flow] = each;
            for (size_t link = 0; link < link_count; link++)
                if (flows[flow] >> link & 1)
                    f.left[link] -= each;
        }
    }
    free(f.left);
    free(f.done);
}
