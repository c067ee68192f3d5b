#include "roster.h"
#include <stdlib.h>
#include <string.h>
#include "groups/proto.h"
#include "calls.h"

static struct group *groups;
static int last_id;

struct group *pvmg_roster_find(const char *name)
{
    struct group *g;

    HASH_FIND_STR(groups, name, g);
    return g;
}

struct group *pvmg_roster_first(void)
{
    return groups;
}

int pvmg_roster_count(void)
{
    return (int)HASH_COUNT(groups);
}

struct group *pvmg_roster_add(const char *name)
{
    struct group *g;

    if (pvmg_roster_count() >= PVMG_GROUPS_MAX)
        return NULL;
    g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    g->name = strdup(name);
    if (!g->name || !PVMC_HASH_ADD_TEXT(hh, groups, name, g)) {
        free(g->name);
        free(g);
        return NULL;
    }
    g->id = ++last_id;
    return g;
}

void pvmg_roster_drop(struct group *g)
{
    HASH_DEL(groups, g);
    pvmg_calls_drop(g);
    pvmg_list_unref(g->list);
    free(g->slots);
    free(g->barrier.tids);
    free(g->freeze.tids);
    free(g->watchers);
    free(g->name);
    free(g);
}

/* The lowest free instance, or -1. */
static int free_slot(struct group *g)
{
    struct member **bigger;
    unsigned old = g->span, span = old ? 2 * old : 8;

    for (unsigned i = 0; i < old; i++)
        if (!g->slots[i])
            return (int)i;
    bigger = old >= PVMG_GROUP_MEMBERS_MAX ? NULL : realloc(g->slots, span * sizeof(*bigger));
    if (!bigger)
        return -1;
    memset(bigger + old, 0, (span - old) * sizeof(*bigger));
    g->slots = bigger;
    g->span = span;
    return (int)old;
}

static void forget_list(struct group *g)
{
    if (g->frozen)
        return;
    pvmg_list_unref(g->list);
    g->list = NULL;
}

struct member *pvmg_roster_add_member(struct group *g, int tid)
{
    struct member *m = calloc(1, sizeof(*m));
    int instance = m ? free_slot(g) : -1;

    if (m)
        *m = (struct member){
            .tid = tid, .instance = instance, .calls = g->calls, .told_failure = true, .told_deaths = g->deaths};
    if (instance < 0 || !PVMC_HASH_ADD(hh, g->members, tid, m)) {
        free(m);
        return NULL;
    }
    g->slots[instance] = m;
    g->size++;
    if (g->vacant > 0)
        g->vacant--;
    forget_list(g);
    return m;
}

void pvmg_roster_remove_member(struct group *g, struct member *m)
{
    pvmg_calls_forget(g, m);
    HASH_DEL(g->members, m);
    g->slots[m->instance] = NULL;
    free(m);
    g->size--;
    forget_list(g);
}

struct member *pvmg_roster_member(const struct group *g, int tid)
{
    struct member *m;

    HASH_FIND_INT(g->members, &tid, m);
    return m;
}

struct list *pvmg_roster_list(struct group *g)
{
    if (g->list)
        return g->list;
    struct list *l = pvmg_list_new(g->size);
    int n = 0;
    for (unsigned i = 0; l && i < g->span; i++) {
        if (!g->slots[i])
            continue;
        l->instances[n] = (int)i;
        l->tids[n++] = g->slots[i]->tid;
    }
    return g->list = l;
}

bool pvmg_roster_freeze(struct group *g)
{
    if (!pvmg_roster_list(g))
        return false;
    for (struct member *m = g->members; m; m = m->hh.next)
        m->calls = g->calls;
    g->frozen = true;
    return true;
}
