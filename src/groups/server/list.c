#include "list.h"
#include <stdlib.h>

static int last_generation;

struct list *pvmg_list_new(int size)
{
    size_t n = size > 0 ? (size_t)size : 1;
    struct list *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->instances = calloc(n, sizeof(*l->instances));
    l->tids = calloc(n, sizeof(*l->tids));
    l->refs = 1;
    l->generation = ++last_generation;
    l->size = size;
    if (l->instances && l->tids)
        return l;
    pvmg_list_unref(l);
    return NULL;
}

struct list *pvmg_list_ref(struct list *l)
{
    l->refs++;
    return l;
}

void pvmg_list_set_generation(struct list *l, int generation)
{
    l->generation = generation;
    if (generation > last_generation)
        last_generation = generation;
}

void pvmg_list_unref(struct list *l)
{
    if (!l || --l->refs > 0)
        return;
    free(l->instances);
    free(l->tids);
    free(l);
}
