/*
 * test_pvmd_quorum.c - all orders in which things can happen to a few daemons that agree by quorum.c, and long random
 * orders for more of them. DPVM_QUORUM_STATES: states that each search visits at most; DPVM_QUORUM_SEED: of the walks.
 */
#include "pvmd/quorum/quorum.h"
#include "quorum_search.h"
#include "tests/unit/unit.h"

enum { STATES = 250000, WALKS = 5000, STEPS = 400 };

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

static unsigned setting(const char *name, unsigned standard)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : standard;
}

static struct quorum_search search(const char *what, const struct model_bounds *bounds)
{
    struct quorum_search s = quorum_search(bounds, setting("DPVM_QUORUM_STATES", STATES));
    printf("%s: %u states, %s, up to %u actions\n", what, s.states, s.is_complete ? "all" : "the nearest", s.depth);
    return s;
}

static void holds(const char *what, const struct model_bounds *bounds)
{
    struct quorum_search s = search(what, bounds);
    ck_assert_msg(!s.fault, "%s: %s", what, s.fault);
}

START_TEST(three_members_that_crash)
{
    holds(
        "3 members, crashes",
        &(struct model_bounds){
            .members = 3, .times = {[MODEL_CHANGE] = 2, [MODEL_CRASH] = 2, [MODEL_SILENCE] = 1, [MODEL_CAMPAIGN] = 2}});
}
END_TEST

START_TEST(proofs_of_death_while_links_are_lost)
{
    holds(
        "4 members, proofs",
        &(struct model_bounds){
            .members = 4, .times = {[MODEL_CHANGE] = 1, [MODEL_CRASH] = 2, [MODEL_SILENCE] = 3, [MODEL_CAMPAIGN] = 2}});
}
END_TEST

START_TEST(members_come_and_go)
{
    holds("3 members, changes of members",
          &(struct model_bounds){
              .members = 3,
              .times = {[MODEL_CHANGE] = 1, [MODEL_MEMBERS] = 1, [MODEL_SILENCE] = 2, [MODEL_CAMPAIGN] = 1}});
    holds("1 member, newcomers",
          &(struct model_bounds){
              .members = 1,
              .times = {[MODEL_CHANGE] = 1, [MODEL_MEMBERS] = 2, [MODEL_SILENCE] = 2, [MODEL_CAMPAIGN] = 1}});
}
END_TEST

START_TEST(leaders_come_back_from_their_journals)
{
    holds(
        "3 members, journal",
        &(struct model_bounds){
            .members = 3,
            .times = {
                [MODEL_CHANGE] = 2, [MODEL_CRASH] = 2, [MODEL_SILENCE] = 1, [MODEL_CAMPAIGN] = 3, [MODEL_RETURN] = 1}});
}
END_TEST

START_TEST(a_former_leader_that_is_back_counts_for_nobody_else)
{
    holds(
        "3 members, a second leader comes back",
        &(struct model_bounds){
            .members = 3,
            .times = {
                [MODEL_CHANGE] = 1, [MODEL_CRASH] = 2, [MODEL_SILENCE] = 2, [MODEL_CAMPAIGN] = 2, [MODEL_RETURN] = 1}});
}
END_TEST

START_TEST(half_of_two_members_elects_a_second_leader)
{
    struct quorum_search s =
        search("2 members, half elects",
               &(struct model_bounds){.members = 2,
                                      .half_elects = true,
                                      .times = {[MODEL_CHANGE] = 1, [MODEL_SILENCE] = 1, [MODEL_CAMPAIGN] = 1}});
    ck_assert_ptr_nonnull(s.fault);
}
END_TEST

START_TEST(late_proofs_of_death_commit_what_the_next_leader_lacks)
{
    struct quorum_search s =
        search("4 members, late proofs",
               &(struct model_bounds){
                   .members = 4,
                   .proves_late = true,
                   .times = {[MODEL_CHANGE] = 1, [MODEL_CRASH] = 1, [MODEL_SILENCE] = 3, [MODEL_CAMPAIGN] = 1}});
    ck_assert_ptr_nonnull(s.fault);
}
END_TEST

/* ---- random ---- */

/* Rare things are rare, so that much happens between them. */
static unsigned pick(const struct model_action *actions, unsigned count)
{
    unsigned i = draw(count);
    while (actions[i].kind < MODEL_DELIVER && actions[i].kind != MODEL_CAMPAIGN && draw(4))
        i = draw(count);
    return i;
}

static unsigned walk(const struct model_bounds *bounds, unsigned steps)
{
    static struct model_action way[STEPS];
    struct model_action actions[MODEL_ACTIONS];
    unsigned i = 0, count;
    model_begin(bounds);
    for (; i < steps && (count = model_actions(actions)) && !model_fault(); i++) {
        way[i] = actions[pick(actions, count)];
        model_do(way[i]);
    }
    const char *fault = model_fault();
    if (!fault && model_is_healthy() && !model_recovers())
        fault = model_fault() ? model_fault() : "no leader comes, or a member is left behind";
    if (!fault)
        return i;
    model_begin(bounds);
    for (unsigned k = 0; k < i; k++) {
        model_print(way[k]);
        model_do(way[k]);
    }
    fflush(stdout);
    ck_abort_msg("%s after %u steps", fault, i);
}

static void walks(const struct model_bounds *bounds)
{
    unsigned seed = setting("DPVM_QUORUM_SEED", 1), count = setting("DPVM_QUORUM_WALKS", WALKS);
    unsigned long steps = 0, healthy = 0;
    random_state = seed;
    for (unsigned i = 0; i < count; i++) {
        steps += walk(bounds, 1 + draw(STEPS));
        healthy += model_is_healthy();
    }
    printf("seed %u: %u walks, %lu steps, %lu ended with a majority\n", seed, count, steps, healthy);
}

START_TEST(long_random_orders)
{
    walks(&(struct model_bounds){.members = 4,
                                 .times = {[MODEL_CHANGE] = 15,
                                           [MODEL_MEMBERS] = 4,
                                           [MODEL_CRASH] = 4,
                                           [MODEL_SILENCE] = 6,
                                           [MODEL_CUT] = 3,
                                           [MODEL_CAMPAIGN] = 20,
                                           [MODEL_RETURN] = 2,
                                           [MODEL_DAMAGE] = 2}});
}
END_TEST

START_TEST(a_connected_majority_recovers)
{
    walks(&(struct model_bounds){.members = 3,
                                 .times = {[MODEL_CHANGE] = 8,
                                           [MODEL_MEMBERS] = 3,
                                           [MODEL_CRASH] = 3,
                                           [MODEL_CAMPAIGN] = 10,
                                           [MODEL_RETURN] = 2,
                                           [MODEL_DAMAGE] = 1}});
}
END_TEST

/* ---- a member alone ---- */

static void ignore(void *arg, uint32_t to, const struct pvmd_quorum_message *m)
{
    (void)arg, (void)to, (void)m;
}

static void save_nothing(void *arg, struct pvmc_buf *tables)
{
    (void)arg, (void)tables;
}

static int load_nothing(void *arg, const uint8_t *tables, size_t length)
{
    (void)arg, (void)tables, (void)length;
    return 0;
}

static void note_committed(void *arg, uint32_t seq)
{
    *(uint32_t *)arg = seq;
}

static void ignore_host(void *arg, uint32_t leader)
{
    (void)arg, (void)leader;
}

static void ignore_lead(void *arg)
{
    (void)arg;
}

static const struct pvmd_quorum_events alone = {.send = ignore,
                                                .save = save_nothing,
                                                .load = load_nothing,
                                                .following = ignore_host,
                                                .leading = ignore_lead,
                                                .committed = note_committed};

static const uint32_t five[] = {1, 2, 3, 4, 5}, others[] = {1, 6, 7, 8, 9};

static struct pvmd_quorum_message answer(enum pvmd_quorum_kind kind, const struct pvmd_quorum *q)
{
    return (struct pvmd_quorum_message){.kind = kind, .term = q->term, .version = q->version};
}

static void found_five(struct pvmd_quorum *q, uint32_t *committed)
{
    pvmd_quorum_found(q, 1, &alone, committed);
    pvmd_quorum_change(q, NULL, 0, &(struct pvmd_quorum_set){.ids = five, .count = 5});
    struct pvmd_quorum_message m = answer(PVMD_QUORUM_DONE, q);
    pvmd_quorum_receive(q, 2, &m);
    pvmd_quorum_receive(q, 3, &m);
    ck_assert(pvmd_quorum_is_settled(q));
}

static int apply_nothing(void *arg, const uint8_t *change, size_t length)
{
    (void)arg, (void)change, (void)length;
    return 0;
}

/* Five are all that a machine can have. Members that leave make room for those that come in the same change. */
START_TEST(members_of_a_full_machine_are_replaced_at_once)
{
    static struct pvmd_quorum first, second;
    struct pvmd_quorum_events events = alone;
    struct pvmd_quorum_message m;
    uint32_t committed = 0;
    events.apply = apply_nothing;
    found_five(&first, &committed);
    pvmd_quorum_join(&second, 2, 1, &events, &committed);
    pvmd_quorum_describe(&first, &m);
    pvmd_quorum_receive(&second, 1, &m);
    m = answer(PVMD_QUORUM_CHANGE, &second);
    m.base = m.version;
    m.version.seq++;
    m.committed = first.committed;
    m.joined = (struct pvmd_quorum_set){.ids = (const uint32_t[]){6, 7}, .count = 2};
    m.left = (struct pvmd_quorum_set){.ids = (const uint32_t[]){4, 5}, .count = 2};
    pvmd_quorum_receive(&second, 1, &m);
    ck_assert(!second.damaged && !second.lacking);
    ck_assert_uint_eq(second.peer_count, 7);
    m.base = m.version;
    m.version.seq++;
    m.left = (struct pvmd_quorum_set){.ids = (const uint32_t[]){6, 6}, .count = 2};
    m.joined = (struct pvmd_quorum_set){.ids = (const uint32_t[]){8, 9}, .count = 2};
    pvmd_quorum_receive(&second, 1, &m);
    ck_assert(second.damaged);
}
END_TEST

/* Member 3 has the tables from 2, which knows that 1 has led. It leads, and 1 is dead, but may come back. */
START_TEST(who_has_led_is_told_with_the_tables)
{
    static struct pvmd_quorum first, second, third;
    struct pvmd_quorum_message m;
    uint32_t committed = 0;
    found_five(&first, &committed);
    pvmd_quorum_join(&second, 2, 1, &alone, &committed);
    pvmd_quorum_describe(&first, &m);
    pvmd_quorum_receive(&second, 1, &m);
    pvmd_quorum_join(&third, 3, 2, &alone, &committed);
    pvmd_quorum_describe(&second, &m);
    pvmd_quorum_receive(&third, 2, &m);
    pvmd_quorum_leader_lost(&third);
    pvmd_quorum_campaign(&third);
    m = answer(PVMD_QUORUM_VOTE, &third);
    pvmd_quorum_receive(&third, 4, &m);
    pvmd_quorum_receive(&third, 5, &m);
    ck_assert_int_eq(third.role, PVMD_QUORUM_LEADER);
    uint32_t before = third.committed;
    pvmd_quorum_dead(&third, 1);
    m = answer(PVMD_QUORUM_DONE, &third);
    pvmd_quorum_receive(&third, 4, &m);
    ck_assert_uint_eq(third.committed, before);
    pvmd_quorum_receive(&third, 5, &m);
    ck_assert_uint_gt(third.committed, before);
}
END_TEST

/* Host 3 joins, and has no tables yet when 1 is lost, and 2 follows it in the lead and is lost, too. */
static void lose_two_leaders(struct pvmd_quorum *q, uint32_t *committed)
{
    pvmd_quorum_join(q, 3, 1, &alone, committed);
    pvmd_quorum_leader_lost(q);
    pvmd_quorum_receive(q, 2, &(struct pvmd_quorum_message){.kind = PVMD_QUORUM_CHANGE, .term = 2});
    ck_assert_uint_eq(q->leader, 2);
}

static bool votes_for_4(struct pvmd_quorum *q)
{
    pvmd_quorum_receive(q, 4, &(struct pvmd_quorum_message){.kind = PVMD_QUORUM_ASK, .term = 3});
    return q->voted_for == 4;
}

START_TEST(a_new_leader_that_dies_is_given_up)
{
    static struct pvmd_quorum q;
    uint32_t committed;
    lose_two_leaders(&q, &committed);
    ck_assert(!votes_for_4(&q));
    pvmd_quorum_dead(&q, 2);
    ck_assert(votes_for_4(&q));
}
END_TEST

/* PVMD_QUORUM_MAX of them, until the change is committed together with as many others. */
START_TEST(all_members_may_be_replaced_at_once)
{
    static struct pvmd_quorum q;
    struct pvmd_quorum_message m;
    uint32_t committed;
    found_five(&q, &committed);
    pvmd_quorum_change(&q, NULL, 0, &(struct pvmd_quorum_set){.ids = others, .count = 5});
    pvmd_quorum_describe(&q, &m);
    ck_assert_uint_eq(m.then.count, 5);
    ck_assert_uint_eq(m.now.count, 5);
}
END_TEST

/* ---- who comes and goes ---- */

static struct {
    enum pvmd_quorum_kind kind;
    unsigned joined, left;
    uint32_t first_joined, first_left;
} last_sent;

static void keep_sent(void *arg, uint32_t to, const struct pvmd_quorum_message *m)
{
    (void)arg, (void)to;
    last_sent.kind = m->kind;
    if (m->kind != PVMD_QUORUM_CHANGE)
        return;
    last_sent.joined = m->joined.count;
    last_sent.left = m->left.count;
    last_sent.first_joined = m->joined.count ? m->joined.ids[0] : 0;
    last_sent.first_left = m->left.count ? m->left.ids[0] : 0;
}

static const struct pvmd_quorum_events kept = {.send = keep_sent,
                                               .save = save_nothing,
                                               .load = load_nothing,
                                               .following = ignore_host,
                                               .leading = ignore_lead,
                                               .committed = note_committed};

/* A member that has the tables of `first`, which has members 1 to 5. */
static void follow_five(struct pvmd_quorum *q, struct pvmd_quorum *first, uint32_t *committed)
{
    struct pvmd_quorum_message m;
    found_five(first, committed);
    pvmd_quorum_join(q, 2, 1, &kept, committed);
    pvmd_quorum_describe(first, &m);
    pvmd_quorum_receive(q, 1, &m);
    ck_assert_int_eq(last_sent.kind, PVMD_QUORUM_DONE);
}

static unsigned members_of(const struct pvmd_quorum *q)
{
    unsigned count = 0;
    for (unsigned i = 0; i < q->peer_count; i++)
        count += q->peers[i].is_now;
    return count;
}

START_TEST(a_change_names_only_who_comes_and_goes)
{
    static struct pvmd_quorum q;
    static const uint32_t four[] = {1, 2, 4, 9};
    uint32_t committed;
    found_five(&q, &committed);
    struct pvmd_quorum_message m = answer(PVMD_QUORUM_DONE, &q);
    pvmd_quorum_receive(&q, 4, &m);
    q.events = &kept;
    for (unsigned i = 0; i < q.peer_count; i++)
        q.peers[i].in_step = true;
    pvmd_quorum_change(&q, NULL, 0, &(struct pvmd_quorum_set){.ids = four, .count = 4});
    ck_assert_uint_eq(last_sent.joined, 1);
    ck_assert_uint_eq(last_sent.first_joined, 9);
    ck_assert_uint_eq(last_sent.left, 2);
    ck_assert(last_sent.first_left == 3 || last_sent.first_left == 5);
}
END_TEST

static struct pvmd_quorum_message next_change(const struct pvmd_quorum *q)
{
    return (struct pvmd_quorum_message){.kind = PVMD_QUORUM_CHANGE,
                                        .term = q->term,
                                        .base = q->version,
                                        .version = {.term = q->term, .seq = q->version.seq + 1},
                                        .committed = q->version.seq};
}

START_TEST(a_follower_counts_who_comes_and_goes)
{
    static struct pvmd_quorum first, q;
    static const uint32_t gone[] = {3, 77}, new[] = {9, 1};
    uint32_t committed = 0;
    follow_five(&q, &first, &committed);
    struct pvmd_quorum_message m = next_change(&q);
    m.left = (struct pvmd_quorum_set){.ids = gone, .count = 2};
    pvmd_quorum_receive(&q, 1, &m);
    ck_assert_int_eq(last_sent.kind, PVMD_QUORUM_DONE);
    ck_assert_uint_eq(members_of(&q), 4);
    ck_assert(!pvmd_quorum_is_settled(&q));
    m = next_change(&q);
    m.joined = (struct pvmd_quorum_set){.ids = new, .count = 1};
    pvmd_quorum_receive(&q, 1, &m);
    ck_assert_int_eq(last_sent.kind, PVMD_QUORUM_DONE);
    ck_assert_uint_eq(members_of(&q), 5);
}
END_TEST

/* It does not believe in more members than there can be, and asks for the tables. */
START_TEST(too_many_members_are_asked_for_whole)
{
    static struct pvmd_quorum first, q;
    static const uint32_t new[] = {9};
    uint32_t committed = 0;
    follow_five(&q, &first, &committed);
    struct pvmd_quorum_message m = next_change(&q);
    m.joined = (struct pvmd_quorum_set){.ids = new, .count = 1};
    pvmd_quorum_receive(&q, 1, &m);
    ck_assert_int_eq(last_sent.kind, PVMD_QUORUM_LACKING);
    ck_assert_uint_eq(members_of(&q), 5);
    pvmd_quorum_describe(&first, &m);
    pvmd_quorum_receive(&q, 1, &m);
    ck_assert_int_eq(last_sent.kind, PVMD_QUORUM_DONE);
}
END_TEST

UNIT_MAIN("pvmd_quorum", three_members_that_crash, proofs_of_death_while_links_are_lost, members_come_and_go,
          leaders_come_back_from_their_journals, a_former_leader_that_is_back_counts_for_nobody_else,
          half_of_two_members_elects_a_second_leader, late_proofs_of_death_commit_what_the_next_leader_lacks,
          long_random_orders, a_connected_majority_recovers, who_has_led_is_told_with_the_tables,
          a_new_leader_that_dies_is_given_up, all_members_may_be_replaced_at_once,
          a_change_names_only_who_comes_and_goes, a_follower_counts_who_comes_and_goes,
          too_many_members_are_asked_for_whole, members_of_a_full_machine_are_replaced_at_once)
