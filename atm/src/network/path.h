/*
 * path.h - permanent VCs: channels and routes along the static tables, from one host to one or more, at once.
 */
#ifndef PVMA_PATH_H
#define PVMA_PATH_H

#include "channel.h"
#include "host.h"
#include "routing.h"
#include "switch.h"

/* Where a tree begins, and what its last leaf sees. All zero: no tree yet. */
struct pvma_path {
    struct pvma_channel *first;    /* on the link out of the sender */
    struct pvma_channel *last;     /* on the link into the leaf that was added last */
    struct pvma_bandwidth granted; /* of the narrowest hop so far */
};

/*
 * Extends a tree from `from` to one more leaf, or begins it; `back`: with the contract's figures for the way back.
 * 0, or a cause: the tree is as it was.
 */
int pvma_path_extend(struct pvma_path *path, const struct pvma_routing *routing, struct pvma_node *from,
                     struct pvma_node *to, const struct pvma_contract *contract, bool back);

/* Takes a tree away, from a channel downwards. */
void pvma_path_remove(struct pvma_channel *channel);

#endif
