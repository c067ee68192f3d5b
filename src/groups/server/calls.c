#include "calls.h"
#include <stdlib.h>
#include <utlist.h>

static void drop(struct group *g, struct call *c)
{
    DL_DELETE(g->in_progress, c);
    pvmg_list_unref(c->list);
    free(c);
}

static struct call *find(const struct group *g, int number)
{
    struct call *c;
    DL_FOREACH (g->in_progress, c)
        if (c->number == number)
            return c;
    return NULL;
}

static struct call *begin(struct group *g, int number)
{
    struct list *l = pvmg_roster_list(g);
    struct call *c = l ? calloc(1, sizeof(*c)) : NULL;
    if (!c)
        return NULL;
    c->number = number;
    c->list = pvmg_list_ref(l);
    c->to_come = l->size;
    DL_APPEND(g->in_progress, c);
    return c;
}

/* One member less is awaited. */
static void count_down(struct group *g, struct call *c)
{
    if (--c->to_come == 0)
        drop(g, c);
}

struct list *pvmg_calls_enter(struct group *g, struct member *m)
{
    if (g->frozen) {
        m->calls++;
        return pvmg_list_ref(g->list);
    }
    struct call *c = find(g, m->calls);
    if (!c)
        c = begin(g, m->calls);
    if (!c)
        return NULL;
    struct list *l = pvmg_list_ref(c->list);
    if (++m->calls > g->calls)
        g->calls = m->calls;
    count_down(g, c);
    return l;
}

/* A member takes part in all calls in progress that it has not entered: a new member starts after them. */
void pvmg_calls_forget(struct group *g, const struct member *m)
{
    struct call *c, *next;
    DL_FOREACH_SAFE (g->in_progress, c, next)
        if (c->number >= m->calls)
            count_down(g, c);
}

void pvmg_calls_drop(struct group *g)
{
    struct call *c, *next;
    DL_FOREACH_SAFE (g->in_progress, c, next)
        drop(g, c);
}
