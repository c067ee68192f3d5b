/*
 * tree.h - the binomial tree of a collective call.
 *
 * The members stand in an order of their own for each root: the root first, then the root's host, then the other hosts
 * one after the other. A position's subtree is the `reach` positions that begin with itself, so whole subtrees are
 * neighbours, and most edges stay within a host.
 */
#ifndef PVMI_TREE_H
#define PVMI_TREE_H

struct pvmi_tree {
    int size;   /* members */
    int *ranks; /* member at each position, as an index into the group's list */
    int mine;   /* own position */
};

/* Orders the members with these tids; `root` and `mine` are indices into them. PvmNoMem, or 0: then end with _free. */
int pvmi_tree_make(struct pvmi_tree *tree, const int *tids, int size, int root, int mine);
void pvmi_tree_free(struct pvmi_tree *tree);

/* Position that `position` (not 0) sends up to. */
static inline int pvmi_tree_parent(int position)
{
    return position & (position - 1);
}

/* Positions in the subtree of `position`. Its children are position + 1, + 2, + 4 ... below position + reach. */
static inline int pvmi_tree_reach(int position, int size)
{
    int whole = position == 0 ? size : position & -position;

    return whole < size - position ? whole : size - position;
}

#endif
