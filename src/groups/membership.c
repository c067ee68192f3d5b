/*
 * membership.c - joining, leaving and freezing groups, and looking at them.
 */
#include "group.h"
#include "gserver.h"
#include "pvm3.h"
#include "session.h"

int pvm_joingroup(char *group)
{
    struct pvmi_guard guard;
    int code = pvmi_session_begin(&guard, group);

    if (code >= 0)
        code = pvmi_group_join(group);
    return pvmi_session_end(&guard, code);
}

int pvm_lvgroup(char *group)
{
    struct pvmi_guard guard;
    int code = pvmi_session_begin(&guard, group);

    if (code >= 0)
        code = pvmi_group_leave(group);
    return pvmi_session_end(&guard, code);
}

int pvm_freezegroup(char *group, int size)
{
    struct pvmi_guard guard;
    int code = pvmi_session_begin(&guard, group);

    if (code >= 0)
        code = pvmi_group_freeze(group, size);
    return pvmi_session_end(&guard, code);
}

int pvm_gsize(char *group)
{
    struct pvmi_guard guard;
    struct pvmi_group *g;
    int code = pvmi_session_begin(&guard, group);

    if (code >= 0)
        code = pvmi_group_fetch(group, false, &g);
    if (code >= 0)
        code = g->size;
    return pvmi_session_end(&guard, code);
}

static int tid_of(const char *group, int instance)
{
    struct pvmi_group *g;
    int rank, code = pvmi_group_fetch(group, false, &g);

    if (code < 0)
        return code;
    rank = pvmi_group_rank_of_instance(g, instance);
    return rank < 0 ? PvmNoInst : g->tids[rank];
}

int pvm_gettid(char *group, int inst)
{
    struct pvmi_guard guard;
    int code = pvmi_session_begin(&guard, group);

    if (code >= 0)
        code = tid_of(group, inst);
    return pvmi_session_end(&guard, code);
}

static int instance_of(const char *group, int tid)
{
    struct pvmi_group *g;
    int rank, code = pvmi_group_fetch(group, false, &g);

    if (code < 0)
        return code;
    rank = pvmi_group_rank_of_tid(g, tid);
    return rank < 0 ? PvmNotInGroup : g->instances[rank];
}

int pvm_getinst(char *group, int tid)
{
    struct pvmi_guard guard;
    int code = pvmi_session_begin(&guard, group);

    if (code >= 0)
        code = instance_of(group, tid);
    return pvmi_session_end(&guard, code);
}

/* Tid of the group server, which is started if there is none. Part of the interface of the reference. */
int gs_getgstid(void);

int gs_getgstid(void)
{
    struct pvmi_guard guard;
    int code = pvmi_session_begin(&guard, "*");

    if (code >= 0)
        code = pvmi_gserver_tid();
    return pvmi_session_end(&guard, code);
}
