/*
 * order - no member waits without need: members other than the root leave a call at once, whatever the others do, and
 * forward data of others while they do something else: order [HOSTS].
 */
#include "team.h"

enum { MEMBERS = 11, TAG_TOKEN = 5, ROUNDS = 12 };

static int instance;

static int tid_of(int who)
{
    return pvm_gettid("o", who);
}

/* The next member after `who` that is not the root, forwards or backwards; out of range at the end. */
static int next_of(int who, int root, int step)
{
    return who + step == root ? who + 2 * step : who + step;
}

/*
 * A token circulates among all but the root, and its holder makes the call before it passes the token on. If a member
 * waited for those whose data it forwards, the token would stop.
 */
static void token(int operation, int root, int step)
{
    int first = next_of(step > 0 ? -1 : MEMBERS, root, step), next = next_of(instance, root, step);
    int data = instance, all[MEMBERS];

    if (instance != root && instance != first)
        check_receive_int(-1, TAG_TOKEN);
    if (operation == 0)
        CHECK_EQ(pvm_reduce(PvmSum, &data, 1, PVM_INT, 1, "o", root), 0);
    else
        CHECK_EQ(pvm_gather(all, &data, 1, PVM_INT, 1, "o", root), 0);
    if (instance != root && next >= 0 && next < MEMBERS)
        check_send_int(tid_of(next), TAG_TOKEN, operation);
    if (instance == root && operation == 0)
        CHECK_EQ(data, MEMBERS * (MEMBERS - 1) / 2);
    for (int i = 0; instance == root && operation == 1 && i < MEMBERS; i++)
        CHECK_EQ(all[i], i);
    CHECK_EQ(pvm_barrier("o", MEMBERS), 0);
}

/* The parts of a scatter reach waiting members, even if others enter the call much later. */
static void late_scatter(void)
{
    int all[MEMBERS], part = -1;
    for (int i = 0; i < MEMBERS; i++)
        all[i] = 1000 + i;
    if (instance % 2) /* these wait for their turn in other calls of PVM */
        check_receive_int(tid_of(instance - 1), TAG_TOKEN);
    CHECK_EQ(pvm_scatter(&part, all, 1, PVM_INT, 1, "o", 0), 0);
    CHECK_EQ(part, 1000 + instance);
    if (instance % 2 == 0 && instance < MEMBERS - 1)
        check_send_int(tid_of(instance + 1), TAG_TOKEN, 0);
    CHECK_EQ(pvm_barrier("o", MEMBERS), 0);
}

/* The same in reverse: the inner members of the tree are late. */
static void later_scatter(void)
{
    int all[MEMBERS] = {0}, part = -1;
    if (instance == 8) {
        int from = tid_of(9);
        check_receive_int(from, TAG_TOKEN);
    }
    CHECK_EQ(pvm_scatter(&part, all, 1, PVM_INT, 1, "o", 0), 0);
    CHECK_EQ(part, 0);
    if (instance == 9)
        check_send_int(tid_of(8), TAG_TOKEN, 0);
    CHECK_EQ(pvm_barrier("o", MEMBERS), 0);
}

/* Many calls in progress at once: the members are ahead of the root by all of them. */
static void run_ahead(void)
{
    int all[MEMBERS], sum;
    if (instance == 3)
        check_sleep_ms(200);
    for (int round = 0; round < ROUNDS; round++) {
        sum = round;
        CHECK_EQ(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 1, "o", 3), 0);
        CHECK_EQ(sum, instance == 3 ? round * MEMBERS : round);
        CHECK_EQ(pvm_gather(all, &instance, 1, PVM_INT, 1, "o", 3), 0);
        CHECK(instance != 3 || all[MEMBERS - 1] == MEMBERS - 1);
    }
    CHECK_EQ(pvm_barrier("o", MEMBERS), 0);
    for (int round = 0; round < ROUNDS; round++) {
        int part;
        for (int i = 0; i < MEMBERS; i++)
            all[i] = round;
        if (instance == 8)
            check_sleep_ms(10);
        CHECK_EQ(pvm_scatter(&part, all, 1, PVM_INT, 1, "o", 3), 0);
        CHECK_EQ(part, round);
    }
    CHECK_EQ(pvm_barrier("o", MEMBERS), 0);
}

/* The user's receives get no message of ours, and our calls get none of the user's. */
static void keep_apart(void)
{
    int sum = 1, other = tid_of((instance + 1) % MEMBERS);
    check_send_int(other, 1, 42); /* the tag of the call below */
    CHECK_EQ(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 1, "o", 0), 0);
    CHECK_EQ(sum, instance ? 1 : MEMBERS);
    CHECK_EQ(pvm_barrier("o", MEMBERS), 0);
    CHECK_EQ(check_receive_int(-1, -1), 42);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
    CHECK_EQ(pvm_barrier("o", MEMBERS), 0);
}

static void member(int argc, char **argv)
{
    instance = team_join_kind("o", MEMBERS, team_argument(argc, argv));
    double start = check_now();
    for (int operation = 0; operation <= 1; operation++) {
        token(operation, 0, 1);
        token(operation, 0, -1);
        token(operation, MEMBERS - 1, 1);
        token(operation, MEMBERS - 1, -1);
    }
    late_scatter();
    later_scatter();
    run_ahead();
    keep_apart();
    CHECK(check_now() - start < 8 * check_slowness()); /* nothing was retransmitted, which takes a second */
    CHECK_EQ(pvm_lvgroup("o"), 0);
    team_done();
}

static void master(int argc, char **argv)
{
    int hosts = team_hosts(argc, argv);
    for (int frozen = 0; frozen <= 1; frozen++) {
        struct team t;
        team_start(&t, "member", frozen, MEMBERS, hosts);
        team_finish(&t);
    }
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
