/*
 * test_pvmd_contest.c - elections on a slow network: four members, of which the master is lost, and the second and the
 * third cannot reach each other. Only the fourth can win, and does so in time.
 */
#include <stdlib.h>
#include <string.h>
#include "pvmd/quorum/delay.h"
#include "pvmd/quorum/quorum.h"
#include "tests/unit/unit.h"

enum { MEMBERS = 4, ON_THE_WAY_MAX = 256, CONTESTS = 1000 };

#define RETRY_S 0.15 /* as in tables.c */
#define LIMIT_S 2.2  /* with PVM_HOST_TIMEOUT=2, of a master that is known to have ended */

struct letter {
    double at_s;
    uint32_t from, to;
    struct pvmd_quorum_message message;
};

static struct {
    double now_s, one_way_s; /* the longest way; messages of one member to another stay in order */
    struct letter letters[ON_THE_WAY_MAX];
    size_t count;
    double last_s[MEMBERS + 1][MEMBERS + 1], campaign_s[MEMBERS + 1];
    bool is_cut;
    uint32_t leader;
    struct pvmd_quorum members[MEMBERS + 1];
} net;

static void send_letter(void *arg, uint32_t to, const struct pvmd_quorum_message *m)
{
    uint32_t from = (uint32_t)((struct pvmd_quorum *)arg - net.members);
    if (net.is_cut && (from == 1 || to == 1 || from + to == 2 + 3))
        return;
    ck_assert_uint_lt(net.count, ON_THE_WAY_MAX);
    double at_s = net.now_s + net.one_way_s * (1 + drand48()) / 2;
    at_s = at_s > net.last_s[from][to] ? at_s : net.last_s[from][to];
    net.last_s[from][to] = at_s;
    net.letters[net.count++] = (struct letter){.at_s = at_s, .from = from, .to = to, .message = *m};
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

static int apply_nothing(void *arg, const uint8_t *change, size_t length)
{
    return load_nothing(arg, change, length);
}

static void note_nothing(void *arg, uint32_t what)
{
    (void)arg, (void)what;
}

static void note_leader(void *arg)
{
    net.leader = (uint32_t)((struct pvmd_quorum *)arg - net.members);
}

static void be_deposed(void *arg)
{
    (void)arg;
    ck_abort_msg("a leader was deposed");
}

static const struct pvmd_quorum_events events = {.send = send_letter,
                                                 .save = save_nothing,
                                                 .load = load_nothing,
                                                 .apply = apply_nothing,
                                                 .following = note_nothing,
                                                 .leading = note_leader,
                                                 .committed = note_nothing,
                                                 .deposed = be_deposed};

static struct letter *next_letter(void)
{
    struct letter *next = NULL;
    for (size_t i = 0; i < net.count; i++)
        if (!next || net.letters[i].at_s < next->at_s)
            next = &net.letters[i];
    return next;
}

static void deliver(struct letter *l)
{
    struct letter taken = *l;
    memmove(l, l + 1, (size_t)(net.letters + --net.count - l) * sizeof *l);
    net.now_s = taken.at_s;
    pvmd_quorum_receive(&net.members[taken.to], taken.from, &taken.message);
}

static void campaign(uint32_t id)
{
    net.now_s = net.campaign_s[id];
    net.campaign_s[id] += RETRY_S * (1 + drand48());
    pvmd_quorum_campaign(&net.members[id]);
}

static void found(void)
{
    static const uint32_t all[] = {1, 2, 3, 4};
    pvmd_quorum_found(&net.members[1], 1, &events, &net.members[1]);
    for (uint32_t id = 2; id <= MEMBERS; id++)
        pvmd_quorum_join(&net.members[id], id, 1, &events, &net.members[id]);
    pvmd_quorum_change(&net.members[1], NULL, 0, &(struct pvmd_quorum_set){.ids = all, .count = MEMBERS});
    for (struct letter *l; (l = next_letter());)
        deliver(l);
}

static void lose_master(void)
{
    net.is_cut = true;
    net.now_s = 0;
    memset(net.last_s, 0, sizeof net.last_s);
    for (uint32_t id = 2; id <= MEMBERS; id++) {
        pvmd_quorum_dead(&net.members[id], 1);
        pvmd_quorum_leader_lost(&net.members[id]);
        net.campaign_s[id] = pvmd_delay_s(id - 2, MEMBERS, LIMIT_S, false);
    }
}

/* Returns the leader, or 0 if they gave up. */
static uint32_t contest(double one_way_s)
{
    memset(&net, 0, sizeof net);
    found();
    net.one_way_s = one_way_s;
    lose_master();
    while (net.now_s < LIMIT_S && !net.leader) {
        uint32_t candidate = 2;
        for (uint32_t id = 3; id <= MEMBERS; id++)
            if (net.campaign_s[id] < net.campaign_s[candidate])
                candidate = id;
        struct letter *l = next_letter();
        if (l && l->at_s <= net.campaign_s[candidate])
            deliver(l);
        else
            campaign(candidate);
    }
    return net.leader;
}

/* Candidates that ask at the same moment take votes from each other; that this goes on until the limit is rare. */
START_TEST(the_only_one_that_can_win_does)
{
    static const double one_way_s[] = {0.0005, 0.003, 0.01, 0.02};
    unsigned failed = 0;
    srand48(1);
    for (unsigned i = 0; i < sizeof one_way_s / sizeof *one_way_s; i++)
        for (unsigned n = 0; n < CONTESTS; n++)
            failed += contest(one_way_s[i]) != 4;
    ck_assert_uint_le(failed, CONTESTS / 200);
}
END_TEST

UNIT_MAIN("pvmd_contest", the_only_one_that_can_win_does)
