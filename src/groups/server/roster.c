#include "roster.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "groups/proto.h"
#include "calls.h"

static struct group *groups;
static struct group *changed; /* by next_changed */
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

void pvmg_roster_set_id(struct group *g, int id)
{
    g->id = id;
    if (id > last_id)
        last_id = id;
}

int pvmg_roster_last_id(void)
{
    return last_id;
}

void pvmg_roster_changed(struct group *g)
{
    if (g->changed)
        return;
    g->changed = true;
    LL_PREPEND2(changed, g, next_changed);
}

struct group *pvmg_roster_take_changed(void)
{
    struct group *g = changed;

    if (g) {
        LL_DELETE2(changed, g, next_changed);
        g->changed = false;
    }
    return g;
}

bool pvmg_roster_has_changed(void)
{
    return changed;
}

void pvmg_roster_drop(struct group *g)
{
    if (g->changed)
        LL_DELETE2(changed, g, next_changed);
    struct member *m, *next;
    HASH_ITER (hh, g->members, m, next) {
        HASH_DEL(g->members, m);
        free(m);
    }
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

/* Makes room for this instance. False: out of memory, or too many members. */
static bool extend(struct group *g, unsigned instance)
{
    unsigned span = g->span ? g->span : 8;

    if (instance < g->span)
        return true;
    if (instance >= PVMG_GROUP_MEMBERS_MAX)
        return false;
    while (span <= instance)
        span *= 2;
    struct member **bigger = realloc(g->slots, span * sizeof(*bigger));
    if (!bigger)
        return false;
    memset(bigger + g->span, 0, (span - g->span) * sizeof(*bigger));
    g->slots = bigger;
    g->span = span;
    return true;
}

static int free_slot(const struct group *g)
{
    unsigned i = 0;

    while (i < g->span && g->slots[i])
        i++;
    return (int)i;
}

static void forget_list(struct group *g)
{
    if (g->frozen)
        return;
    pvmg_list_unref(g->list);
    g->list = NULL;
}

struct member *pvmg_roster_restore_member(struct group *g, int tid, int instance)
{
    if (!extend(g, (unsigned)instance) || g->slots[instance] || pvmg_roster_member(g, tid))
        return NULL;
    struct member *m = calloc(1, sizeof(*m));
    if (m)
        *m = (struct member){.tid = tid, .instance = instance};
    if (!m || !PVMC_HASH_ADD(hh, g->members, tid, m)) {
        free(m);
        return NULL;
    }
    g->slots[instance] = m;
    g->size++;
    return m;
}

struct member *pvmg_roster_add_member(struct group *g, int tid)
{
    struct member *m = pvmg_roster_restore_member(g, tid, free_slot(g));

    if (!m)
        return NULL;
    m->calls = m->confirmed = g->calls;
    m->told_failure = true;
    m->told_deaths = g->deaths;
    if (g->vacant > 0)
        g->vacant--;
    forget_list(g);
    pvmg_roster_changed(g);
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
    pvmg_roster_changed(g);
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
        m->calls = m->confirmed = g->calls;
    g->frozen = true;
    pvmg_roster_changed(g);
    return true;
}
