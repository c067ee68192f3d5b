/*
 * bcast.c - pvm_bcast: the user's message goes to all members by pvm_mcast(), which the daemons spread: one copy for
 * each host.
 */
#include <stdlib.h>
#include "../libpvm/call.h"
#include "group.h"
#include "pvm3.h"
#include "session.h"

/* Lists the living members but ourselves in *tids, which the caller frees: their number, or PvmNoMem. */
static int receivers(const struct pvmi_members *list, int **tids, bool *incomplete)
{
    int n = 0;

    *tids = malloc((size_t)list->size * sizeof(**tids));
    if (!*tids)
        return PvmNoMem;
    for (int i = 0; i < list->size; i++) {
        if (list->gone[i])
            *incomplete = true;
        else if (i != list->rank)
            (*tids)[n++] = list->tids[i];
    }
    return n == 0 && !*incomplete ? PvmNoInst : n;
}

static int find_receivers(const char *group, int **tids, bool *incomplete)
{
    struct pvmi_group *g;
    int code = pvmi_group_fetch(group, false, &g);

    if (code < 0)
        return code;
    code = receivers(g->members, tids, incomplete);
    pvmi_group_release(g);
    return code;
}

/* In the caller's context, from his buffer; an error of pvm_mcast() is reported as ours. */
static int send_to(int *tids, int n, int tag)
{
    int error = pvm_errno, mode = pvm_setopt(PvmAutoErr, 0);
    int code = pvm_mcast(tids, n, tag);

    pvm_setopt(PvmAutoErr, mode);
    pvm_errno = error;
    return code;
}

int pvm_bcast(char *group, int tag)
{
    struct pvmi_guard guard;
    int *tids = NULL;
    bool incomplete = false;

    PVMI_BEGIN(TEV_BCAST, PVMI_STRING(GN, group), PVMI_INT(MC, tag));
    int code = pvmi_session_begin(&guard, group, 0);
    if (code >= 0)
        code = find_receivers(group, &tids, &incomplete);
    code = pvmi_session_end(&guard, code);
    int n = code > 0 ? code : 0;
    if (n > 0)
        code = send_to(tids, n, tag);
    code = pvmi_guard_result(code >= 0 && incomplete ? PvmNoTask : code);
    PVMI_END(TEV_BCAST, PVMI_INT(CC, code), PVMI_INTS(MDL, tids, n));
    free(tids);
    return code;
}
