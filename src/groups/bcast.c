/*
 * bcast.c - pvm_bcast: the user's message goes to all members by pvm_mcast(), which the daemons spread: one copy for
 * each host.
 */
#include <stdlib.h>
#include "group.h"
#include "pvm3.h"
#include "session.h"

/* The living members but ourselves, into *tids, which the caller frees: their number, or an error. */
static int receivers(const char *name, int **tids, bool *incomplete)
{
    struct pvmi_group *g;
    int n = 0, code = pvmi_group_fetch(name, false, &g);

    if (code < 0)
        return code;
    *tids = malloc((size_t)g->size * sizeof(**tids));
    if (!*tids)
        return PvmNoMem;
    for (int i = 0; i < g->size; i++) {
        if (g->gone[i])
            *incomplete = true;
        else if (i != g->rank)
            (*tids)[n++] = g->tids[i];
    }
    return n == 0 && !*incomplete ? PvmNoInst : n;
}

int pvm_bcast(char *group, int tag)
{
    struct pvmi_guard guard;
    int *tids = NULL, code = pvmi_session_begin(&guard, group);
    bool incomplete = false;
    int error, mode;

    if (code >= 0)
        code = receivers(group, &tids, &incomplete);
    pvmi_guard_leave(&guard);
    if (code > 0) {
        error = pvm_errno;
        mode = pvm_setopt(PvmAutoErr, 0); /* an error of pvm_mcast() is ours */
        code = pvm_mcast(tids, code, tag);
        pvm_setopt(PvmAutoErr, mode);
        pvm_errno = error;
    }
    free(tids);
    return pvmi_guard_result(code >= 0 && incomplete ? PvmNoTask : code);
}
