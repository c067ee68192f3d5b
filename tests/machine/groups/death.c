/*
 * death - when a member is killed, calls that wait for it soon end with an error, and all others continue: death
 * [HOSTS].
 */
#include <signal.h>
#include "team.h"

enum { MEMBERS = 11, ROOT = 0, INNER = 8, BELOW = 9, LEAF = 5, NONE = -1 }; /* below 0: 1 to 8, below 8: 9 and 10 */

enum { TAG_DEAD = TAG_TEAM_RESULT + 1 };

enum call { BARRIER, BARRIER_WHOLE, REDUCE, GATHER, SCATTER, FREEZE, BCAST };

/*
 * The victim is killed while it sleeps or, if `inside`, while it waits in the same call as the others; then another
 * member must keep them all waiting.
 */
static const struct scenario {
    const char *what;
    enum call call;
    int victim, inside;
    int dynamic_code, frozen_code; /* results of the waiting members */
    int waits;                     /* which members wait; NONE: all */
} scenarios[] = {
    {"barrier", BARRIER, LEAF, 0, PvmNoTask, PvmNoTask, NONE},
    {"barrier, first instance", BARRIER, ROOT, 0, PvmNoTask, PvmNoTask, NONE},
    {"barrier, inner one", BARRIER, INNER, 0, PvmNoTask, PvmNoTask, NONE},
    {"barrier, in it", BARRIER, LEAF, 1, PvmNoTask, PvmNoTask, NONE},
    {"barrier, first instance in it", BARRIER, ROOT, 1, PvmNoTask, PvmNoTask, NONE},
    {"barrier of all", BARRIER_WHOLE, LEAF, 0, 0, PvmNoTask, NONE},
    {"reduce, leaf", REDUCE, LEAF, 0, PvmNoTask, PvmNoTask, ROOT},
    {"reduce, inner one", REDUCE, INNER, 0, PvmNoTask, PvmNoTask, ROOT},
    {"gather, leaf", GATHER, LEAF, 0, PvmNoTask, PvmNoTask, ROOT},
    {"gather, inner one", GATHER, INNER, 0, PvmNoTask, PvmNoTask, ROOT},
    {"gather, one below", GATHER, BELOW, 0, PvmNoTask, PvmNoTask, ROOT},
    {"scatter, root", SCATTER, ROOT, 0, PvmNoTask, PvmNoTask, NONE},
    {"scatter, inner one", SCATTER, INNER, 0, 0, 0, NONE},
    {"scatter, inner one in it", SCATTER, INNER, 1, 0, 0, NONE},
    {"freeze", FREEZE, LEAF, 0, PvmNoTask, PvmDupGroup, NONE},
    {"bcast", BCAST, LEAF, 0, 0, PvmNoTask, NONE},
};

enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

static const struct scenario *s;
static int instance, frozen;

static int make_call(void)
{
    int data = instance, all[MEMBERS] = {0};
    switch (s->call) {
    case BARRIER:
        return pvm_barrier("d", MEMBERS);
    case BARRIER_WHOLE:
        return pvm_barrier("d", -1);
    case REDUCE:
        return pvm_reduce(PvmSum, &data, 1, PVM_INT, 1, "d", ROOT);
    case GATHER:
        return pvm_gather(all, &data, 1, PVM_INT, 1, "d", ROOT);
    case SCATTER:
        return pvm_scatter(&data, all, 1, PVM_INT, 1, "d", ROOT);
    case FREEZE:
        return pvm_freezegroup("d", MEMBERS);
    default:
        pvm_initsend(PvmDataDefault);
        return pvm_bcast("d", 1);
    }
}

/* Whether this member, besides the victim, keeps the others waiting until the victim is dead. */
static int holds_up(const struct scenario *of, int who)
{
    if (of->call == BCAST)
        return 1;
    if (of->call == SCATTER && of->victim != ROOT)
        return who == ROOT;
    return of->inside && who == 3;
}

static int expected(void)
{
    int code = frozen ? s->frozen_code : s->dynamic_code;
    if (s->call == SCATTER && s->victim != ROOT)
        return instance == ROOT ? PvmNoTask : 0; /* the root learns that some members could not get their parts */
    return s->waits == NONE || s->waits == instance ? code : 0;
}

/* A dynamic group continues without the dead member; a frozen one has no more barriers, but knows its members. */
static void go_on(void)
{
    int sum = 1, rank = pvm_gettid("d", s->victim);
    if (frozen) {
        if (s->call != BARRIER && s->call != BARRIER_WHOLE)
            CHECK_EQ(pvm_barrier("d", MEMBERS), PvmNoTask); /* the first one after the death */
        CHECK_EQ(pvm_barrier("d", MEMBERS), PvmNoGroup);
        CHECK_EQ(pvm_gsize("d"), MEMBERS);
        CHECK(rank > 0);
        CHECK_EQ(pvm_lvgroup("d"), 0);
        return;
    }
    CHECK_EQ(rank, PvmNoInst);
    CHECK_EQ(pvm_gsize("d"), MEMBERS - 1);
    CHECK_EQ(pvm_barrier("d", MEMBERS - 1), 0);
    int root = s->victim == 2 ? 3 : 2;
    CHECK_EQ(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 1, "d", root), 0);
    CHECK_EQ(sum, instance == root ? MEMBERS - 1 : 1);
    CHECK_EQ(pvm_barrier("d", -1), 0);
    CHECK_EQ(pvm_freezegroup("d", -1), MEMBERS - 1);
    CHECK_EQ(pvm_barrier("d", -1), 0);
    CHECK_EQ(pvm_lvgroup("d"), 0);
}

static void member(int argc, char **argv)
{
    int argument = team_argument(argc, argv);
    s = &scenarios[argument / 2];
    frozen = argument % 2;
    instance = team_join_kind("d", MEMBERS, frozen);
    pvm_setopt(PvmAutoErr, 0);

    int comes_after = holds_up(s, instance) && instance != s->victim;
    int victim = pvm_gettid("d", s->victim);
    if (comes_after)
        CHECK_EQ(pvm_notify(PvmTaskExit, TAG_DEAD, 1, &victim), 0);
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, instance);
    if (instance == s->victim && !s->inside)
        pause();
    if (holds_up(s, instance))
        check_receive_int(pvm_parent(), TAG_TEAM_GO);
    if (comes_after) /* the parent's message may overtake the daemon's notice */
        CHECK_EQ(check_receive_int(-1, TAG_DEAD), victim);
    double start = check_now();
    int code = make_call();
    CHECK_EQ(code, expected());
    CHECK(check_now() - start < 4 * check_slowness());

    check_send_int(pvm_parent(), TAG_TEAM_RESULT, instance);
    check_receive_int(pvm_parent(), TAG_TEAM_GO); /* all have noticed it */
    go_on();
    team_done();
}

/* Receives a message from each member; stores the tasks by instance. */
static void collect_notes(int *tids)
{
    for (int i = 0; i < MEMBERS; i++) {
        int from, who = check_receive_int(-1, TAG_TEAM_NOTE);
        CHECK_EQ(pvm_bufinfo(pvm_getrbuf(), NULL, NULL, &from), 0);
        CHECK(who >= 0 && who < MEMBERS);
        tids[who] = from;
    }
}

static void play(int number, int is_frozen, int hosts)
{
    const struct scenario *of = &scenarios[number];
    int tids[MEMBERS];
    struct team alive;
    team_start(&alive, "member", 2 * number + is_frozen, MEMBERS, hosts);
    collect_notes(tids);
    check_sleep_ms(100); /* the others are in the call now */
    int victim = tids[of->victim];
    CHECK_EQ(pvm_sendsig(victim, SIGKILL), 0);
    check_wait_exit(1, &victim);
    check_sleep_ms(50); /* give the notices time to arrive */
    alive.size = 0;
    for (int i = 0; i < MEMBERS; i++) {
        if (i == of->victim)
            continue;
        alive.tids[alive.size++] = tids[i];
        if (holds_up(of, i))
            check_send_int(tids[i], TAG_TEAM_GO, 1);
    }
    for (int i = 0; i < alive.size; i++)
        check_receive_int(alive.tids[i], TAG_TEAM_RESULT);
    for (int i = 0; i < alive.size; i++)
        check_send_int(alive.tids[i], TAG_TEAM_GO, 2);
    team_finish(&alive);
}

static void master(int argc, char **argv)
{
    int hosts = team_hosts(argc, argv);
    for (int i = 0; i < SCENARIOS; i++)
        for (int is_frozen = 0; is_frozen <= 1; is_frozen++) {
            double start = check_now();
            play(i, is_frozen, hosts);
            printf("%-32s %-8s %4.1f s\n", scenarios[i].what, is_frozen ? "frozen" : "dynamic", check_now() - start);
        }
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
