/*
 * membership.c - the calls that join, leave, freeze and query groups.
 */
#include "libpvm/base/call.h"
#include "libpvm/base/gate.h"
#include "group.h"
#include "gserver.h"
#include "pvm3.h"
#include "session.h"

int pvm_joingroup(char *group)
{
    struct pvmg_guard guard;

    PVMI_BEGIN(TEV_JOINGROUP, PVMI_STRING(GN, group));
    int code = pvmg_session_begin(&guard, group, 1);
    if (code >= 0)
        code = pvmg_group_join(group);
    code = pvmg_session_end(&guard, code);
    PVMI_END(TEV_JOINGROUP, PVMI_INT(CC, code));
    return code;
}

int pvm_lvgroup(char *group)
{
    struct pvmg_guard guard;

    PVMI_BEGIN(TEV_LVGROUP, PVMI_STRING(GN, group));
    int code = pvmg_session_begin(&guard, group, 1);
    if (code >= 0)
        code = pvmg_group_leave(group);
    code = pvmg_session_end(&guard, code);
    PVMI_END(TEV_LVGROUP, PVMI_INT(CC, code));
    return code;
}

int pvm_freezegroup(char *group, int size)
{
    struct pvmg_guard guard;

    PVMI_BEGIN(PVMI_UNTRACED);
    int code = pvmg_session_begin(&guard, group, 1);
    if (code >= 0)
        code = pvmg_group_freeze(group, size);
    code = pvmg_session_end(&guard, code);
    PVMI_END(PVMI_UNTRACED);
    return code;
}

static int size_of(const struct pvmg_members *list, int unused)
{
    (void)unused;
    return list->size;
}

static int tid_of(const struct pvmg_members *list, int instance)
{
    int rank = pvmg_members_rank_of_instance(list, instance);
    return rank < 0 ? PvmNoInst : list->tids[rank];
}

/* The lowest free instance number: the next task to join gets it. */
static int free_instance(const struct pvmg_members *list)
{
    int instance = 0;
    while (instance < list->size && list->instances[instance] == instance)
        instance++;
    return instance;
}

static int instance_of(const struct pvmg_members *list, int tid)
{
    int rank = pvmg_members_rank_of_tid(list, tid);
    if (tid == -1)
        return free_instance(list);
    return rank < 0 ? PvmNotInGroup : list->instances[rank];
}

/* Fetches the member list of a group and applies `what` to it. */
static int look_up(const char *group, int (*what)(const struct pvmg_members *list, int key), int key)
{
    struct pvmg_guard guard;
    struct pvmg_group *g;

    if (pvmg_session_is_idle())
        pvmi_gate_listen(); /* whoever need not ask hears of nothing else */
    int code = pvmg_session_begin(&guard, group, 0);
    if (code >= 0)
        code = pvmg_group_fetch(group, false, &g);
    if (code >= 0) {
        code = what(g->members, key);
        pvmg_group_release(g);
    }
    return pvmg_session_end(&guard, code);
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

/* Tid of the group server, which is started if there is none. Part of PVM 3.4's interface. */
int gs_getgstid(void);

int gs_getgstid(void)
{
    struct pvmg_guard guard;

    PVMI_BEGIN(PVMI_UNTRACED);
    int code = pvmg_session_begin(&guard, "*", 0);
    if (code >= 0)
        code = pvmg_gserver_tid();
    code = pvmg_session_end(&guard, code);
    PVMI_END(PVMI_UNTRACED);
    return code;
}
