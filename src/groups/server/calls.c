#include "calls.h"
#include <stdlib.h>
#include <utlist.h>
#include "groups/proto.h"
#include "pvm3.h"

static void drop(struct group *g, struct call *c)
{
    DL_DELETE(g->in_progress, c);
    g->calls_in_progress--;
    pvmg_list_unref(c->list);
    free(c);
}

/* This call, or the next one in progress. */
static struct call *find(const struct group *g, int number)
{
    struct call *c;
    DL_FOREACH (g->in_progress, c)
        if (c->number >= number)
            return c;
    return NULL;
}

static struct call *add(struct group *g, int number, struct list *l)
{
    struct call *c = l ? calloc(1, sizeof(*c)) : NULL;
    if (!c)
        return NULL;
    c->number = number;
    c->list = pvmg_list_ref(l);
    DL_APPEND(g->in_progress, c);
    g->calls_in_progress++;
    return c;
}

/* The call that a member is the first to enter. */
static struct call *begin(struct group *g, int *code)
{
    struct call *c = NULL;

    if (g->calls_in_progress >= PVMG_CALLS_MAX || g->calls >= PVMG_CALL_NUMBER_MAX) {
        *code = PvmOutOfRes;
        return NULL;
    }
    c = add(g, g->calls, pvmg_roster_list(g));
    if (!c) {
        *code = PvmNoMem;
        return NULL;
    }
    c->to_come = c->list->size;
    g->calls++;
    pvmg_roster_changed(g);
    return c;
}

/* The member has the lists of all calls below `number`. */
static void confirm(struct group *g, struct member *m, int number)
{
    struct call *c, *next;
    DL_FOREACH_SAFE (g->in_progress, c, next)
        if (c->number >= m->confirmed && c->number < number && --c->to_come == 0)
            drop(g, c);
    m->confirmed = number;
}

struct list *pvmg_calls_enter(struct group *g, struct member *m, int number, int *code, bool *begun)
{
    *begun = false;
    if (number == -1)
        number = m->calls;
    if (number < m->confirmed)
        number = m->confirmed; /* it asks again, and does not know the number that it got */
    if (g->frozen) {
        m->calls = number + 1;
        return pvmg_list_ref(g->list);
    }
    *code = PvmBadParam;
    if (number > g->calls)
        return NULL;
    struct call *c = find(g, number);
    *begun = !c;
    if (!c)
        c = begin(g, code);
    if (!c)
        return NULL;
    struct list *l = pvmg_list_ref(c->list);
    number = c->number;
    m->calls = number + 1;
    confirm(g, m, number);
    return l;
}

bool pvmg_calls_restore(struct group *g, int number, struct list *l)
{
    struct call *c = add(g, number, l);
    if (!c)
        return false;
    for (int i = 0; i < l->size; i++) {
        const struct member *m = pvmg_roster_member(g, l->tids[i]);
        c->to_come += m && m->confirmed <= number;
    }
    if (c->to_come == 0)
        drop(g, c);
    return true;
}

bool pvmg_calls_await(const struct group *g, const struct member *m)
{
    return m->calls < g->calls;
}

/* A member takes part in all calls in progress that it has not confirmed: a new member starts after them. */
void pvmg_calls_forget(struct group *g, const struct member *m)
{
    struct call *c, *next;
    DL_FOREACH_SAFE (g->in_progress, c, next)
        if (c->number >= m->confirmed && --c->to_come == 0)
            drop(g, c);
}

void pvmg_calls_drop(struct group *g)
{
    struct call *c, *next;
    DL_FOREACH_SAFE (g->in_progress, c, next)
        drop(g, c);
}
