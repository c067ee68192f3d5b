#include "tree.h"
#include <stdlib.h>
#include "pvm3.h"

struct place {
    int group; /* 0 the root, 1 its host, 2 another host */
    int host, rank;
};

static int by_place(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return a->rank < b->rank ? -1 : 1;
}

void pvmg_tree_free(struct pvmg_tree *tree)
{
    free(tree->ranks);
    tree->ranks = NULL;
}

int pvmg_tree_make(struct pvmg_tree *tree, int radix, const int *tids, int size, int root, int mine)
{
    struct place *places = malloc((size_t)size * sizeof(*places));
    int home = pvm_tidtohost(tids[root]);

    tree->ranks = malloc((size_t)size * sizeof(*tree->ranks));
    if (!places || !tree->ranks) {
        free(places);
        pvmg_tree_free(tree);
        return PvmNoMem;
    }
    for (int i = 0; i < size; i++) {
        int host = pvm_tidtohost(tids[i]);

        places[i] = (struct place){.group = i == root ? 0 : host == home ? 1 : 2, .host = host, .rank = i};
    }
    qsort(places, (size_t)size, sizeof(*places), by_place);
    tree->size = size;
    tree->radix = radix > size ? size : radix;
    if (tree->radix < 2)
        tree->radix = 2;
    for (int i = 0; i < size; i++) {
        tree->ranks[i] = places[i].rank;
        if (places[i].rank == mine)
            tree->mine = i;
    }
    free(places);
    return PvmOk;
}

/* Place value, a power of the radix, of the lowest digit that is not 0. */
static int lowest_place(const struct pvmg_tree *tree, int position)
{
    int place = 1;

    while (position % tree->radix == 0) {
        position /= tree->radix;
        place *= tree->radix;
    }
    return place;
}

int pvmg_tree_parent(const struct pvmg_tree *tree, int position)
{
    int place = lowest_place(tree, position);

    return position - position / place % tree->radix * place;
}

int pvmg_tree_reach(const struct pvmg_tree *tree, int position)
{
    int rest = tree->size - position;
    if (position == 0)
        return rest;

    int place = lowest_place(tree, position);
    return place < rest ? place : rest;
}

int pvmg_tree_children(const struct pvmg_tree *tree, int position)
{
    int others = pvmg_tree_reach(tree, position) - 1, n = 0;

    for (long place = 1; place <= others; place *= tree->radix)
        n += others / place < tree->radix - 1 ? (int)(others / place) : tree->radix - 1;
    return n;
}
