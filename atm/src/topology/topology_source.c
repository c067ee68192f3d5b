/* topology_source.c - the line of a background source. */
#include <string.h>
#include "topology_reader.h"

enum { SLOTS_MAX = 1000000 }; /* between two cells in the mean: each slot is a draw */

static void check_options(struct pvma_reader *r, const struct pvma_source_options *o)
{
    if (!o->rate_bps)
        pvma_reader_complain(r, r->line, "give the rate: rate=RATE");
    if (o->type == PVMA_ONOFF && (o->on_mean < PVMA_US || o->off_mean < PVMA_US))
        pvma_reader_complain(r, r->line, "type=onoff needs on=TIME and off=TIME, of 1us or more");
    bool rare = o->slot_bps / SLOTS_MAX > o->rate_bps;
    if (o->type == PVMA_BERNOULLI && (o->slot_bps < o->rate_bps || rare))
        pvma_reader_complain(r, r->line,
                             "type=bernoulli needs the rate of its slots, 1 to %d times that of its cells: slot=RATE",
                             SLOTS_MAX);
    if (o->type == PVMA_ONOFF && o->spacing == PVMA_SPACING_CONSTANT && o->rate_bps &&
        o->on_mean < pvma_link_cell_time(o->rate_bps))
        pvma_reader_complain(r, r->line, "spacing=constant needs at least a cell's time in on=TIME");
    if (o->stop && o->stop <= o->start)
        pvma_reader_complain(r, r->line, "the source stops before it starts");
}

/* Resolves the hosts to which a source sends; its own host is left out of a range. */
static bool find_targets(struct pvma_reader *r, struct pvma_topo_source *source, const struct pvma_range *to)
{
    source->to = pvma_new(to->count * sizeof *source->to);
    for (unsigned i = 0; i < to->count; i++) {
        char name[PVMA_NAME_MAX + 1];
        int node = pvma_range_name(to, i, name) ? pvma_reader_node(r, name, true) : -1;
        if (node < 0)
            return false;
        if ((unsigned)node != source->from)
            source->to[source->to_count++] = (unsigned)node;
    }
    if (!source->to_count)
        pvma_reader_complain(r, r->line, "the source leads to its own host; give another: to=HOST");
    return source->to_count != 0;
}

/* The list's new element for a name; NULL after a message when the name is taken or invalid. */
static struct pvma_topo_source *new_source(struct pvma_reader *r, const char *name)
{
    struct pvma_topology *t = r->t;
    for (size_t i = 0; i < t->source_count; i++) {
        if (strcmp(t->sources[i].name, name))
            continue;
        pvma_reader_complain(r, r->line, "source %s is already declared on line %u; give it another name", name,
                             t->sources[i].line);
        return NULL;
    }
    if (!pvma_reader_is_name(name) || t->source_count == PVMA_LIST_MAX) {
        pvma_reader_complain(r, r->line, "\"%.40s\" is not a name, or there are more than %d sources", name,
                             PVMA_LIST_MAX);
        return NULL;
    }
    struct pvma_topo_source *source = pvma_reader_more((void **)&t->sources, &t->source_count, sizeof *source);
    source->line = r->line;
    strcpy(source->name, name);
    return source;
}

/* Where sources are: their names, the nodes at which they are, the hosts to which they send, and by what VCs. */
struct places {
    struct pvma_range names, from, to;
    bool in_switch;
    const char *to_name;
    struct pvma_contract contract;
};

/* What the words of a line set. */
struct source_options {
    struct pvma_source_options source;
    struct pvma_reader_service service;
};

/* A source at hosts has VCs of a service; its ABR cells are controlled, so their VCs are duplex. */
static struct pvma_contract contract_of(struct pvma_reader *r, const struct source_options *o, bool in_switch)
{
    struct pvma_contract contract = {.aal = PVMA_AAL_RAW,
                                     .flow = o->service.service == PVMA_ABR ? PVMA_DUPLEX : PVMA_SIMPLEX};
    const struct pvma_reader_service *s = &o->service;
    pvma_reader_service(r, s, &contract);
    if (in_switch && (s->service || s->peak_bps || s->mean_bps || s->burst_cells))
        pvma_reader_complain(r, r->line,
                             "a source in a switch has no VC, so it has no service and no peak, mean, burst");
    return contract;
}

static bool add_source(struct pvma_reader *r, const struct places *places, unsigned index,
                       const struct pvma_source_options *o)
{
    char name[PVMA_NAME_MAX + 1], from[PVMA_NAME_MAX + 1];
    if (!pvma_range_name(&places->names, index, name) || !pvma_range_name(&places->from, index, from)) {
        pvma_reader_complain(r, r->line, "a name is too long; at most %d characters are allowed", PVMA_NAME_MAX);
        return false;
    }
    int node = pvma_reader_node(r, from, !places->in_switch);
    struct pvma_topo_source *source = node >= 0 ? new_source(r, name) : NULL;
    if (!source)
        return false;
    source->in_switch = places->in_switch;
    source->from = (unsigned)node;
    source->options = *o;
    source->contract = places->contract;
    if (places->in_switch)
        return true;
    snprintf(source->to_name, sizeof source->to_name, "%s", places->to_name);
    return find_targets(r, source, &places->to);
}

void pvma_read_source(struct pvma_reader *r)
{
#define FIELD(name) offsetof(struct source_options, source.name)
    static const struct pvma_option options[] = {
        {"type", PVMA_OPTION_CHOICE, FIELD(type), 0, 0, "cbr|poisson|onoff|bernoulli"},
        {"rate", PVMA_OPTION_RATE, FIELD(rate_bps), 0, 0, NULL},
        {"off-rate", PVMA_OPTION_RATE, FIELD(off_rate_bps), 0, 0, NULL},
        {"slot", PVMA_OPTION_RATE, FIELD(slot_bps), 0, 0, NULL},
        {"spacing", PVMA_OPTION_CHOICE, FIELD(spacing), 0, 0, "random|constant"},
        {"on", PVMA_OPTION_TIME, FIELD(on_mean), 0, 0, NULL},
        {"off", PVMA_OPTION_TIME, FIELD(off_mean), 0, 0, NULL},
        {"start", PVMA_OPTION_TIME, FIELD(start), 0, 0, NULL},
        {"stop", PVMA_OPTION_TIME, FIELD(stop), 0, 0, NULL},
        {"copy", PVMA_OPTION_CHANCE, FIELD(copy), 0, 0, NULL},
        PVMA_SERVICE_OPTIONS(struct source_options, service),
        {0}};
#undef FIELD
    struct source_options o = {.source.copy = 0.5};
    char *at = pvma_reader_take(r, 2, "at"), *from = pvma_reader_take(r, 2, "from"), *to = pvma_reader_take(r, 2, "to");
    pvma_reader_options(r, 2, options, &o);
    check_options(r, &o.source);
    if (at ? from || to : !from || !to) {
        pvma_reader_complain(r, r->line, "give its place: at=SWITCH, or from=HOST to=HOST");
        return;
    }
    struct places places = {.in_switch = at != NULL, .to_name = to, .contract = contract_of(r, &o, at != NULL)};
    if (!pvma_range_parse(r, r->word[1], &places.names) || !pvma_range_parse(r, at ? at : from, &places.from) ||
        (to && !pvma_range_parse(r, to, &places.to)))
        return;
    if (places.names.count != places.from.count) {
        pvma_reader_complain(r, r->line, "%u names for sources at %u nodes: ranges must have equal lengths",
                             places.names.count, places.from.count);
        return;
    }
    for (unsigned i = 0; i < places.names.count; i++)
        if (!add_source(r, &places, i, &o.source))
            return;
}
