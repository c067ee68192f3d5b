#include "group.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "gserver.h"
#include "pvm3.h"
#include "traffic.h"

static struct pvmi_group *by_name, *by_id;

static void drop(struct pvmi_group *g)
{
    HASH_DELETE(by_name, by_name, g);
    if (g->id)
        HASH_DELETE(by_id, by_id, g);
    pvmi_group_keep(g, NULL);
    free(g->instances);
    free(g->tids);
    free(g->gone);
    free(g->name);
    free(g);
}

static struct pvmi_group *find(const char *name)
{
    struct pvmi_group *g;

    HASH_FIND(by_name, by_name, name, strlen(name), g);
    return g;
}

struct pvmi_group *pvmi_group_frozen(const char *name)
{
    struct pvmi_group *g = find(name);

    return g && !g->lost && g->frozen && g->rank >= 0 ? g : NULL;
}

struct pvmi_group *pvmi_group_of(int id)
{
    struct pvmi_group *g;

    HASH_FIND(by_id, by_id, &id, sizeof(id), g);
    return g;
}

/* The record under this name, made if need be; NULL when out of memory. One of a lost server is not used again. */
static struct pvmi_group *record(const char *name)
{
    struct pvmi_group *g = find(name);

    if (g && g->lost) {
        pvmi_traffic_forget(g->id);
        drop(g);
        g = NULL;
    }
    if (g)
        return g;
    g = calloc(1, sizeof(*g));
    if (!g || !(g->name = strdup(name))) {
        free(g);
        return NULL;
    }
    g->rank = -1;
    HASH_ADD_KEYPTR(by_name, by_name, g->name, strlen(g->name), g);
    return g;
}

/* Drops the record and what came for it, because the server does not know the group or us in it. */
static void forget(struct pvmi_group *g)
{
    if (g->id)
        pvmi_traffic_forget(g->id);
    drop(g);
}

static int resize(struct pvmi_group *g, int size)
{
    size_t n = size > 0 ? (size_t)size : 1;
    int *instances = calloc(n, sizeof(*instances)), *tids = calloc(n, sizeof(*tids));
    bool *gone = calloc(n, sizeof(*gone));

    if (!instances || !tids || !gone) {
        free(instances);
        free(tids);
        free(gone);
        return PvmNoMem;
    }
    free(g->instances);
    free(g->tids);
    free(g->gone);
    g->instances = instances;
    g->tids = tids;
    g->gone = gone;
    g->size = size;
    return PvmOk;
}

static int read_members(struct pvmi_group *g, int size)
{
    int code;

    if (size < 0 || size > PVMI_GROUP_MEMBERS_MAX)
        return PvmBadMsg;
    code = resize(g, size);
    if (code >= 0)
        code = pvm_upkint(g->instances, size, 1);
    return code < 0 ? code : pvm_upkint(g->tids, size, 1);
}

/* A group of the same name is another one when its id is. */
static void identify(struct pvmi_group *g, int id)
{
    if (g->id == id)
        return;
    if (g->id) {
        pvmi_traffic_forget(g->id);
        HASH_DELETE(by_id, by_id, g);
    }
    g->id = id;
    HASH_ADD(by_id, by_id, id, sizeof(g->id), g);
    g->generation = g->number = g->finished = g->broken = g->fate = g->epoch = g->barrier = 0;
    g->missed_mismatch = false;
}

/* Notes who of the list has gone. */
static int read_gone(struct pvmi_group *g)
{
    int n, tid, code = pvm_upkint(&n, 1, 1);

    memset(g->gone, 0, (size_t)g->size * sizeof(*g->gone));
    for (int i = 0; i < n && code >= 0; i++) {
        code = pvm_upkint(&tid, 1, 1);
        int rank = code < 0 ? -1 : pvmi_group_rank_of_tid(g, tid);
        if (rank >= 0)
            g->gone[rank] = true;
    }
    return code;
}

/* Reads a list (proto.h) from the active receive buffer. The caller is at the start of a counted call, or in none. */
static int read_list(struct pvmi_group *g, bool counted)
{
    int list[PVMI_LIST_INTS], known = g->generation;
    int code = pvm_upkint(list, PVMI_LIST_INTS, 1);

    if (code < 0)
        return code;
    identify(g, list[PVMI_LIST_ID]);
    if (list[PVMI_LIST_GENERATION] != known) {
        code = read_members(g, list[PVMI_LIST_SIZE]);
        if (code < 0)
            return code;
        g->rank = pvmi_group_rank_of_tid(g, pvm_mytid());
    }
    code = read_gone(g);
    if (code < 0)
        return code;
    g->generation = list[PVMI_LIST_GENERATION];
    g->frozen = list[PVMI_LIST_FROZEN];
    g->broken = list[PVMI_LIST_BROKEN];
    g->number = list[PVMI_LIST_CALLS] - 1;
    g->finished = counted ? g->number : g->number + 1;
    return PvmOk;
}

static int ask_list(struct pvmi_group *g, bool counted)
{
    int args[] = {g->generation, counted};
    int code = pvmi_gserver_ask(PVMI_GROUP_LIST, g->name, args, 2);

    return code < 0 ? code : read_list(g, counted);
}

int pvmi_group_fetch(const char *name, bool counted, struct pvmi_group **group)
{
    struct pvmi_group *g = record(name);
    int code = PvmOk;

    if (!g)
        return PvmNoMem;
    if (!g->frozen || g->rank < 0)
        code = ask_list(g, counted);
    else
        g->number += counted;
    if (code < 0)
        forget(g);
    else
        *group = g;
    return code;
}

int pvmi_group_join(const char *name)
{
    struct pvmi_group *g = record(name);
    int instance, code;

    if (!g)
        return PvmNoMem;
    pvmi_traffic_join_begin();
    instance = pvmi_gserver_ask(PVMI_GROUP_JOIN, name, NULL, 0);
    code = instance < 0 ? instance : read_list(g, false);
    if (code < 0 && g->rank < 0)
        forget(g);
    pvmi_traffic_join_end();
    return code < 0 ? code : instance;
}

int pvmi_group_leave(const char *name)
{
    struct pvmi_group *g = find(name);
    int code = pvmi_gserver_ask(PVMI_GROUP_LEAVE, name, NULL, 0);

    if (g)
        forget(g);
    return code;
}

int pvmi_group_freeze(const char *name, int size)
{
    struct pvmi_group *g = record(name);
    int count, code;

    if (!g)
        return PvmNoMem;
    count = pvmi_gserver_ask(PVMI_GROUP_FREEZE, name, &size, 1);
    if (count < 0)
        return count;
    g->generation = 0;
    code = read_list(g, false);
    if (code < 0)
        forget(g);
    return code < 0 ? code : count;
}

int pvmi_group_rank_of_tid(const struct pvmi_group *g, int tid)
{
    for (int i = 0; i < g->size; i++)
        if (g->tids[i] == tid)
            return i;
    return -1;
}

int pvmi_group_rank_of_instance(const struct pvmi_group *g, int instance)
{
    int low = 0, high = g->size - 1;

    while (low <= high) {
        int middle = low + (high - low) / 2;

        if (g->instances[middle] == instance)
            return middle;
        if (g->instances[middle] < instance)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

void pvmi_group_keep(struct pvmi_group *g, struct pvmi_parcel *list)
{
    struct pvmi_parcel *p, *next;

    DL_FOREACH_SAFE (g->kept, p, next) {
        DL_DELETE(g->kept, p);
        pvmi_parcel_free(p);
    }
    g->kept = list;
}

static void note_mismatch(struct pvmi_group *g, int epoch)
{
    g->epoch = epoch;
    g->barrier = 0;
    g->missed_mismatch = !g->in_barrier;
    pvmi_traffic_prune(g);
}

void pvmi_group_event(int id, int kind, int value)
{
    struct pvmi_group *g = pvmi_group_of(id);
    int rank;

    if (!g)
        return;
    if (kind == PVMI_EVENT_MISMATCH) {
        note_mismatch(g, value);
        return;
    }
    rank = pvmi_group_rank_of_tid(g, value);
    if (rank < 0)
        return;
    g->gone[rank] = true;
    if (!g->frozen)
        return;
    g->broken = PvmNoGroup;
    if (!g->fate)
        g->fate = kind == PVMI_EVENT_DIED ? PvmNoTask : PvmNoGroup;
}

void pvmi_group_lose_all(void)
{
    for (struct pvmi_group *g = by_name; g; g = g->by_name.next)
        g->lost = true;
}

void pvmi_group_forget_all(void)
{
    struct pvmi_group *g, *next;

    HASH_ITER (by_name, by_name, g, next)
        forget(g);
}
