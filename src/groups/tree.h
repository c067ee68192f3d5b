/*
 * tree.h - the tree of a collective call.
 *
 * The members stand in an order of their own for each root: the root first, then the root's host, then the other hosts
 * one after the other. With the radix r, the parent of a position is found by clearing the lowest digit of its number,
 * in base r, that is not 0: 2 makes the binomial tree, a radix of all members a flat one with the root above all. The
 * subtree of a position is the `reach` positions that begin with it. So subtrees are neighbours, and most edges stay
 * within a host.
 */
#ifndef PVMI_TREE_H
#define PVMI_TREE_H

#define PVMI_TREE_RADIX 8 /* unless a call has reasons for another one */

struct pvmi_tree {
    int size; /* members */
    int radix;
    int *ranks; /* member at each position, as an index into the group's list */
    int mine;   /* own position */
};

/*
 * Makes the tree of the members with these tids; `root` and `mine` are indices into them. radix at least 2, more than
 * `size` is the same as `size`. PvmNoMem, or 0: then end with pvmi_tree_free().
 */
int pvmi_tree_make(struct pvmi_tree *tree, int radix, const int *tids, int size, int root, int mine);
void pvmi_tree_free(struct pvmi_tree *tree);

/* Position that `position` (not 0) sends up to. */
int pvmi_tree_parent(const struct pvmi_tree *tree, int position);

/* Number of positions in the subtree of `position`, and of its children. */
int pvmi_tree_reach(const struct pvmi_tree *tree, int position);
int pvmi_tree_children(const struct pvmi_tree *tree, int position);

#endif
