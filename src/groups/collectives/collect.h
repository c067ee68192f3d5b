/*
 * collect.h - collects contributions at the root, for reduce and gather.
 *
 * Each member sends its contribution straight to the root and continues. A tree would save the root work, but a member
 * may end as soon as it has sent its own part, and contributions routed through it would be lost. The root combines
 * them by position, in whatever order they arrive, so that the same data gives the same result to the last bit.
 */
#ifndef PVMG_COLLECT_H
#define PVMG_COLLECT_H

#include "collective.h"

struct pvmg_collect {
    struct pvmg_wait wait; /* first, so that callbacks can cast it to this struct */
    struct pvmg_collective *c;
    void (*reduce)(int *type, void *x, void *y, int *n, int *info); /* NULL: gather */
    struct pvmg_packet *pieces; /* at the root, by position; in a reduce the first is the result so far */
    bool *arrived;              /* positions whose contribution has arrived */
    bool *finished;             /* positions whose member has nothing left to send */
    int missing;                /* number of positions that have not arrived */
};

/*
 * Sends `data`, our contribution; the root instead waits until all have arrived. Then `pieces` holds the parts of a
 * gather, or the single result of a reduce. 0 or an error, which may come from the user's function; either way call
 * pvmg_collect_free().
 */
int pvmg_collect_run(struct pvmg_collect *k, void *data);
void pvmg_collect_free(struct pvmg_collect *k);

#endif
