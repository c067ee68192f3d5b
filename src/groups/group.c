#include "group.h"
#include <stdlib.h>
#include <string.h>
#include "gserver.h"
#include "pvm3.h"
#include "traffic.h"

static struct pvmi_group *by_name, *by_id;

static struct pvmi_group *find(const char *name)
{
    struct pvmi_group *g;
    HASH_FIND(by_name, by_name, name, strlen(name), g);
    return g;
}

struct pvmi_group *pvmi_group_of(int id)
{
    struct pvmi_group *g;
    HASH_FIND(by_id, by_id, &id, sizeof(id), g);
    return g;
}

bool pvmi_group_is_member(const struct pvmi_group *g)
{
    return g->members && g->members->rank >= 0;
}

struct pvmi_group *pvmi_group_frozen(const char *name)
{
    struct pvmi_group *g = find(name);

    if (!g || g->lost || !g->frozen || !pvmi_group_is_member(g))
        return NULL;
    g->refs++;
    return g;
}

void pvmi_group_release(struct pvmi_group *g)
{
    if (!g || --g->refs > 0)
        return;
    pvmi_group_keep(g, NULL);
    pvmi_members_unref(g->members);
    pvmi_members_unref(g->participants);
    free(g->name);
    free(g);
}

/* Takes the record out, with what came for it: the server does not know the group any more, or not us in it. */
static void forget(struct pvmi_group *g)
{
    if (find(g->name) != g)
        return; /* a call from a message handler has done it */
    HASH_DELETE(by_name, by_name, g);
    if (g->id) {
        HASH_DELETE(by_id, by_id, g);
        pvmi_traffic_forget(g->id);
    }
    pvmi_group_release(g);
}

static struct pvmi_group *add(const char *name)
{
    struct pvmi_group *g = calloc(1, sizeof(*g));

    if (!g)
        return NULL;
    g->refs = 1;
    g->name = strdup(name);
    if (g->name && PVMI_HASH_ADD_TEXT(by_name, by_name, name, g))
        return g;
    free(g->name);
    free(g);
    return NULL;
}

/* The record under this name, made if need be, with a reference for the caller; NULL when out of memory. */
static struct pvmi_group *obtain(const char *name)
{
    struct pvmi_group *g = find(name);

    if (g && g->lost) {
        forget(g);
        g = NULL;
    }
    if (!g)
        g = add(name);
    if (g)
        g->refs++;
    return g;
}

/* A group of the same name is another one when its id is. */
static int identify(struct pvmi_group *g, int id)
{
    if (g->id == id)
        return PvmOk;
    if (g->id) {
        pvmi_traffic_forget(g->id);
        HASH_DELETE(by_id, by_id, g);
    }
    g->id = id;
    g->number = g->finished = g->broken = g->fate = g->epoch = g->barrier = 0;
    g->missed_mismatch = false;
    if (PVMI_HASH_ADD(by_id, by_id, id, g))
        return PvmOk;
    g->id = 0;
    return PvmNoMem;
}

/*
 * Reads a list (proto.h) from the active receive buffer. *members: the list whose generation was told to the server, or
 * NULL; becomes the new one, with a reference for the caller.
 */
static int read_list(struct pvmi_group *g, bool counted, struct pvmi_members **members)
{
    struct pvmi_members *known = *members;
    int head[PVMI_LIST_INTS], code = pvm_upkint(head, PVMI_LIST_INTS, 1);

    if (code >= 0 && (!known || known->generation != head[PVMI_LIST_GENERATION])) {
        code = pvmi_members_read(head[PVMI_LIST_GENERATION], head[PVMI_LIST_SIZE], members);
        if (code >= 0)
            pvmi_members_unref(known);
    }
    if (code >= 0)
        code = pvmi_members_read_gone(*members);
    if (code >= 0)
        code = identify(g, head[PVMI_LIST_ID]);
    if (code < 0)
        return code;
    g->frozen = head[PVMI_LIST_FROZEN];
    g->broken = head[PVMI_LIST_BROKEN];
    if (counted || !g->participants) { /* asking meanwhile does not change the call in progress */
        g->number = head[PVMI_LIST_CALLS] - 1;
        g->finished = counted ? g->number : g->number + 1;
    }
    pvmi_members_unref(g->members);
    g->members = pvmi_members_ref(*members);
    return PvmOk;
}

static int ask_list(struct pvmi_group *g, bool counted)
{
    struct pvmi_members *members = g->members ? pvmi_members_ref(g->members) : NULL;
    int args[] = {members ? members->generation : 0, counted};
    int code = pvmi_gserver_ask(PVMI_GROUP_LIST, g->name, args, 2);

    if (code >= 0)
        code = read_list(g, counted, &members);
    pvmi_members_unref(members);
    return code;
}

int pvmi_group_fetch(const char *name, bool counted, struct pvmi_group **group)
{
    struct pvmi_group *g = obtain(name);
    int code = PvmOk;

    if (!g)
        return PvmNoMem;
    if (!g->frozen || !pvmi_group_is_member(g))
        code = ask_list(g, counted);
    else
        g->number += counted;
    if (code < 0) {
        forget(g);
        pvmi_group_release(g);
        return code;
    }
    if (counted)
        g->participants = pvmi_members_ref(g->members);
    *group = g;
    return PvmOk;
}

int pvmi_group_join(const char *name)
{
    struct pvmi_group *g = obtain(name);
    struct pvmi_members *members = NULL;

    if (!g)
        return PvmNoMem;
    pvmi_traffic_join_begin();
    int instance = pvmi_gserver_ask(PVMI_GROUP_JOIN, name, NULL, 0);
    int code = instance < 0 ? instance : read_list(g, false, &members);
    pvmi_members_unref(members);
    if (code < 0 && !pvmi_group_is_member(g))
        forget(g);
    pvmi_group_release(g);
    pvmi_traffic_join_end();
    return code < 0 ? code : instance;
}

int pvmi_group_leave(const char *name)
{
    int code = pvmi_gserver_ask(PVMI_GROUP_LEAVE, name, NULL, 0);
    struct pvmi_group *g = find(name);

    if (g)
        forget(g);
    return code;
}

int pvmi_group_freeze(const char *name, int size)
{
    struct pvmi_group *g = obtain(name);
    struct pvmi_members *members = NULL;

    if (!g)
        return PvmNoMem;
    int count = pvmi_gserver_ask(PVMI_GROUP_FREEZE, name, &size, 1);
    int code = count < 0 ? count : read_list(g, false, &members);
    pvmi_members_unref(members);
    if (code < 0 && !pvmi_group_is_member(g))
        forget(g);
    pvmi_group_release(g);
    return code < 0 ? code : count;
}

void pvmi_group_keep(struct pvmi_group *g, struct pvmi_parcel *p)
{
    pvmi_parcel_free(g->kept);
    g->kept = p;
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

    if (!g)
        return;
    if (kind == PVMI_EVENT_MISMATCH) {
        note_mismatch(g, value);
        return;
    }
    pvmi_members_mark_gone(g->members, value);
    pvmi_members_mark_gone(g->participants, value);
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
