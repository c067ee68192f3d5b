/*
 * path.h - permanent VCs: channels and routes along the static tables, from one host to one or more, without
 * signalling.
 */
#ifndef PVMA_PATH_H
#define PVMA_PATH_H

#include "nodes/channel.h"
#include "nodes/host.h"
#include "routing.h"
#include "nodes/switch.h"

/* A tree: where it begins, and the leaf added last. All zero: no tree yet. */
struct pvma_path {
    struct pvma_channel *first;    /* on the link out of the sender */
    struct pvma_channel *last;     /* on the link into the leaf that was added last */
    struct pvma_bandwidth granted; /* of the narrowest hop so far */
};

/*
 * Extends a tree from `from` to one more leaf, or begins it; `back` selects the contract's figures for the way back.
 * Returns 0, or a cause with the tree unchanged.
 */
int pvma_path_extend(struct pvma_path *path, const struct pvma_routing *routing, struct pvma_node *from,
                     struct pvma_node *to, const struct pvma_contract *contract, bool back);

/* Tells the switches which routes are the directions of one VC. */
void pvma_path_pair(const struct pvma_path *there, const struct pvma_path *back);

/* Whether all links of a VC are up, from its first channel to its only leaf. */
bool pvma_path_is_up(const struct pvma_channel *first);

/* Removes a channel and all of the tree after it. */
void pvma_path_remove(struct pvma_channel *channel);

#endif
