#include "tree.h"
#include <stdlib.h>
#include "pvm3.h"

struct place {
    int group; /* 0 the root, 1 its host, 2 other hosts */
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

int pvmi_tree_make(struct pvmi_tree *tree, const int *tids, int size, int root, int mine)
{
    struct place *places = malloc((size_t)size * sizeof(*places));
    int home = pvm_tidtohost(tids[root]);

    tree->ranks = malloc((size_t)size * sizeof(*tree->ranks));
    if (!places || !tree->ranks) {
        free(places);
        free(tree->ranks);
        return PvmNoMem;
    }
    for (int i = 0; i < size; i++) {
        int host = pvm_tidtohost(tids[i]);

        places[i] = (struct place){.group = i == root ? 0 : host == home ? 1 : 2, .host = host, .rank = i};
    }
    qsort(places, (size_t)size, sizeof(*places), by_place);
    tree->size = size;
    for (int i = 0; i < size; i++) {
        tree->ranks[i] = places[i].rank;
        if (places[i].rank == mine)
            tree->mine = i;
    }
    free(places);
    return PvmOk;
}

void pvmi_tree_free(struct pvmi_tree *tree)
{
    free(tree->ranks);
    tree->ranks = NULL;
}
