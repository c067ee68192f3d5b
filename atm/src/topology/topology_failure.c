/* topology_failure.c - the line of a link that fails. */
#include "topology_reader.h"

struct failure {
    struct pvma_topo_failure form;
    uint32_t number; /* of the links between the two nodes, from 1 */
};

static void check(struct pvma_reader *r, const struct pvma_topo_failure *f)
{
    if (f->every && (!f->duration || f->every <= f->duration))
        pvma_reader_complain(r, r->line,
                             "every=TIME repeats a failure that ends before: give for=TIME, shorter than it");
}

/* Index of the nth link between two nodes; -1 when there are fewer. */
static int find_link(const struct pvma_topology *t, unsigned a, unsigned b, uint32_t nth)
{
    for (size_t i = 0; i < t->link_count; i++)
        if (pvma_topo_link_joins(&t->links[i], a, b) && --nth == 0)
            return (int)i;
    return -1;
}

static bool add_failure(struct pvma_reader *r, int a, int b, const struct failure *failure)
{
    struct pvma_topology *t = r->t;
    if (a < 0 || b < 0)
        return false;
    int link = find_link(t, (unsigned)a, (unsigned)b, failure->number);
    if (link < 0 || t->failure_count == PVMA_LIST_MAX) {
        pvma_reader_complain(r, r->line,
                             "there is no link %u between %s and %s; declare it on an earlier line (at most %d fail)",
                             failure->number, t->nodes[a].name, t->nodes[b].name, PVMA_LIST_MAX);
        return false;
    }
    struct pvma_topo_failure *f = pvma_reader_more((void **)&t->failures, &t->failure_count, sizeof *f);
    *f = failure->form;
    f->line = r->line;
    f->link = (unsigned)link;
    return true;
}

void pvma_read_failure(struct pvma_reader *r)
{
#define FIELD(name) offsetof(struct failure, name)
    static const struct pvma_option options[] = {{"at", PVMA_OPTION_TIME, FIELD(form.at), 0, 0, NULL},
                                                 {"for", PVMA_OPTION_TIME, FIELD(form.duration), 0, 0, NULL},
                                                 {"every", PVMA_OPTION_TIME, FIELD(form.every), 0, 0, NULL},
                                                 {"link", PVMA_OPTION_COUNT, FIELD(number), 1, 255, NULL},
                                                 {0}};
#undef FIELD
    struct failure failure = {.number = 1};
    struct pvma_range a, b;
    bool has_time = false;
    for (unsigned i = 3; i < r->words; i++)
        has_time |= pvma_reader_value(r->word[i], "at") != NULL;
    if (!has_time)
        pvma_reader_complain(r, r->line, "give the time of the failure: at=TIME");
    pvma_reader_options(r, 3, options, &failure);
    check(r, &failure.form);
    unsigned count = pvma_reader_pairs(r, &a, &b);
    for (unsigned i = 0; i < count; i++)
        if (!add_failure(r, pvma_reader_member(r, &a, i), pvma_reader_member(r, &b, i), &failure))
            return;
}
