/* topology_lines.c - parsers of the kinds of lines. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "topology_reader.h"

enum { LINKS_MAX = 8192 };

void *pvma_reader_more(void **list, size_t *count, size_t size)
{
    if ((*count & (*count - 1)) == 0) /* a power of two or 0: full */
        *list = pvma_renew(*list, (*count ? 2 * *count : 1) * size);
    return memset((char *)*list + (*count)++ * size, 0, size);
}

bool pvma_reader_is_name(const char *text)
{
    if (!isalpha((unsigned char)*text))
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("-_.", *text))
            return false;
    return true;
}

char *pvma_reader_take(struct pvma_reader *r, unsigned first, const char *key)
{
    char *found = NULL;
    for (unsigned i = first; i < r->words; i++) {
        const char *value = pvma_reader_value(r->word[i], key);
        if (!value)
            continue;
        if (found)
            pvma_reader_complain(r, r->line, "%s= is given twice; give it once", key);
        found = (char *)value;
        r->word[i] = (char *)"";
    }
    return found;
}

/* ---- profiles ---- */

static const struct pvma_profile *find_profile(const struct pvma_topology *t, const char *name)
{
    for (size_t i = 0; i < t->profile_count; i++)
        if (!strcmp(t->profiles[i]->name, name))
            return t->profiles[i];
    return pvma_profile_find(name);
}

static void set_cost(struct pvma_reader *r, struct pvma_profile *profile, char *word)
{
    char *value = strchr(word, '=');
    if (!value) {
        pvma_reader_complain(r, r->line, "\"%.40s\" is not a cost; write cost=value", word);
        return;
    }
    *value++ = 0;
    enum pvma_cost cost = pvma_cost_find(word);
    if (cost == PVMA_COST_COUNT) {
        pvma_reader_complain(r, r->line, "there is no cost \"%.40s\"; see: atm-sim profiles", word);
    } else if (pvma_cost_parse(cost, value, &profile->cost[cost])) {
        pvma_reader_complain(r, r->line, "%s=%.40s is out of range or of the wrong kind (%s)", word, value,
                             pvma_cost_help(cost));
    } else {
        profile->origin[cost] = PVMA_CHOSEN;
    }
}

static bool profile_is_sound(const struct pvma_profile *p)
{
    return p->cost[PVMA_COST_tx_queue] && p->cost[PVMA_COST_rx_queue] && p->cost[PVMA_COST_tx_fifo] &&
           p->cost[PVMA_COST_rx_fifo] && p->cost[PVMA_COST_mtu];
}

void pvma_read_profile(struct pvma_reader *r)
{
    struct pvma_topology *t = r->t;
    char *like = pvma_reader_take(r, 2, "like");
    const struct pvma_profile *base = like ? find_profile(t, like) : NULL;
    if (!pvma_reader_is_name(r->word[1]) || strlen(r->word[1]) > PVMA_NAME_MAX || find_profile(t, r->word[1])) {
        pvma_reader_complain(r, r->line, "the name of profile \"%.40s\" is taken or invalid; choose another",
                             r->word[1]);
        return;
    }
    if (!base) {
        pvma_reader_complain(r, r->line, "name the profile to start from: like=hp735 (see: atm-sim profiles)");
        return;
    }
    struct pvma_profile *profile = pvma_profile_copy(base, r->word[1]);
    struct pvma_profile **place = pvma_reader_more((void **)&t->profiles, &t->profile_count, sizeof *place);
    *place = profile;
    for (unsigned i = 2; i < r->words; i++)
        if (*r->word[i])
            set_cost(r, profile, r->word[i]);
    if (!profile_is_sound(profile))
        pvma_reader_complain(r, r->line, "queues, FIFOs and MTU must not be 0");
}

/* ---- nodes ---- */

void pvma_reader_nodes(struct pvma_reader *r, const struct pvma_topo_node *form)
{
    struct pvma_topology *t = r->t;
    struct pvma_range range;
    if (!pvma_range_parse(r, r->word[1], &range))
        return;
    for (unsigned i = 0; i < range.count; i++) {
        char name[PVMA_NAME_MAX + 1];
        bool fits = pvma_range_name(&range, i, name);
        if (!fits || !pvma_reader_is_name(name)) {
            pvma_reader_complain(r, r->line, "\"%.40s\" is not a name; use letters, digits, '-', '_' and '.'", name);
            return;
        }
        int other = pvma_topology_node(t, name);
        if (other >= 0) {
            pvma_reader_complain(r, r->line, "%s is already declared on line %u; give it another name", name,
                                 t->nodes[other].line);
            return;
        }
        if (t->node_count == PVMA_TOPOLOGY_NODES_MAX) {
            pvma_reader_complain(r, r->line, "more than %d nodes; simulate fewer", PVMA_TOPOLOGY_NODES_MAX);
            return;
        }
        struct pvma_topo_node *node = pvma_reader_more((void **)&t->nodes, &t->node_count, sizeof *node);
        *node = *form;
        node->line = r->line;
        strcpy(node->name, name);
    }
}

void pvma_read_host(struct pvma_reader *r)
{
    static const struct pvma_option options[] = {
        {"adapters", PVMA_OPTION_COUNT, offsetof(struct pvma_topo_node, adapters), 1, 16, NULL},
        {"vcis", PVMA_OPTION_COUNT, offsetof(struct pvma_topo_node, vcis), 1, 65000, NULL},
        {0}};
    char *name = pvma_reader_take(r, 2, "profile");
    struct pvma_topo_node form = {.is_host = true, .profile = find_profile(r->t, name ? name : "ideal"), .adapters = 1};
    pvma_reader_options(r, 2, options, &form);
    if (form.profile)
        pvma_reader_nodes(r, &form);
    else
        pvma_reader_complain(r, r->line, "there is no profile \"%.40s\"; see: atm-sim profiles", name);
}

/* ---- links ---- */

int pvma_reader_member(struct pvma_reader *r, const struct pvma_range *range, unsigned index)
{
    char name[PVMA_NAME_MAX + 1];
    int node = -1;
    if (pvma_range_name(range, range->count == 1 ? 0 : index, name))
        node = pvma_topology_node(r->t, name);
    if (node < 0)
        pvma_reader_complain(r, r->line, "there is no node \"%.40s\"; declare it on an earlier line", name);
    return node;
}

/* Takes the next free port of a node; -1 after a message when there is none. */
static int free_port(struct pvma_reader *r, unsigned number)
{
    struct pvma_topo_node *node = &r->t->nodes[number];
    unsigned ports = node->is_host ? node->adapters : node->sw.ports;
    if (node->links < ports)
        return (int)node->links++;
    if (node->is_host)
        pvma_reader_complain(r, r->line, "host %s has a link already at each of its adapters; give it adapters=%u",
                             node->name, ports + 1);
    else
        pvma_reader_complain(r, r->line, "switch %s has used all %u ports; give it ports=N", node->name, ports);
    return -1;
}

static bool add_link(struct pvma_reader *r, int a, int b, const struct pvma_link_options *options)
{
    struct pvma_topology *t = r->t;
    if (a < 0 || b < 0)
        return false;
    if (a == b || t->link_count == LINKS_MAX) {
        pvma_reader_complain(r, r->line, a == b ? "a link leads from %s to itself" : "too many links at %s",
                             t->nodes[a].name);
        return false;
    }
    int a_port = free_port(r, (unsigned)a), b_port = free_port(r, (unsigned)b);
    if (a_port < 0 || b_port < 0)
        return false;
    struct pvma_topo_link *link = pvma_reader_more((void **)&t->links, &t->link_count, sizeof *link);
    *link = (struct pvma_topo_link){r->line, (unsigned)a, (unsigned)b, (unsigned)a_port, (unsigned)b_port, *options};
    return true;
}

unsigned pvma_reader_pairs(struct pvma_reader *r, struct pvma_range *a, struct pvma_range *b)
{
    if (!pvma_range_parse(r, r->word[1], a) || !pvma_range_parse(r, r->word[2], b))
        return 0;
    if (a->count != b->count && a->count != 1 && b->count != 1) {
        pvma_reader_complain(r, r->line, "%u nodes and %u: ranges of a link must have equal lengths, or one be a node",
                             a->count, b->count);
        return 0;
    }
    return a->count > b->count ? a->count : b->count;
}

void pvma_read_link(struct pvma_reader *r)
{
#define FIELD(name) offsetof(struct pvma_link_options, name)
    static const struct pvma_option options[] = {{"rate", PVMA_OPTION_RATE, FIELD(rate_bps), 0, 0, NULL},
                                                 {"delay", PVMA_OPTION_TIME, FIELD(propagation), 0, 0, NULL},
                                                 {"loss", PVMA_OPTION_CHANCE, FIELD(cell_loss), 0, 0, NULL},
                                                 {"ber", PVMA_OPTION_CHANCE, FIELD(bit_error_rate), 0, 0, NULL},
                                                 {"t309", PVMA_OPTION_TIME, FIELD(t309), 0, 0, NULL},
                                                 {0}};
#undef FIELD
    struct pvma_link_options link = {.rate_bps = PVMA_RATE_OC3, .t309 = 10 * PVMA_S};
    struct pvma_range a, b;
    pvma_reader_options(r, 3, options, &link);
    if (link.t309 < PVMA_MS)
        pvma_reader_complain(r, r->line, "t309 is a time of 1ms or more");
    unsigned count = pvma_reader_pairs(r, &a, &b);
    for (unsigned i = 0; i < count; i++)
        if (!add_link(r, pvma_reader_member(r, &a, i), pvma_reader_member(r, &b, i), &link))
            return;
}

/* ---- VCs ---- */

int pvma_reader_node(struct pvma_reader *r, const char *name, bool host)
{
    int node = pvma_topology_node(r->t, name);
    if (node >= 0 && r->t->nodes[node].is_host == host)
        return node;
    pvma_reader_complain(r, r->line, "there is no %s \"%.40s\"; declare it on an earlier line",
                         host ? "host" : "switch", name);
    return -1;
}

/* What a combination of options lacks; NULL when they go together. */
static const char *contradiction(const struct pvma_reader_service *o, enum pvma_flow flow)
{
    if (o->service != PVMA_ABR)
        return o->minimum_bps || o->initial_bps ? "mcr and icr are rates of service=abr" : NULL;
    if (flow != PVMA_DUPLEX)
        return "service=abr needs flow=duplex, since its resource-management cells come back";
    if (o->mean_bps || o->burst_cells)
        return "service=abr has no mean and no burst; give its minimum, mcr=RATE";
    if (o->peak_bps && (o->minimum_bps > o->peak_bps || o->initial_bps > o->peak_bps))
        return "mcr and icr must not exceed the peak";
    return NULL;
}

void pvma_reader_service(struct pvma_reader *r, const struct pvma_reader_service *from, struct pvma_contract *contract)
{
    const char *wrong = contradiction(from, contract->flow);
    if (wrong)
        pvma_reader_complain(r, r->line, "%s", wrong);
    int64_t mean_bps = from->service == PVMA_ABR ? from->minimum_bps : from->mean_bps;
    struct pvma_bandwidth bandwidth = {from->peak_bps, mean_bps, (int32_t)from->burst_cells};
    contract->service = (enum pvma_service)from->service;
    contract->initial_bps = from->initial_bps;
    contract->wanted = contract->minimum = bandwidth;
    if (contract->flow == PVMA_DUPLEX)
        contract->back_wanted = contract->back_minimum = bandwidth;
}

struct pvc_options {
    struct pvma_contract contract;
    struct pvma_reader_service service;
    int flow;
};

void pvma_read_pvc(struct pvma_reader *r)
{
#define FIELD(name) offsetof(struct pvc_options, name)
    static const struct pvma_option options[] = {{"aal", PVMA_OPTION_AAL, FIELD(contract.aal), 0, 0, NULL},
                                                 {"flow", PVMA_OPTION_CHOICE, FIELD(flow), 0, 0, "simplex|duplex"},
                                                 PVMA_SERVICE_OPTIONS(struct pvc_options, service),
                                                 {"paced", PVMA_OPTION_FLAG, FIELD(contract.paced), 0, 0, NULL},
                                                 {0}};
#undef FIELD
    struct pvc_options o = {.contract.aal = PVMA_AAL5, .flow = PVMA_DUPLEX};
    pvma_reader_options(r, 3, options, &o);
    int from = pvma_reader_node(r, r->word[1], true), to = pvma_reader_node(r, r->word[2], true);
    if (from < 0 || to < 0)
        return;
    if (from == to || r->t->pvc_count == PVMA_LIST_MAX) {
        pvma_reader_complain(r, r->line, "a PVC leads from one host to another, and there are at most %d",
                             PVMA_LIST_MAX);
        return;
    }
    if (o.contract.paced && !o.service.peak_bps)
        pvma_reader_complain(r, r->line, "paced=yes needs the rate to pace to: peak=RATE");
    o.contract.flow = (enum pvma_flow)o.flow;
    pvma_reader_service(r, &o.service, &o.contract);
    struct pvma_topo_pvc *pvc = pvma_reader_more((void **)&r->t->pvcs, &r->t->pvc_count, sizeof *pvc);
    *pvc = (struct pvma_topo_pvc){r->line, (unsigned)from, (unsigned)to, o.contract};
}
