#include "members.h"
#include <stdlib.h>
#include <string.h>
#include "proto.h"
#include "pvm3.h"

static struct pvmg_members *allocate(int generation, int size)
{
    size_t n = size > 0 ? (size_t)size : 1;
    struct pvmg_members *list = calloc(1, sizeof(*list));
    if (!list)
        return NULL;
    list->refs = 1;
    list->generation = generation;
    list->size = size;
    list->instances = calloc(n, sizeof(*list->instances));
    list->tids = calloc(n, sizeof(*list->tids));
    list->gone = calloc(n, sizeof(*list->gone));
    if (list->instances && list->tids && list->gone)
        return list;
    pvmg_members_unref(list);
    return NULL;
}

int pvmg_members_read(int generation, int size, struct pvmg_members **list)
{
    if (size < 0 || size > PVMG_GROUP_MEMBERS_MAX)
        return PvmBadMsg;
    struct pvmg_members *l = allocate(generation, size);
    if (!l)
        return PvmNoMem;
    int code = pvm_upkint(l->instances, size, 1);
    if (code >= 0)
        code = pvm_upkint(l->tids, size, 1);
    if (code < 0) {
        pvmg_members_unref(l);
        return code;
    }
    l->rank = pvmg_members_rank_of_tid(l, pvm_mytid());
    *list = l;
    return PvmOk;
}

int pvmg_members_read_gone(struct pvmg_members *list)
{
    int n, tid, code = pvm_upkint(&n, 1, 1);

    memset(list->gone, 0, (size_t)list->size * sizeof(*list->gone));
    for (int i = 0; i < n && code >= 0; i++) {
        code = pvm_upkint(&tid, 1, 1);
        if (code >= 0)
            pvmg_members_mark_gone(list, tid);
    }
    return code;
}

struct pvmg_members *pvmg_members_ref(struct pvmg_members *list)
{
    list->refs++;
    return list;
}

void pvmg_members_unref(struct pvmg_members *list)
{
    if (!list || --list->refs > 0)
        return;
    free(list->instances);
    free(list->tids);
    free(list->gone);
    free(list);
}

int pvmg_members_rank_of_tid(const struct pvmg_members *list, int tid)
{
    for (int i = 0; i < list->size; i++)
        if (list->tids[i] == tid)
            return i;
    return -1;
}

int pvmg_members_rank_of_instance(const struct pvmg_members *list, int instance)
{
    int low = 0, high = list->size - 1;

    while (low <= high) {
        int middle = low + (high - low) / 2;
        if (list->instances[middle] == instance)
            return middle;
        if (list->instances[middle] < instance)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

void pvmg_members_mark_gone(struct pvmg_members *list, int tid)
{
    int rank = list ? pvmg_members_rank_of_tid(list, tid) : -1;

    if (rank >= 0)
        list->gone[rank] = true;
}
