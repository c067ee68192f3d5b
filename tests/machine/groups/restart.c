/*
 * restart - the group server is killed again and again, at random moments: restart CASE KILLS SEED HOSTS.
 *
 *   calls  members of a group and of a static group make all collective calls, some compute meanwhile: no call fails,
 *          all results are right, all members stay in step, and each call returns within 5 s
 *   storm  tasks join and leave all the time: no instance has two holders at once, and at the end the numbers are right
 *   busy   a member that calls nothing while servers come and go keeps its place; others go on without it
 */
#include "team.h"
#include <limits.h>
#include <signal.h>

enum { MEMBERS = 5, LIMIT_S = 5, MOMENT_MAX_US = 60000, SHORT_MAX_US = 3000, HOLDS_MAX = 20000 };
enum { TAG_DATA = 910, TAG_HOLDS };

static double slowest_s;

/* Checks the value of a call and the time that it took. */
#define TIMED(call, expected)                                                                                          \
    do {                                                                                                               \
        double start_ = check_now();                                                                                   \
        CHECK_EQ(call, expected);                                                                                      \
        note_time(check_now() - start_);                                                                               \
    } while (0)

static void note_time(double s)
{
    CHECK(s < LIMIT_S * check_slowness());
    if (s > slowest_s)
        slowest_s = s;
}

/* Tells the master what was done, and the longest call. */
static void report(int done)
{
    check_send_int(pvm_parent(), TAG_TEAM_RESULT, done);
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, (int)(slowest_s * 1e3));
    team_done();
}

static int told_to_stop(void)
{
    return pvm_nrecv(pvm_parent(), TAG_TEAM_GO) > 0;
}

static void compute(int ms)
{
    for (double end = check_now() + ms / 1e3; check_now() < end;)
        continue;
}

/* ---- calls ---- */

/* Member 0 says in each round whether it is the last one. */
static int scatter_stop(char *group, int me, int number)
{
    static int stop; /* the master tells once */
    int all[2 * MEMBERS], mine[2];

    if (me == 0)
        stop |= told_to_stop();
    for (int i = 0; i < MEMBERS; i++) {
        all[2 * i] = number;
        all[2 * i + 1] = stop;
    }
    TIMED(pvm_scatter(mine, all, 2, PVM_INT, 3, group, 0), 0);
    CHECK_EQ(mine[0], number);
    return mine[1];
}

static void combine(char *group, int me, int number)
{
    int highest = number, lowest = number, root = number % MEMBERS, all[MEMBERS];

    TIMED(pvm_reduce(PvmMax, &highest, 1, PVM_INT, 1, group, root), 0);
    TIMED(pvm_reduce(PvmMin, &lowest, 1, PVM_INT, 1, group, root), 0);
    CHECK_EQ(highest, number);
    CHECK_EQ(lowest, number);
    TIMED(pvm_gather(all, &me, 1, PVM_INT, 2, group, root), 0);
    for (int i = 0; me == root && i < MEMBERS; i++)
        CHECK_EQ(all[i], i);
}

static void spread(char *group, int me, int number)
{
    int root = (number + 1) % MEMBERS;

    if (me != root) {
        CHECK_EQ(check_receive_int(-1, TAG_DATA), number);
        return;
    }
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&number, 1, 1), 0);
    TIMED(pvm_bcast(group, TAG_DATA), 0);
}

static void look_up(char *group, int me)
{
    TIMED(pvm_gsize(group), MEMBERS);
    TIMED(pvm_getinst(group, pvm_mytid()), me);
    TIMED(pvm_gettid(group, me), pvm_mytid());
}

static void member(int argc, char **argv)
{
    (void)argc, (void)argv;
    char *groups[] = {"dynamic", "static"};
    int instances[2], number = 0, stop = 0;

    pvm_setopt(PvmAutoErr, 0);
    for (int i = 0; i < 2; i++)
        instances[i] = team_join_kind(groups[i], MEMBERS, i);
    check_send_int(pvm_parent(), TAG_TEAM_GO, instances[0]);
    for (; !stop; number++) {
        char *group = groups[number / 2 % 2];
        int me = instances[number / 2 % 2];

        TIMED(pvm_barrier(group, number % 3 ? MEMBERS : -1), 0);
        if (number % MEMBERS == me)
            compute(number % 7);
        combine(group, me, number);
        spread(group, me, number);
        look_up(group, me);
        stop = scatter_stop(group, me, number);
    }
    TIMED(pvm_barrier(groups[0], MEMBERS), 0); /* none ends before all have looked */
    report(number);
}

/* ---- storm ---- */

/* An instance was ours between these times, if not longer. */
struct hold {
    int instance;
    double from_us, to_us;
};

static struct hold holds[HOLDS_MAX];
static int held;

static void hold_once(void)
{
    double start = check_now();
    int instance = pvm_joingroup("storm"), size;

    note_time(check_now() - start);
    CHECK(instance >= 0);
    holds[held] = (struct hold){instance, team_now_us(), 0};
    size = pvm_gsize("storm");
    CHECK(size >= 1 && size <= MEMBERS);
    TIMED(pvm_getinst("storm", pvm_mytid()), instance);
    TIMED(pvm_joingroup("storm"), PvmDupGroup);
    holds[held++].to_us = team_now_us();
    TIMED(pvm_lvgroup("storm"), 0);
    TIMED(pvm_lvgroup("storm") == 0, 0); /* no group, or not in it */
}

static void stormer(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    check_send_int(pvm_parent(), TAG_TEAM_GO, 0);
    while (!told_to_stop() && held < HOLDS_MAX)
        hold_once();
    pvm_initsend(PvmDataDefault);
    CHECK_EQ(pvm_pkint(&held, 1, 1), 0);
    CHECK_EQ(pvm_pkbyte((char *)holds, held * (int)sizeof *holds, 1), 0);
    CHECK_EQ(pvm_send(pvm_parent(), TAG_HOLDS), 0);
    int instance = team_join("storm", MEMBERS), all[MEMBERS];
    CHECK_EQ(pvm_gsize("storm"), MEMBERS);
    CHECK_EQ(pvm_gather(all, &instance, 1, PVM_INT, 1, "storm", 0), 0);
    for (int i = 0; instance == 0 && i < MEMBERS; i++)
        CHECK_EQ(all[i], i);
    CHECK_EQ(pvm_barrier("storm", MEMBERS), 0); /* none leaves before all have looked */
    report(held);
}

static int by_instance(const void *left, const void *right)
{
    const struct hold *a = left, *b = right;

    if (a->instance != b->instance)
        return a->instance < b->instance ? -1 : 1;
    return a->from_us < b->from_us ? -1 : a->from_us > b->from_us;
}

/* No instance had two holders at the same time. */
static void check_holds(void)
{
    static struct hold all[MEMBERS * HOLDS_MAX];
    int n = 0;

    for (int i = 0, more; i < MEMBERS; i++, n += more) {
        check_receive(-1, TAG_HOLDS);
        CHECK_EQ(pvm_upkint(&more, 1, 1), 0);
        CHECK_EQ(pvm_upkbyte((char *)(all + n), more * (int)sizeof *all, 1), 0);
    }
    qsort(all, (size_t)n, sizeof *all, by_instance);
    for (int i = 1; i < n; i++)
        CHECK(all[i].instance != all[i - 1].instance || all[i].from_us > all[i - 1].to_us);
}

/* ---- busy ---- */

enum { BUSY_MS = 1500 };

static void check_numbers(int me)
{
    TIMED(pvm_gsize("busy"), MEMBERS);
    TIMED(pvm_getinst("busy", pvm_mytid()), me);
    for (int i = 0, tid; i < MEMBERS; i++) {
        double start = check_now();
        tid = pvm_gettid("busy", i);
        note_time(check_now() - start);
        CHECK(tid > 0 && (tid == pvm_mytid()) == (i == me));
    }
}

/* Member 1 computes; member 2 leaves and returns to the same place, the lowest free one; the others look. */
static void busybody(int argc, char **argv)
{
    (void)argc, (void)argv;
    int me = team_join("busy", MEMBERS), rounds = 0;

    pvm_setopt(PvmAutoErr, 0);
    check_send_int(pvm_parent(), TAG_TEAM_GO, me);
    if (me == 1)
        compute(BUSY_MS);
    for (; me != 1 && !told_to_stop(); rounds++) {
        if (me == 2) {
            TIMED(pvm_lvgroup("busy"), 0);
            TIMED(pvm_joingroup("busy"), me);
        }
        TIMED(pvm_getinst("busy", pvm_mytid()), me);
    }
    TIMED(pvm_barrier("busy", MEMBERS), 0);
    check_numbers(me);
    TIMED(pvm_barrier("busy", MEMBERS), 0);
    report(rounds + 1);
}

/* ---- master ---- */

/* The tid of the group server; waits until there is one other than `old`. */
static int server_tid(int old)
{
    int tid = old;

    for (double end = check_now() + check_limit_s(); tid == old && check_now() < end;) {
        if (pvm_recvinfo("pvmgs", 0, PvmMboxDefault) > 0)
            CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
        else
            check_sleep_ms(1);
    }
    CHECK(tid != old);
    return tid;
}

static int count_servers(void)
{
    struct pvmtaskinfo *tasks;
    int n, servers = 0;

    CHECK_EQ(pvm_tasks(0, &n, &tasks), 0);
    for (int i = 0; i < n; i++)
        servers += strstr(tasks[i].ti_a_out, "pvmgs") != NULL;
    return servers;
}

static void kill_servers(int kills)
{
    for (int i = 0, server = 0; i < kills; i++) {
        server = server_tid(server);
        usleep((useconds_t)(rand() % (i % 4 ? MOMENT_MAX_US : SHORT_MAX_US)));
        CHECK_EQ(pvm_sendsig(server, SIGKILL), 0);
    }
}

static void master(int argc, char **argv)
{
    CHECK(argc > 4);
    int storm = strcmp(argv[1], "storm") == 0, busy = strcmp(argv[1], "busy") == 0, kills = atoi(argv[2]),
        seed = atoi(argv[3]);
    int hosts = team_hosts(argc, argv), least = INT_MAX, slowest_ms = 0;
    double start = check_now();
    struct team t;

    srand((unsigned)seed);
    team_start(&t, storm ? "stormer" : busy ? "busybody" : "member", 0, MEMBERS, hosts);
    for (int i = 0; i < MEMBERS; i++)
        check_receive_int(t.tids[i], TAG_TEAM_GO);
    kill_servers(kills);
    for (int i = 0; i < MEMBERS; i++)
        check_send_int(t.tids[i], TAG_TEAM_GO, 1);
    if (storm)
        check_holds();
    for (int i = 0; i < MEMBERS; i++) {
        int done = check_receive_int(t.tids[i], TAG_TEAM_RESULT), ms = check_receive_int(t.tids[i], TAG_TEAM_NOTE);
        least = done < least ? done : least;
        slowest_ms = ms > slowest_ms ? ms : slowest_ms;
    }
    team_finish(&t);
    CHECK_EQ(count_servers(), 1);
    CHECK(least > 0);
    printf("%s: %d kills, seed %d, %.0f s; each member did %d rounds or more, the longest call took %d ms\n", argv[1],
           kills, seed, check_now() - start, least, slowest_ms);
}

static const struct check_role roles[] = {
    {"member", member}, {"stormer", stormer}, {"busybody", busybody}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
