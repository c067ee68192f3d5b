/* quorum_model.c - see quorum_model.h. */
#include "quorum_model.h"
#include <stdio.h>
#include <string.h>
#include "core/error.h"
#include "pvmd/quorum/quorum.h"

enum { QUEUE = 64, TERMS = 100 };

/* A message on its way. A mask has bit N for node N, whose id is N + 1. */
struct letter {
    uint8_t kind, now, then, led, length;
    uint32_t term, committed;
    struct pvmd_version version, base;
    uint8_t data[MODEL_CHANGES];
};

struct queue {
    uint8_t count;
    struct letter letters[QUEUE];
};

struct node {
    struct pvmd_quorum q;
    uint8_t tables[MODEL_CHANGES]; /* by number of the change, from 1: its name, or 0 if it changed nothing */
};

static struct {
    struct node nodes[MODEL_NODES];
    struct queue queues[MODEL_NODES][MODEL_NODES]; /* from, to */
    uint8_t cut[MODEL_NODES];                      /* masks */
    uint8_t running, unborn, journals;             /* masks */
    uint8_t unloaded;                              /* mask of those that will ask for the tables again */
    uint8_t times[MODEL_DELIVER];                  /* that are left */
    uint8_t names;                                 /* given to changes */
    bool proves_late;                              /* as bounds */
    uint8_t last_terms[MODEL_NODES];               /* of those that have ended: the last that they knew of */
    uint8_t committed;                             /* the last change that any leader has committed */
    uint8_t terms;                                 /* the last one that had a leader */
    uint8_t leaders[TERMS];                        /* masks, by term */
    uint8_t truth[MODEL_CHANGES];                  /* committed changes, as node.tables */
    uint8_t truth_terms[MODEL_CHANGES];            /* of the leaders that committed them first */
} machine;

static const char *fault;
static bool damages;
static uint8_t must_end; /* mask */

static bool has(unsigned mask, unsigned node)
{
    return mask >> node & 1;
}

static unsigned count(unsigned mask)
{
    return (unsigned)__builtin_popcount(mask);
}

static struct pvmd_quorum *core(unsigned node)
{
    return &machine.nodes[node].q;
}

/* ---- links ---- */

static unsigned mask_of(struct pvmd_quorum_set set)
{
    unsigned mask = 0;
    for (unsigned i = 0; i < set.count; i++)
        mask |= 1u << (set.ids[i] - 1);
    return mask;
}

static struct pvmd_quorum_set set_of(unsigned mask, uint32_t ids[MODEL_NODES])
{
    struct pvmd_quorum_set set = {.ids = ids};
    for (unsigned i = 0; i < MODEL_NODES; i++)
        if (has(mask, i))
            ids[set.count++] = i + 1;
    return set;
}

static void cut(unsigned a, unsigned b)
{
    machine.cut[a] |= (uint8_t)(1u << b);
    machine.cut[b] |= (uint8_t)(1u << a);
    machine.queues[a][b].count = machine.queues[b][a].count = 0;
}

static void deliver(unsigned from, unsigned to)
{
    struct queue *queue = &machine.queues[from][to];
    struct letter l = queue->letters[0];
    uint32_t now[MODEL_NODES], then[MODEL_NODES], led[MODEL_NODES];
    memmove(queue->letters, queue->letters + 1, --queue->count * sizeof l);
    struct pvmd_quorum_message m = {.kind = l.kind,
                                    .term = l.term,
                                    .version = l.version,
                                    .base = l.base,
                                    .committed = l.committed,
                                    .now = set_of(l.now, now),
                                    .then = set_of(l.then, then),
                                    .led = set_of(l.led, led),
                                    .data = l.data,
                                    .length = l.length};
    pvmd_quorum_receive(core(to), from + 1, &m);
}

/* ---- events ---- */

static unsigned self_of(void *arg)
{
    return (unsigned)((struct node *)arg - machine.nodes);
}

static void on_send(void *arg, uint32_t id, const struct pvmd_quorum_message *m)
{
    unsigned from = self_of(arg), to = id - 1;
    struct queue *queue = &machine.queues[from][to];
    if (!has(machine.running, to) || has(machine.cut[from], to))
        return;
    if (queue->count == QUEUE || m->length > MODEL_CHANGES) {
        fault = "the model is too small";
        return;
    }
    struct letter *l = &queue->letters[queue->count++];
    *l = (struct letter){.kind = (uint8_t)m->kind,
                         .now = (uint8_t)mask_of(m->now),
                         .then = (uint8_t)mask_of(m->then),
                         .led = (uint8_t)mask_of(m->led),
                         .length = (uint8_t)m->length,
                         .term = m->term,
                         .committed = m->committed,
                         .version = m->version,
                         .base = m->base};
    if (m->length)
        memcpy(l->data, m->data, m->length);
}

static int on_apply(void *arg, const uint8_t *change, size_t length)
{
    struct node *n = arg;
    if (length != 1)
        fault = "a change has arrived damaged";
    if (damages)
        return PVMC_ENOMEM;
    n->tables[n->q.version.seq + 1] = change[0];
    return 0;
}

static void on_save(void *arg, struct pvmc_buf *tables)
{
    struct node *n = arg;
    pvmc_buf_put_bytes(tables, n->tables, n->q.version.seq + 1);
}

static int on_load(void *arg, const uint8_t *tables, size_t length)
{
    struct node *n = arg;
    memset(n->tables, 0, sizeof n->tables);
    if (damages) {
        machine.unloaded |= (uint8_t)(1u << self_of(arg));
        return PVMC_ENOMEM;
    }
    memcpy(n->tables, tables, length);
    return 0;
}

static void on_following(void *arg, uint32_t leader)
{
    if (self_of(arg) == leader - 1)
        fault = "a daemon follows itself";
}

static void on_leading(void *arg)
{
    struct node *n = arg;
    machine.leaders[n->q.term] |= (uint8_t)(1u << self_of(arg));
    if (n->q.term > machine.terms)
        machine.terms = (uint8_t)n->q.term;
    if (count(machine.leaders[n->q.term]) > 1)
        fault = "two members lead in one term";
}

static void on_committed(void *arg, uint32_t seq)
{
    struct node *n = arg;
    if (n->q.role != PVMD_QUORUM_LEADER || seq > n->q.version.seq)
        fault = "a change is committed that its leader does not have";
    for (unsigned i = machine.committed + 1; i <= seq; i++) {
        machine.truth[i] = n->tables[i];
        machine.truth_terms[i] = (uint8_t)n->q.term;
    }
    for (unsigned i = 1; i <= seq; i++)
        if (n->tables[i] != machine.truth[i])
            fault = "two different changes are committed under one number";
    if (seq > machine.committed)
        machine.committed = (uint8_t)seq;
}

static void on_deposed(void *arg)
{
    must_end |= (uint8_t)(1u << self_of(arg));
}

static const struct pvmd_quorum_events events = {.send = on_send,
                                                 .apply = on_apply,
                                                 .save = on_save,
                                                 .load = on_load,
                                                 .following = on_following,
                                                 .leading = on_leading,
                                                 .committed = on_committed,
                                                 .deposed = on_deposed};

/* ---- rules ---- */

static unsigned members_now(unsigned node)
{
    unsigned mask = 0;
    for (unsigned i = 0; i < core(node)->peer_count; i++)
        mask |= (unsigned)core(node)->peers[i].is_now << (core(node)->peers[i].id - 1);
    return mask;
}

static unsigned members_then(unsigned node)
{
    unsigned mask = 0;
    for (unsigned i = 0; i < core(node)->peer_count; i++)
        mask |= (unsigned)core(node)->peers[i].was_then << (core(node)->peers[i].id - 1);
    return mask;
}

static bool is_leader(unsigned node)
{
    return has(machine.running, node) && core(node)->role == PVMD_QUORUM_LEADER;
}

/* Messages to a daemon that has ended are gone; those from it may still arrive until the receiver knows its end. */
static void end(unsigned node, bool is_for_good)
{
    for (unsigned i = 0; i < MODEL_NODES; i++)
        machine.queues[i][node].count = 0;
    bool has_journal = is_leader(node) && core(node)->is_installed && !is_for_good && machine.times[MODEL_RETURN];
    machine.running &= (uint8_t) ~(1u << node);
    machine.unloaded &= (uint8_t) ~(1u << node);
    machine.last_terms[node] = (uint8_t)core(node)->term;
    if (has_journal)
        machine.journals |= (uint8_t)(1u << node);
    else
        machine.nodes[node] = (struct node){0};
}

static bool has_changes(unsigned node, const uint8_t *tables, uint32_t from, uint32_t to)
{
    return to < from || !memcmp(machine.nodes[node].tables + from, tables + from, to - from + 1);
}

static bool leads_without_a_committed_change(unsigned node)
{
    const struct pvmd_quorum *q = core(node);
    for (unsigned i = 1; i <= machine.committed; i++)
        if (machine.truth_terms[i] < q->term &&
            (q->version.seq < i || machine.nodes[node].tables[i] != machine.truth[i]))
            return true;
    return false;
}

static bool counts_what_a_member_lacks(unsigned leader)
{
    for (unsigned i = 0; i < core(leader)->peer_count; i++) {
        const struct pvmd_quorum_peer *p = &core(leader)->peers[i];
        unsigned other = p->id - 1;
        if (other == leader || !has(machine.running, other) || core(other)->term != core(leader)->term)
            continue;
        if (core(other)->version.seq < p->done ||
            (!core(other)->damaged && !has_changes(other, machine.nodes[leader].tables, 1, p->done)))
            return true;
    }
    return false;
}

/* It would come back without the changes that the leader commits because it is dead. */
static bool counts_one_that_may_come_back(unsigned leader)
{
    for (unsigned i = 0; i < core(leader)->peer_count; i++) {
        const struct pvmd_quorum_peer *p = &core(leader)->peers[i];
        if (p->dead && !p->has_led && has(machine.journals, p->id - 1))
            return true;
    }
    return false;
}

static bool differ_in_one_version(unsigned a, unsigned b)
{
    const struct pvmd_quorum *p = core(a), *q = core(b);
    if (p->damaged || q->damaged || p->version.term != q->version.term || p->version.seq != q->version.seq)
        return false;
    return members_now(a) != members_now(b) || !has_changes(a, machine.nodes[b].tables, 1, p->version.seq);
}

const char *model_fault(void)
{
    unsigned known = machine.running | machine.journals;
    for (unsigned i = 0; i < MODEL_NODES && !fault; i++) {
        if (is_leader(i) && leads_without_a_committed_change(i))
            fault = "a leader lacks a change that an earlier one has committed";
        if (is_leader(i) && counts_what_a_member_lacks(i))
            fault = "a leader counts a change that a member lacks";
        if (is_leader(i) && counts_one_that_may_come_back(i))
            fault = "a leader counts a dead member that may come back";
        for (unsigned j = 0; j < i; j++)
            if (has(known, i) && has(known, j) && differ_in_one_version(i, j))
                fault = "two members of one version differ";
    }
    return fault;
}

/* ---- actions ---- */

struct list {
    struct model_action *actions;
    unsigned count;
};

static void add(struct list *list, unsigned kind, unsigned a, unsigned b)
{
    if (kind < MODEL_DELIVER && !machine.times[kind])
        return;
    list->actions[list->count++] = (struct model_action){(uint8_t)kind, (uint8_t)a, (uint8_t)b};
}

/* A proof of death must come from before the time when the dead one may have voted in a later term. */
static bool proves(unsigned node, unsigned other)
{
    if (machine.last_terms[other] > core(node)->term && !machine.proves_late)
        return false;
    if (has(machine.running | machine.unborn, other))
        return false;
    for (unsigned i = 0; i < core(node)->peer_count; i++)
        if (core(node)->peers[i].id == other + 1)
            return !core(node)->peers[i].dead;
    return core(node)->leader == other + 1 && !core(node)->is_installed; /* of a newcomer */
}

/* The first change of each leader, a change of the members, is committed when the next may be made. */
static void add_members(struct list *list, unsigned node)
{
    const struct pvmd_quorum *q = core(node);
    unsigned now = members_now(node);
    if (!pvmd_quorum_is_settled(q) || q->committed < q->version.seq)
        return;
    for (unsigned mask = 1; mask < 1u << MODEL_NODES; mask++) {
        unsigned born = mask & machine.unborn, first = machine.unborn & ~born;
        bool in_order = !born || !first || (first & -first) > born; /* newcomers are alike: the lowest come first */
        if (has(mask, node) && mask != now && !(mask & ~(now | machine.unborn)) && in_order)
            add(list, MODEL_MEMBERS, node, mask);
    }
}

static void add_link(struct list *list, unsigned a, unsigned b)
{
    if (has(machine.running, b) && machine.queues[a][b].count) {
        unsigned kind = machine.queues[a][b].letters[0].kind;
        add(list, MODEL_DELIVER, a, b);
        if (kind == PVMD_QUORUM_CHANGE || kind == PVMD_QUORUM_STATE)
            add(list, MODEL_DAMAGE, a, b);
    }
    if (has(machine.running, a) && proves(a, b))
        add(list, MODEL_PROOF, a, b);
    if (a < b && has(machine.running, a) && has(machine.running, b) && !has(machine.cut[a], b))
        add(list, MODEL_CUT, a, b);
}

static void add_node(struct list *list, unsigned a)
{
    const struct pvmd_quorum *q = core(a);
    if (!has(machine.running, a)) {
        if (has(machine.journals, a))
            add(list, MODEL_RETURN, a, 0);
        return;
    }
    add(list, MODEL_CRASH, a, 0);
    if (has(machine.unloaded, a))
        add(list, MODEL_RELOAD, a, 0);
    if (q->role == PVMD_QUORUM_LEADER && q->version.seq + 2 < MODEL_CHANGES) {
        add(list, MODEL_CHANGE, a, 0);
        add_members(list, a);
    }
    if (!q->leader && q->term + 1 < TERMS)
        add(list, MODEL_CAMPAIGN, a, 0);
    if (q->role == PVMD_QUORUM_FOLLOWER && q->leader) {
        bool is_there = has(machine.running, q->leader - 1) && !has(machine.cut[a], q->leader - 1);
        add(list, is_there ? MODEL_SILENCE : MODEL_LOST, a, 0);
    }
}

unsigned model_actions(struct model_action actions[MODEL_ACTIONS])
{
    struct list list = {.actions = actions};
    for (unsigned a = 0; a < MODEL_NODES; a++) {
        add_node(&list, a);
        for (unsigned b = 0; b < MODEL_NODES; b++)
            add_link(&list, a, b);
    }
    return list.count;
}

static void change(unsigned node, unsigned members)
{
    uint32_t ids[MODEL_NODES];
    struct pvmd_quorum_set set = set_of(members, ids);
    uint8_t name = ++machine.names;
    machine.nodes[node].tables[core(node)->version.seq + 1] = name;
    for (unsigned i = 0; i < MODEL_NODES; i++)
        if (has(members & machine.unborn, i)) {
            pvmd_quorum_join(core(i), i + 1, node + 1, &events, &machine.nodes[i]);
            core(i)->half_elects = core(node)->half_elects;
            machine.running |= (uint8_t)(1u << i);
        }
    machine.unborn &= (uint8_t)~members;
    pvmd_quorum_change(core(node), &name, 1, members ? &set : NULL);
}

static void lose_leader(unsigned node)
{
    unsigned leader = core(node)->leader - 1;
    if (has(machine.running, leader))
        cut(node, leader);
    machine.queues[leader][node].count = 0;
    pvmd_quorum_leader_lost(core(node));
}

/* Its links are new. */
static void come_back(unsigned node)
{
    struct pvmd_quorum *q = core(node);
    q->role = PVMD_QUORUM_FOLLOWER;
    q->leader = 0;
    machine.running |= (uint8_t)(1u << node);
    machine.journals &= (uint8_t) ~(1u << node);
    machine.cut[node] = 0;
    for (unsigned i = 0; i < MODEL_NODES; i++) {
        machine.cut[i] &= (uint8_t) ~(1u << node);
        machine.queues[node][i].count = 0;
        if (has(machine.running, i) && core(i)->leader == node + 1)
            pvmd_quorum_leader_lost(core(i));
    }
}

void model_do(struct model_action action)
{
    unsigned a = action.a, b = action.b;
    bool led;
    if (action.kind < MODEL_DELIVER)
        machine.times[action.kind]--;
    switch (action.kind) {
    case MODEL_CHANGE:
        change(a, 0);
        break;
    case MODEL_MEMBERS:
        change(a, b);
        break;
    case MODEL_CRASH:
        end(a, false);
        break;
    case MODEL_CUT:
        cut(a, b);
        break;
    case MODEL_SILENCE:
    case MODEL_LOST:
        lose_leader(a);
        break;
    case MODEL_CAMPAIGN:
        pvmd_quorum_campaign(core(a));
        break;
    case MODEL_RETURN:
        come_back(a);
        break;
    case MODEL_RELOAD:
        machine.unloaded &= (uint8_t) ~(1u << a);
        pvmd_quorum_ask_tables(core(a));
        break;
    case MODEL_PROOF:
        machine.queues[b][a].count = 0;
        pvmd_quorum_dead(core(a), b + 1);
        break;
    default:
        damages = action.kind == MODEL_DAMAGE;
        led = is_leader(b) && core(b)->is_installed; /* if not, it may give way */
        deliver(a, b);
        damages = false;
        if (led && !is_leader(b) && !has(must_end, b))
            fault = "a leader leads no more, and does not know";
    }
    for (; must_end; must_end &= (uint8_t)(must_end - 1))
        end((unsigned)__builtin_ctz(must_end), true);
}

void model_print(struct model_action action)
{
    static const char *const names[MODEL_KINDS] = {"changes",  "sets members", "crashes",         "gives up leader",
                                                   "cut from", "campaigns",    "is back",         "damages",
                                                   "delivers", "has proof of", "lost its leader", "asks for tables"};
    static const char *const kinds[] = {"",        "CHANGE", "STATE", "COMMITTED", "DONE",
                                        "LACKING", "ASK",    "VOTE",  "REFUSED"};
    const struct letter *l = &machine.queues[action.a][action.b].letters[0];
    bool has_letter = action.kind == MODEL_DELIVER || action.kind == MODEL_DAMAGE;
    printf("  %u %s", action.a + 1, names[action.kind]);
    for (unsigned i = 0; action.kind == MODEL_MEMBERS && i < MODEL_NODES; i++)
        if (has(action.b, i))
            printf(" %u", i + 1);
    if (has_letter || action.kind == MODEL_PROOF || action.kind == MODEL_CUT)
        printf(" %u", action.b + 1);
    if (has_letter)
        printf(": %s term %u, version %u.%u", kinds[l->kind], l->term, l->version.term, l->version.seq);
    printf("\n");
}

/* ---- a machine as a whole ---- */

static void deliver_all(void)
{
    for (bool more = true; more;) {
        more = false;
        for (unsigned a = 0; a < MODEL_NODES; a++)
            for (unsigned b = 0; b < MODEL_NODES; b++)
                if (has(machine.running, b) && machine.queues[a][b].count) {
                    model_do((struct model_action){MODEL_DELIVER, (uint8_t)a, (uint8_t)b});
                    more = true;
                }
    }
}

void model_begin(const struct model_bounds *bounds)
{
    memset(&machine, 0, sizeof machine);
    fault = NULL;
    machine.running = machine.leaders[1] = machine.terms = 1;
    machine.unborn = (1u << MODEL_NODES) - 2;
    pvmd_quorum_found(core(0), 1, &events, &machine.nodes[0]);
    core(0)->half_elects = bounds->half_elects;
    machine.proves_late = bounds->proves_late;
    if (bounds->members > 1)
        change(0, (1u << bounds->members) - 1);
    deliver_all();
    for (unsigned i = 0; i < MODEL_DELIVER; i++)
        machine.times[i] = (uint8_t)bounds->times[i];
}

static unsigned most_advanced_leader(void)
{
    unsigned best = MODEL_NODES;
    for (unsigned i = 0; i < MODEL_NODES; i++)
        if (is_leader(i) && (best == MODEL_NODES || core(i)->term > core(best)->term))
            best = i;
    return best;
}

/* It cannot lead; but if it has a leader, it gets its tables. */
static bool is_damaged_for_long(unsigned node)
{
    const struct pvmd_quorum *q = core(node);
    bool has_leader = q->leader && is_leader(q->leader - 1) && core(q->leader - 1)->term == q->term;
    return q->damaged && !(has_leader && has(machine.unloaded, node));
}

/* A newcomer without tables helps the others with its vote. */
bool model_is_healthy(void)
{
    unsigned able = machine.running, with_tables = 0;
    for (unsigned i = 0; i < MODEL_NODES; i++) {
        unsigned now = members_now(i), then = members_then(i);
        if (!has(able, i))
            continue;
        if (machine.cut[i] & machine.running)
            return false;
        if (!now)
            continue;
        with_tables |= 1u << i;
        if (is_damaged_for_long(i) || 2 * count(now & able) <= count(now) ||
            (then && 2 * count(then & now & able) <= count(then)))
            return false;
    }
    return with_tables;
}

static void notice_losses(void)
{
    struct model_action actions[MODEL_ACTIONS];
    deliver_all();
    unsigned n = model_actions(actions);
    for (unsigned i = 0; i < n; i++)
        if (actions[i].kind == MODEL_LOST || actions[i].kind == MODEL_PROOF || actions[i].kind == MODEL_RELOAD)
            model_do(actions[i]);
    deliver_all();
}

bool model_recovers(void)
{
    memset(machine.times, 0, sizeof machine.times);
    notice_losses();
    for (unsigned turn = 0; turn < 3 * 3 * MODEL_NODES; turn++)
        if (has(machine.running, turn / 3 % MODEL_NODES)) {
            pvmd_quorum_campaign(core(turn / 3 % MODEL_NODES));
            notice_losses();
        }
    if (!model_is_healthy()) /* a deposed leader has ended */
        return true;
    unsigned leader = most_advanced_leader();
    if (leader == MODEL_NODES)
        return false;
    change(leader, 0);
    deliver_all();
    const struct pvmd_quorum *q = core(leader);
    for (unsigned i = 0; i < MODEL_NODES; i++)
        if (has(machine.running & members_now(leader), i) &&
            (core(i)->lacking || core(i)->version.seq != q->version.seq || differ_in_one_version(i, leader)))
            return false;
    return q->committed == q->version.seq;
}

/* ---- bytes ---- */

struct codec {
    uint8_t *at;
    bool reads;
};

static void code_bytes(struct codec *c, void *bytes, size_t length)
{
    if (c->reads)
        memcpy(bytes, c->at, length);
    else
        memcpy(c->at, bytes, length);
    c->at += length;
}

static void code_u32(struct codec *c, uint32_t *v)
{
    if (c->reads)
        *v = *c->at;
    else
        *c->at = (uint8_t)*v;
    c->at++;
}

static void code_version(struct codec *c, struct pvmd_version *v)
{
    code_u32(c, &v->term);
    code_u32(c, &v->seq);
}

static void code_peer(struct codec *c, struct pvmd_quorum_peer *p)
{
    bool *flags[] = {&p->is_now, &p->was_then, &p->voted, &p->dead, &p->has_led, &p->in_step};
    uint32_t bits = 0;
    for (unsigned i = 0; i < 6; i++)
        bits |= (uint32_t)*flags[i] << i;
    code_u32(c, &p->id);
    code_u32(c, &bits);
    code_u32(c, &p->done);
    for (unsigned i = 0; i < 6; i++)
        *flags[i] = bits >> i & 1;
}

static void code_node(struct codec *c, struct node *n, unsigned id)
{
    struct pvmd_quorum *q = &n->q;
    uint32_t role = q->role;
    q->events = &events;
    q->arg = n;
    q->self = id;
    code_u32(c, &role);
    q->role = role;
    code_u32(c, &q->leader);
    code_u32(c, &q->term);
    code_u32(c, &q->voted_for);
    code_version(c, &q->version);
    code_u32(c, &q->committed);
    code_u32(c, &q->members_seq);
    code_bytes(c, &q->lacking, 1);
    code_bytes(c, &q->damaged, 1);
    code_bytes(c, &q->half_elects, 1);
    code_bytes(c, &q->is_installed, 1);
    code_bytes(c, &q->is_patient, 1);
    code_bytes(c, &q->has_waited, 1);
    code_u32(c, &q->renewing);
    code_u32(c, &q->peer_count);
    for (unsigned i = 0; i < q->peer_count; i++)
        code_peer(c, &q->peers[i]);
    if (c->reads)
        memset(n->tables, 0, sizeof n->tables);
    code_bytes(c, n->tables, q->version.seq + 1);
}

static void code_queue(struct codec *c, struct queue *queue)
{
    code_bytes(c, &queue->count, 1);
    for (unsigned i = 0; i < queue->count; i++) {
        struct letter *l = &queue->letters[i];
        code_bytes(c, l, offsetof(struct letter, length) + 1);
        code_u32(c, &l->term);
        code_u32(c, &l->committed);
        code_version(c, &l->version);
        code_version(c, &l->base);
        code_bytes(c, l->data, l->length);
    }
}

static size_t code(uint8_t *bytes, bool reads)
{
    struct codec c = {.at = bytes, .reads = reads};
    code_bytes(&c, machine.cut, offsetof(__typeof__(machine), leaders) - offsetof(__typeof__(machine), cut));
    code_bytes(&c, machine.leaders, machine.terms + 1u);
    code_bytes(&c, machine.truth, machine.committed + 1u);
    code_bytes(&c, machine.truth_terms, machine.committed + 1u);
    for (unsigned i = 0; i < MODEL_NODES; i++) {
        if (has(machine.running | machine.journals, i))
            code_node(&c, &machine.nodes[i], i + 1);
        else if (reads)
            machine.nodes[i] = (struct node){0};
        for (unsigned j = 0; j < MODEL_NODES; j++)
            if (i != j)
                code_queue(&c, &machine.queues[i][j]);
    }
    return (size_t)(c.at - bytes);
}

size_t model_write(uint8_t *bytes)
{
    return code(bytes, false);
}

void model_read(const uint8_t *bytes)
{
    fault = NULL;
    memset(machine.leaders, 0, sizeof machine.leaders);
    code((uint8_t *)bytes, true);
}
