/* quorum.c - see quorum.h. */
#include "quorum.h"
#include <string.h>
#include "core/error.h"

static struct pvmd_quorum_peer *peer_of(struct pvmd_quorum *q, uint32_t id)
{
    for (unsigned i = 0; i < q->peer_count; i++)
        if (q->peers[i].id == id)
            return &q->peers[i];
    return NULL;
}

static struct pvmd_quorum_peer *peer_added(struct pvmd_quorum *q, uint32_t id)
{
    struct pvmd_quorum_peer *p = peer_of(q, id);
    if (p)
        return p;
    p = &q->peers[q->peer_count++];
    *p = (struct pvmd_quorum_peer){.id = id};
    return p;
}

static int compare(struct pvmd_version a, struct pvmd_version b)
{
    if (a.term != b.term)
        return a.term < b.term ? -1 : 1;
    return a.seq < b.seq ? -1 : a.seq > b.seq;
}

/* ---- members ---- */

bool pvmd_quorum_is_settled(const struct pvmd_quorum *q)
{
    return q->committed >= q->members_seq;
}

static void drop_former_members(struct pvmd_quorum *q)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < q->peer_count; i++)
        if (q->peers[i].is_now || q->peers[i].was_then)
            q->peers[kept++] = q->peers[i];
    q->peer_count = kept;
}

static void settle(struct pvmd_quorum *q)
{
    if (!pvmd_quorum_is_settled(q))
        return;
    for (unsigned i = 0; i < q->peer_count; i++)
        q->peers[i].was_then = false;
    drop_former_members(q);
}

/* The members from the change `seq` on. Those before count until this change is known to be committed. */
static void set_members(struct pvmd_quorum *q, const struct pvmd_quorum_set *now, uint32_t seq)
{
    for (unsigned i = 0; i < q->peer_count; i++) {
        q->peers[i].was_then = q->peers[i].is_now;
        q->peers[i].is_now = false;
    }
    drop_former_members(q); /* makes room */
    for (unsigned i = 0; i < now->count; i++)
        peer_added(q, now->ids[i])->is_now = true;
    q->members_seq = seq;
}

static bool contains(const struct pvmd_quorum_set *set, uint32_t id)
{
    for (unsigned i = 0; i < set->count; i++)
        if (set->ids[i] == id)
            return true;
    return false;
}

/* The same, from those that come and go. Changes nothing and returns false if they may be too many. */
static bool change_members(struct pvmd_quorum *q, const struct pvmd_quorum_message *m)
{
    unsigned count = m->joined.count;
    for (unsigned i = 0; i < q->peer_count; i++)
        count += q->peers[i].is_now && !contains(&m->left, q->peers[i].id);
    if (count > PVMD_QUORUM_MAX)
        return false;
    for (unsigned i = 0; i < q->peer_count; i++)
        q->peers[i].was_then = q->peers[i].is_now;
    drop_former_members(q);
    for (unsigned i = 0; i < m->left.count; i++) {
        struct pvmd_quorum_peer *p = peer_of(q, m->left.ids[i]);
        if (p)
            p->is_now = false;
    }
    for (unsigned i = 0; i < m->joined.count; i++)
        peer_added(q, m->joined.ids[i])->is_now = true;
    q->members_seq = m->version.seq;
    return true;
}

/* Makes `now` the members at the leader, and tells in the message who of them is new, and who has gone. */
static void replace_members(struct pvmd_quorum *q, const struct pvmd_quorum_set *now, struct pvmd_quorum_message *m)
{
    static uint32_t joined[PVMD_QUORUM_MAX], left[PVMD_QUORUM_MAX];
    set_members(q, now, m->version.seq);
    for (unsigned i = 0; i < q->peer_count; i++) {
        const struct pvmd_quorum_peer *p = &q->peers[i];
        if (p->is_now && !p->was_then)
            joined[m->joined.count++] = p->id;
        else if (!p->is_now)
            left[m->left.count++] = p->id;
    }
    m->joined.ids = joined;
    m->left.ids = left;
}

/* ---- counting ---- */

static bool has_change(const struct pvmd_quorum *q, const struct pvmd_quorum_peer *p, uint32_t seq)
{
    return p->id == q->self || p->done >= seq || (p->dead && !p->has_led);
}

/* Whether at least half of the members have it, and of those before, if they still count. */
static bool is_committed(const struct pvmd_quorum *q, uint32_t seq)
{
    unsigned now = 0, now_has = 0, then = 0, then_has = 0;
    for (unsigned i = 0; i < q->peer_count; i++) {
        const struct pvmd_quorum_peer *p = &q->peers[i];
        bool has = has_change(q, p, seq);
        now += p->is_now;
        now_has += p->is_now && has;
        then += p->was_then;
        then_has += p->was_then && has;
    }
    return 2 * now_has >= now && 2 * then_has >= then;
}

static bool is_enough(const struct pvmd_quorum *q, unsigned votes, unsigned members)
{
    return !members || (q->half_elects ? 2 * votes >= members : 2 * votes > members);
}

static bool is_elected(const struct pvmd_quorum *q)
{
    unsigned now = 0, now_voted = 0, then = 0, then_voted = 0;
    for (unsigned i = 0; i < q->peer_count; i++) {
        const struct pvmd_quorum_peer *p = &q->peers[i];
        now += p->is_now;
        now_voted += p->is_now && p->voted;
        then += p->was_then;
        then_voted += p->was_then && p->voted;
    }
    return is_enough(q, now_voted, now) && is_enough(q, then_voted, then);
}

/* ---- sending ---- */

static struct pvmd_quorum_message message(const struct pvmd_quorum *q, enum pvmd_quorum_kind kind)
{
    return (struct pvmd_quorum_message){
        .kind = kind, .term = q->term, .version = q->version, .committed = q->committed};
}

static void send_simple(struct pvmd_quorum *q, uint32_t to, enum pvmd_quorum_kind kind)
{
    struct pvmd_quorum_message m = message(q, kind);
    q->events->send(q->arg, to, &m);
}

void pvmd_quorum_describe(const struct pvmd_quorum *q, struct pvmd_quorum_message *m)
{
    static uint32_t now[PVMD_QUORUM_MAX], then[PVMD_QUORUM_MAX], led[2 * PVMD_QUORUM_MAX];
    *m = message(q, PVMD_QUORUM_STATE);
    for (unsigned i = 0; i < q->peer_count; i++) {
        if (q->peers[i].is_now)
            now[m->now.count++] = q->peers[i].id;
        if (q->peers[i].was_then)
            then[m->then.count++] = q->peers[i].id;
        if (q->peers[i].has_led)
            led[m->led.count++] = q->peers[i].id;
    }
    m->now.ids = now;
    m->then.ids = then;
    m->led.ids = led;
}

static void send_state(struct pvmd_quorum *q, struct pvmd_quorum_peer *p)
{
    struct pvmd_quorum_message m;
    struct pvmc_buf tables;
    pvmd_quorum_describe(q, &m);
    pvmc_buf_init(&tables);
    q->events->save(q->arg, &tables);
    p->in_step = !pvmc_buf_error(&tables);
    m.data = tables.data;
    m.length = tables.length;
    if (p->in_step)
        q->events->send(q->arg, p->id, &m);
    if (p->in_step && q->is_installed)
        send_simple(q, p->id, PVMD_QUORUM_COMMITTED);
    pvmc_buf_free(&tables);
}

/* Whether the leader sends changes to it. */
static bool listens(const struct pvmd_quorum *q, const struct pvmd_quorum_peer *p)
{
    return p->id != q->self && p->is_now && !p->dead;
}

/* ---- leading ---- */

static bool is_installed_leader(const struct pvmd_quorum *q)
{
    return q->role == PVMD_QUORUM_LEADER && q->is_installed;
}

/* Half of the members follow us, so that no other can be elected while they hear us. Only now we are announced. */
static void install(struct pvmd_quorum *q)
{
    q->is_installed = true;
    for (unsigned i = 0; i < q->peer_count; i++)
        if (listens(q, &q->peers[i]))
            send_simple(q, q->peers[i].id, PVMD_QUORUM_COMMITTED);
    q->events->leading(q->arg);
}

static void advance(struct pvmd_quorum *q)
{
    uint32_t seq = q->version.seq;
    while (seq > q->committed && !is_committed(q, seq))
        seq--;
    if (seq <= q->committed)
        return;
    bool was_settled = pvmd_quorum_is_settled(q);
    q->committed = seq;
    if (!was_settled && pvmd_quorum_is_settled(q)) {
        settle(q);
        for (unsigned i = 0; i < q->peer_count; i++)
            if (listens(q, &q->peers[i]) && q->peers[i].in_step)
                send_simple(q, q->peers[i].id, PVMD_QUORUM_COMMITTED);
    }
    if (!q->is_installed)
        install(q);
    q->events->committed(q->arg, seq);
}

uint32_t pvmd_quorum_change(struct pvmd_quorum *q, const void *change, size_t length,
                            const struct pvmd_quorum_set *members)
{
    struct pvmd_version base = q->version;
    q->version = (struct pvmd_version){.term = q->term, .seq = base.seq + 1};
    uint32_t seq = q->version.seq;
    struct pvmd_quorum_message m = message(q, PVMD_QUORUM_CHANGE);
    m.base = base;
    m.data = change;
    m.length = length;
    if (members)
        replace_members(q, members, &m);
    if (q->events->record)
        q->events->record(q->arg, &m);
    for (unsigned i = 0; i < q->peer_count; i++) {
        struct pvmd_quorum_peer *p = &q->peers[i];
        if (q->renewing && p->voted) /* it would refuse the present term */
            p->in_step = false;
        else if (listens(q, p) && p->in_step)
            q->events->send(q->arg, p->id, &m);
        else if (listens(q, p))
            send_state(q, p);
    }
    advance(q);
    return seq;
}

/* The first change of a leader changes nothing, but commits what its predecessor had not. */
static void lead(struct pvmd_quorum *q)
{
    q->role = PVMD_QUORUM_LEADER;
    q->leader = q->self;
    q->is_installed = false;
    for (unsigned i = 0; i < q->peer_count; i++) {
        q->peers[i].in_step = true;
        q->peers[i].done = 0;
    }
    pvmd_quorum_change(q, NULL, 0, NULL);
}

/* We lead in a new term. Those that had all our changes need not get the tables. */
static void renewed(struct pvmd_quorum *q)
{
    q->term = q->renewing;
    q->renewing = 0;
    for (unsigned i = 0; i < q->peer_count; i++)
        q->peers[i].done = 0;
    pvmd_quorum_change(q, NULL, 0, NULL);
}

static void note_leader(struct pvmd_quorum *q, uint32_t id)
{
    struct pvmd_quorum_peer *p = peer_of(q, id);
    if (p)
        p->has_led = true;
}

static void follow(struct pvmd_quorum *q, uint32_t leader)
{
    q->role = PVMD_QUORUM_FOLLOWER;
    if (q->leader == leader)
        return;
    q->leader = leader;
    q->is_installed = false;
    note_leader(q, leader);
}

static void forget_leader(struct pvmd_quorum *q)
{
    q->leader = 0;
    q->lacking = q->damaged; /* nobody will send us the tables */
}

/* A leader of whom half of the members have not heard may give way to another one. */
static void give_way(struct pvmd_quorum *q, uint32_t term)
{
    q->term = term; /* the next campaign begins above it */
    q->voted_for = 0;
    forget_leader(q);
    q->role = PVMD_QUORUM_FOLLOWER;
}

void pvmd_quorum_leader_lost(struct pvmd_quorum *q)
{
    q->has_waited = false;
    if (q->role == PVMD_QUORUM_FOLLOWER)
        forget_leader(q);
}

static void ask_all(struct pvmd_quorum *q, uint32_t term)
{
    struct pvmd_quorum_message m = message(q, PVMD_QUORUM_ASK);
    m.term = term;
    q->voted_for = q->self;
    for (unsigned i = 0; i < q->peer_count; i++)
        q->peers[i].voted = q->peers[i].id == q->self;
    for (unsigned i = 0; i < q->peer_count; i++)
        if (q->peers[i].id != q->self) /* one that has ended may be back from its journal */
            q->events->send(q->arg, q->peers[i].id, &m);
}

/*
 * A member knows of a later term, in which nobody leads, and will not follow us in ours. So we ask for votes in one
 * above that. Until more than half have voted, the others follow us in the present term.
 */
static void renew(struct pvmd_quorum *q, uint32_t term)
{
    if (term < q->renewing)
        return; /* they are about to hear of a later one */
    q->renewing = term + 1;
    ask_all(q, q->renewing);
    if (is_elected(q))
        renewed(q);
}

void pvmd_quorum_campaign(struct pvmd_quorum *q)
{
    if (q->leader || q->damaged || !peer_of(q, q->self))
        return;
    if (q->is_patient) { /* the one that we have voted for may have won */
        q->is_patient = false;
        q->has_waited = true;
        return;
    }
    q->has_waited = false;
    q->role = PVMD_QUORUM_CANDIDATE;
    q->renewing = 0;
    q->term++;
    ask_all(q, q->term);
    if (is_elected(q))
        lead(q);
}

void pvmd_quorum_dead(struct pvmd_quorum *q, uint32_t id)
{
    struct pvmd_quorum_peer *p = peer_of(q, id);
    bool is_news = p && !p->dead;
    if (is_news)
        p->dead = true;
    if (is_news && q->role == PVMD_QUORUM_LEADER)
        advance(q);
    if (q->role == PVMD_QUORUM_FOLLOWER && q->leader == id && !q->is_installed) /* one that joins has no peers */
        forget_leader(q);
}

/* ---- receiving: from leaders ---- */

/* A message of a leader of our term, or of a later one; no other exists in that term. */
static bool is_from_leader(struct pvmd_quorum *q, uint32_t from, const struct pvmd_quorum_message *m)
{
    if (m->term < q->term) {
        send_simple(q, from, PVMD_QUORUM_REFUSED);
        return false;
    }
    if (is_installed_leader(q))
        q->events->deposed(q->arg);
    if (m->term > q->term)
        q->voted_for = 0;
    q->term = m->term;
    follow(q, from);
    return true;
}

static void learn_committed(struct pvmd_quorum *q, uint32_t committed)
{
    if (committed <= q->committed || committed > q->version.seq)
        return;
    q->committed = committed;
    settle(q);
}

static void lack(struct pvmd_quorum *q, uint32_t leader)
{
    q->lacking = true;
    send_simple(q, leader, PVMD_QUORUM_LACKING);
}

static void receive_change(struct pvmd_quorum *q, uint32_t from, const struct pvmd_quorum_message *m)
{
    bool waits = q->lacking && q->leader == from && q->term == m->term;
    if (!is_from_leader(q, from, m) || waits)
        return;
    if (q->lacking || compare(m->base, q->version)) {
        lack(q, from);
        return;
    }
    if (m->length && q->events->apply(q->arg, m->data, m->length)) {
        q->damaged = true;
        lack(q, from);
        return;
    }
    learn_committed(q, m->committed);
    if ((m->joined.count || m->left.count) && !change_members(q, m)) {
        q->damaged = true; /* the change of tables is made */
        lack(q, from);
        return;
    }
    q->version = m->version;
    send_simple(q, from, PVMD_QUORUM_DONE);
}

static void receive_state(struct pvmd_quorum *q, uint32_t from, const struct pvmd_quorum_message *m)
{
    if (!is_from_leader(q, from, m))
        return;
    q->lacking = q->damaged = q->events->load(q->arg, m->data, m->length);
    if (q->damaged)
        return;
    set_members(q, &m->then, 0);
    set_members(q, &m->now, m->version.seq);
    q->version = m->version;
    q->committed = m->committed;
    if (!m->then.count)
        q->members_seq = 0;
    settle(q);
    note_leader(q, from);
    for (unsigned i = 0; i < m->led.count; i++)
        note_leader(q, m->led.ids[i]);
    send_simple(q, from, PVMD_QUORUM_DONE);
}

static void receive_committed(struct pvmd_quorum *q, uint32_t from, const struct pvmd_quorum_message *m)
{
    if (!is_from_leader(q, from, m))
        return;
    if (!q->lacking && !compare(m->version, q->version)) /* else it counts changes that we do not have */
        learn_committed(q, m->committed);
    if (q->is_installed)
        return;
    q->is_installed = true;
    q->events->following(q->arg, from);
}

void pvmd_quorum_ask_tables(struct pvmd_quorum *q)
{
    if (q->lacking && q->leader)
        lack(q, q->leader);
}

/* ---- receiving: from followers ---- */

static void receive_done(struct pvmd_quorum *q, uint32_t from, const struct pvmd_quorum_message *m)
{
    struct pvmd_quorum_peer *p = peer_of(q, from);
    if (q->role != PVMD_QUORUM_LEADER || m->term != q->term || !p || m->version.term != q->term)
        return;
    if (m->version.seq > p->done && m->version.seq <= q->version.seq)
        p->done = m->version.seq;
    advance(q);
}

static void receive_lacking(struct pvmd_quorum *q, uint32_t from, const struct pvmd_quorum_message *m)
{
    struct pvmd_quorum_peer *p = peer_of(q, from);
    if (q->role == PVMD_QUORUM_LEADER && m->term == q->term && p)
        send_state(q, p);
}

/* ---- receiving: elections ---- */

/* One that joins has promised nothing to anybody yet. One that is no member any more has. */
static bool is_voter(struct pvmd_quorum *q)
{
    return !q->peer_count || peer_of(q, q->self);
}

/*
 * A member that hears its leader does not vote, so that one host with a bad cable cannot depose it; unless that leader
 * asks itself, having given way.
 */
static void receive_ask(struct pvmd_quorum *q, uint32_t from, const struct pvmd_quorum_message *m)
{
    bool is_new = q->role == PVMD_QUORUM_LEADER && !q->is_installed;
    bool has_leader = q->leader && q->leader != from && !is_new;
    if (is_installed_leader(q) && m->term > q->term && peer_of(q, from)) {
        renew(q, m->term);
        return;
    }
    bool may_vote = !has_leader && m->term >= q->term && is_voter(q);
    if (may_vote && m->term > q->term)
        give_way(q, m->term);
    if (!may_vote || (q->voted_for && q->voted_for != from) || compare(m->version, q->version) < 0) {
        send_simple(q, from, PVMD_QUORUM_REFUSED);
        return;
    }
    q->voted_for = from;
    q->is_patient = !q->has_waited; /* else those that cannot win keep the one silent that can */
    send_simple(q, from, PVMD_QUORUM_VOTE);
}

static void receive_vote(struct pvmd_quorum *q, uint32_t from, const struct pvmd_quorum_message *m)
{
    struct pvmd_quorum_peer *p = peer_of(q, from);
    if (q->role == PVMD_QUORUM_FOLLOWER || m->term != (q->renewing ? q->renewing : q->term) || !p)
        return;
    if (q->role == PVMD_QUORUM_LEADER && !q->renewing)
        return;
    p->voted = true;
    p->in_step = !compare(m->version, q->version);
    if (is_elected(q) && q->renewing)
        renewed(q);
    else if (is_elected(q))
        lead(q);
}

static void receive_refused(struct pvmd_quorum *q, const struct pvmd_quorum_message *m)
{
    if (m->term <= q->term)
        return;
    if (is_installed_leader(q))
        renew(q, m->term);
    else if (q->role != PVMD_QUORUM_FOLLOWER)
        give_way(q, m->term);
}

void pvmd_quorum_receive(struct pvmd_quorum *q, uint32_t from, const struct pvmd_quorum_message *m)
{
    struct pvmd_quorum_peer *p = peer_of(q, from);
    if (p)
        p->dead = false; /* it has come back */
    switch (m->kind) {
    case PVMD_QUORUM_CHANGE:
        receive_change(q, from, m);
        break;
    case PVMD_QUORUM_STATE:
        receive_state(q, from, m);
        break;
    case PVMD_QUORUM_COMMITTED:
        receive_committed(q, from, m);
        break;
    case PVMD_QUORUM_DONE:
        receive_done(q, from, m);
        break;
    case PVMD_QUORUM_LACKING:
        receive_lacking(q, from, m);
        break;
    case PVMD_QUORUM_ASK:
        receive_ask(q, from, m);
        break;
    case PVMD_QUORUM_VOTE:
        receive_vote(q, from, m);
        break;
    case PVMD_QUORUM_REFUSED:
        receive_refused(q, m);
        break;
    }
}

/* ---- start ---- */

static void begin(struct pvmd_quorum *q, uint32_t self, uint32_t leader, const struct pvmd_quorum_events *events,
                  void *arg)
{
    *q = (struct pvmd_quorum){.events = events, .arg = arg, .self = self, .leader = leader, .is_installed = true};
}

void pvmd_quorum_found(struct pvmd_quorum *q, uint32_t self, const struct pvmd_quorum_events *events, void *arg)
{
    begin(q, self, self, events, arg);
    q->role = PVMD_QUORUM_LEADER;
    q->term = 1;
    q->version.term = 1;
    peer_added(q, self)->is_now = true;
}

void pvmd_quorum_join(struct pvmd_quorum *q, uint32_t self, uint32_t leader, const struct pvmd_quorum_events *events,
                      void *arg)
{
    begin(q, self, leader, events, arg);
    q->lacking = q->damaged = true;
}
