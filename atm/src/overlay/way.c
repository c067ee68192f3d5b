/* way.c - the ways of a virtual ring and of a virtual tree. */
#include "parts.h"

static unsigned count_of(const struct pvma_overlay *overlay)
{
    return (unsigned)overlay->server_count;
}

/* The child of `at` above or at `to`; `at` itself: `to` is not below it. Numbers grow from the root to the leaves. */
static unsigned child_towards(const struct pvma_topo_overlay *o, unsigned at, unsigned to)
{
    unsigned child = at;
    while (to > at) {
        child = to;
        to = pvma_tree_parent(o, to);
    }
    return to == at ? child : at;
}

unsigned pvma_overlay_next(const struct pvma_overlay *overlay, unsigned at, unsigned to, bool turned)
{
    const struct pvma_topo_overlay *o = overlay->options;
    unsigned count = count_of(overlay);
    if (o->shape == PVMA_RING)
        return (at + (turned ? count - 1 : 1)) % count;
    unsigned child = child_towards(o, at, to);
    return child != at ? child : pvma_tree_parent(o, at);
}

unsigned pvma_overlay_distance(const struct pvma_overlay *overlay, unsigned from, unsigned to, bool turned)
{
    unsigned distance = 0;
    for (; from != to; from = pvma_overlay_next(overlay, from, to, turned))
        distance++;
    return distance;
}
