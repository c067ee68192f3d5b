/* quorum_search.h - visits the states of a model of quorum.c, the nearest first, and prints the way to a fault. */
#ifndef QUORUM_SEARCH_H
#define QUORUM_SEARCH_H

#include "quorum_model.h"

struct quorum_search {
    unsigned states, depth; /* visited; actions on the way to the farthest of them */
    bool is_complete;       /* no state is left */
    const char *fault;      /* or NULL; its way has been printed */
};

/* Visits up to `max` states. */
struct quorum_search quorum_search(const struct model_bounds *bounds, unsigned max);

#endif
