/*
 * membership.c - joining, leaving and freezing groups, and looking at them.
 */
#include "../libpvm/call.h"
#include "group.h"
#include "gserver.h"
#include "pvm3.h"
#include "session.h"

int pvm_joingroup(char *group)
{
    struct pvmi_guard guard;

    PVMI_BEGIN(TEV_JOINGROUP, PVMI_STRING(GN, group));
    int code = pvmi_session_begin(&guard, group, 1);
    if (code >= 0)
        code = pvmi_group_join(group);
    code = pvmi_session_end(&guard, code);
    PVMI_END(TEV_JOINGROUP, PVMI_INT(CC, code));
    return code;
}

int pvm_lvgroup(char *group)
{
    struct pvmi_guard guard;

    PVMI_BEGIN(TEV_LVGROUP, PVMI_STRING(GN, group));
    int code = pvmi_session_begin(&guard, group, 1);
    if (code >= 0)
        code = pvmi_group_leave(group);
    code = pvmi_session_end(&guard, code);
    PVMI_END(TEV_LVGROUP, PVMI_INT(CC, code));
    return code;
}

int pvm_freezegroup(char *group, int size)
{
    struct pvmi_guard guard;

    PVMI_BEGIN(PVMI_UNTRACED);
    int code = pvmi_session_begin(&guard, group, 1);
    if (code >= 0)
        code = pvmi_group_freeze(group, size);
    code = pvmi_session_end(&guard, code);
    PVMI_END(PVMI_UNTRACED);
    return code;
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

/* The lowest number that no member has: the next one who joins gets it. */
static int free_instance(const struct pvmi_members *list)
{
    int instance = 0;
    while (instance < list->size && list->instances[instance] == instance)
        instance++;
    return instance;
}

static int instance_of(const struct pvmi_members *list, int tid)
{
    int rank = pvmi_members_rank_of_tid(list, tid);
    if (tid == -1)
        return free_instance(list);
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
    PVMI_BEGIN(TEV_GSIZE, PVMI_STRING(GN, group));
    int code = look_up(group, size_of, 0);
    PVMI_END(TEV_GSIZE, PVMI_INT(GS, code));
    return code;
}

int pvm_gettid(char *group, int inst)
{
    PVMI_BEGIN(TEV_GETTID, PVMI_STRING(GN, group), PVMI_INT(GI, inst));
    int code = look_up(group, tid_of, inst);
    PVMI_END(TEV_GETTID, PVMI_INT(GT, code));
    return code;
}

int pvm_getinst(char *group, int tid)
{
    PVMI_BEGIN(TEV_GETINST, PVMI_STRING(GN, group), PVMI_INT(GT, tid));
    int code = look_up(group, instance_of, tid);
    PVMI_END(TEV_GETINST, PVMI_INT(GI, code));
    return code;
}

/* Tid of the group server, which is started if there is none. Part of the interface of the reference. */
int gs_getgstid(void);

int gs_getgstid(void)
{
    struct pvmi_guard guard;

    PVMI_BEGIN(PVMI_UNTRACED);
    int code = pvmi_session_begin(&guard, "*", 0);
    if (code >= 0)
        code = pvmi_gserver_tid();
    code = pvmi_session_end(&guard, code);
    PVMI_END(PVMI_UNTRACED);
    return code;
}
