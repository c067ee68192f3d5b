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
    int code = pvmi_session_begin(&guard, group, 1);

    if (code >= 0)
        code = pvmi_group_join(group);
    return pvmi_session_end(&guard, code);
}

int pvm_lvgroup(char *group)
{
    struct pvmi_guard guard;
    int code = pvmi_session_begin(&guard, group, 1);

    if (code >= 0)
        code = pvmi_group_leave(group);
    return pvmi_session_end(&guard, code);
}

int pvm_freezegroup(char *group, int size)
{
    struct pvmi_guard guard;
    int code = pvmi_session_begin(&guard, group, 1);

    if (code >= 0)
        code = pvmi_group_freeze(group, size);
    return pvmi_session_end(&guard, code);
}

static int size_of(const struct pvmi_members *list, int unused)
{
    (void)unused;
    return list->size;
}

static int tid_of(const struct pvmi_members *list, int instance)
{
    int rank = pvmi_members_rank_of_instance(list, instance);
    return rank < 0 ? PvmNoInst : list->tids[rank];
}

static int instance_of(const struct pvmi_members *list, int tid)
{
    int rank = pvmi_members_rank_of_tid(list, tid);
    return rank < 0 ? PvmNotInGroup : list->instances[rank];
}

/* Looks something up among the members of a group. */
static int look_up(const char *group, int (*what)(const struct pvmi_members *list, int key), int key)
{
    struct pvmi_guard guard;
    struct pvmi_group *g;
    int code = pvmi_session_begin(&guard, group, 0);

    if (code >= 0)
        code = pvmi_group_fetch(group, false, &g);
    if (code >= 0) {
        code = what(g->members, key);
        pvmi_group_release(g);
    }
    return pvmi_session_end(&guard, code);
}

int pvm_gsize(char *group)
{
    return look_up(group, size_of, 0);
}

int pvm_gettid(char *group, int inst)
{
    return look_up(group, tid_of, inst);
}

int pvm_getinst(char *group, int tid)
{
    return look_up(group, instance_of, tid);
}

/* Tid of the group server, which is started if there is none. Part of the interface of the reference. */
int gs_getgstid(void);

int gs_getgstid(void)
{
    struct pvmi_guard guard;
    int code = pvmi_session_begin(&guard, "*", 0);

    if (code >= 0)
        code = pvmi_gserver_tid();
    return pvmi_session_end(&guard, code);
}
