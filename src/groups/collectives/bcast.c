/*
 * bcast.c - pvm_bcast(): sends the user's message to all members with pvm_mcast(), for which the daemons carry one copy
 * to each host.
 */
#include <stdlib.h>
#include "libpvm/base/call.h"
#include "groups/group.h"
#include "groups/name.h"
#include "pvm3.h"
#include "groups/session.h"

/* Lists the living members except this task in *tids, which the caller frees. Their number, or PvmNoMem; PvmNoInst when
 * there are no other members. *incomplete tells whether some have gone. */
static int receivers(const struct pvmg_members *list, int **tids, bool *incomplete)
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
    struct pvmg_group *g;
    int code = pvmg_group_fetch(group, false, &g);

    if (code < 0)
        return code;
    code = receivers(g->members, tids, incomplete);
    pvmg_group_release(g);
    return code;
}

/* Sends the user's buffer in the user's context. The caller reports an error of pvm_mcast(). */
static int send_to(int *tids, int n, int tag)
{
    int error = pvm_errno, mode = pvm_setopt(PvmAutoErr, 0);
    int code = pvm_mcast(tids, n, tag);

    pvm_setopt(PvmAutoErr, mode);
    pvm_errno = error;
    return code;
}

/* The same by asking nobody, if they are known. */
static int receivers_known(const char *group, int **tids, bool *incomplete)
{
    if (!pvmg_session_is_idle() || pvmg_name_check(group) < 0)
        return 0;
    struct pvmg_group *g = pvmg_group_find(group);
    return g && pvmg_group_is_known(g) ? receivers(g->members, tids, incomplete) : 0;
}

static int ask_receivers(const char *group, int **tids, bool *incomplete)
{
    struct pvmg_guard guard;
    int code = pvmg_session_begin(&guard, group, 0);

    if (code >= 0)
        code = find_receivers(group, tids, incomplete);
    return pvmg_session_end(&guard, code);
}

int pvm_bcast(char *group, int tag)
{
    int *tids = NULL;
    bool incomplete = false;

    PVMI_BEGIN(TEV_BCAST, PVMI_STRING(GN, group), PVMI_INT(MC, tag));
    int code = receivers_known(group, &tids, &incomplete);
    if (code <= 0) {
        free(tids);
        tids = NULL;
        incomplete = false;
        code = ask_receivers(group, &tids, &incomplete);
    }
    int n = code > 0 ? code : 0;
    if (n > 0)
        code = send_to(tids, n, tag);
    code = pvmg_guard_result(code >= 0 && incomplete ? PvmNoTask : code);
    PVMI_END(TEV_BCAST, PVMI_INT(CC, code), PVMI_INTS(MDL, tids, n));
    free(tids);
    return code;
}
