/*
 * tree.h - the tree of a collective call.
 *
 * For each root the members are sorted: the root first, then the members on its host, then the other hosts one by one.
 * With radix r, the parent of a position is its number with the lowest non-zero digit in base r cleared. Radix 2 gives
 * a binomial tree, a radix of all members a flat tree. The subtree of a position is the `reach` positions from it on,
 * so subtrees are contiguous and most edges stay within a host.
 */
#ifndef PVMG_TREE_H
#define PVMG_TREE_H

#define PVMG_TREE_RADIX 8 /* default radix */

struct pvmg_tree {
    int size; /* members */
    int radix;
    int *ranks; /* member at each position, as an index into the group's list */
    int mine;   /* position of this task */
};

/*
 * Builds the tree of the members with these tids; `root` and `mine` are indices into them. The radix is limited to 2 ..
 * `size`. 0, then free it with pvmg_tree_free(); or PvmNoMem.
 */
int pvmg_tree_make(struct pvmg_tree *tree, int radix, const int *tids, int size, int root, int mine);
void pvmg_tree_free(struct pvmg_tree *tree);

/* Parent of `position`, which is not 0. */
int pvmg_tree_parent(const struct pvmg_tree *tree, int position);

/* Number of positions in the subtree of `position`, including itself, and number of its children. */
int pvmg_tree_reach(const struct pvmg_tree *tree, int position);
int pvmg_tree_children(const struct pvmg_tree *tree, int position);

#endif
