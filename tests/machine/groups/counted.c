/*
 * counted - members of a group that is not frozen, who count their collective calls at a board instead of asking the
 * server who takes part: that they ask nothing, and what happens when the group changes, or the server ends: counted
 * CASE HOSTS.
 */
#include <signal.h>
#include "team.h"

enum {
    FEW = 4,
    FIRST = 12,
    AHEAD = 7,
    LATER = 1000,
    TOGETHER = 50,
    MANY_CALLS = 140000,
    PAUSE_MS = 100,
    CALLS_A_PAUSE = 16
};
enum { TAG_JOINED = TAG_TEAM_RESULT + 1, TAG_LEAVE };

static char *group = "c";

/* One call in which all give 1. At the root, how many they were. */
static int count(int root)
{
    int sum = 1;
    CHECK_EQ(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 1, group, root), 0);
    return sum;
}

/* From here on all n members count at a board. */
static int start(int n)
{
    pvm_setopt(PvmAutoErr, 0);
    int instance = team_join(group, n);
    for (int i = 0; i < FIRST; i++) {
        int sum = count(0);
        if (instance == 0)
            CHECK_EQ(sum, n);
        CHECK_EQ(pvm_barrier(group, n), 0);
    }
    CHECK(team_has_board());
    return instance;
}

static int find_server(void)
{
    int server = 0;
    CHECK(pvm_recvinfo("pvmgs", 0, PvmMboxDefault) > 0);
    CHECK_EQ(pvm_upkint(&server, 1, 1), 0);
    return server;
}

static void kill_server(void)
{
    int server = find_server();
    CHECK_EQ(pvm_sendsig(server, SIGKILL), 0);
    check_wait_exit(1, &server);
}

/* ---- alone: calls and questions while the server is stopped ---- */

static void asking_nobody(int argc, char **argv)
{
    (void)argc, (void)argv;
    int instance = start(FEW), all[FEW], mine;
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, instance);
    check_receive(pvm_parent(), TAG_TEAM_GO); /* the server is stopped */
    CHECK_EQ(pvm_gsize(group), FEW);
    CHECK_EQ(pvm_getinst(group, pvm_mytid()), instance);
    CHECK_EQ(pvm_gettid(group, instance), pvm_mytid());
    for (int i = 0; i < LATER; i++) {
        int sum = count(i % FEW);
        if (instance == i % FEW)
            CHECK_EQ(sum, FEW);
        mine = i + instance;
        CHECK_EQ(pvm_gather(all, &mine, 1, PVM_INT, 1, group, 0), 0);
        CHECK_EQ(pvm_scatter(&mine, all, 1, PVM_INT, 1, group, 0), 0);
        CHECK_EQ(mine, i + instance);
    }
    if (instance == 0) {
        CHECK(pvm_initsend(PvmDataDefault) >= 0);
        CHECK_EQ(pvm_bcast(group, TAG_JOINED), 0);
    } else {
        check_receive(-1, TAG_JOINED);
    }
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, instance);
    CHECK_EQ(pvm_barrier(group, FEW), 0);
    team_done();
}

static void run_alone(void)
{
    struct team t;
    team_start(&t, "asking_nobody", 0, FEW, 1);
    for (int i = 0; i < FEW; i++)
        check_receive_int(-1, TAG_TEAM_NOTE);
    int server = find_server();
    CHECK_EQ(pvm_sendsig(server, SIGSTOP), 0);
    for (int i = 0; i < FEW; i++)
        check_send_int(t.tids[i], TAG_TEAM_GO, 1);
    for (int i = 0; i < FEW; i++)
        check_receive_int(-1, TAG_TEAM_NOTE);
    CHECK_EQ(pvm_sendsig(server, SIGCONT), 0);
    team_finish(&t);
}

/* ---- refused: calls that are none, because the data type is wrong, before another task joins ---- */

static void refusing(int argc, char **argv)
{
    (void)argc, (void)argv;
    int instance = start(FEW), value = 0;
    CHECK_EQ(pvm_reduce(PvmSum, &value, 1, 99, 1, group, 0), PvmBadParam);
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, instance);
    check_receive(pvm_parent(), TAG_TEAM_GO);
    int sum = count(0);
    if (instance == 0)
        CHECK_EQ(sum, FEW + 1);
    CHECK_EQ(pvm_barrier(group, FEW + 1), 0);
    team_done();
}

/* ---- lag: the root makes calls that the others have begun, after another task has joined ---- */

/*
 * All of them, and the task that has joined. The server may have offered a board that the root could not use yet; by
 * the end there is another one, if the others do not leave the root behind for all these calls.
 */
static void count_later(int instance)
{
    for (int i = 0; i < LATER; i++) {
        int sum = count(0);
        if (instance == 0)
            CHECK_EQ(sum, FEW + 1);
        if (i % TOGETHER == 0)
            CHECK_EQ(pvm_barrier(group, FEW + 1), 0);
    }
    CHECK(team_has_board());
}

static void lagging(int argc, char **argv)
{
    (void)argc, (void)argv;
    int instance = start(FEW);
    for (int i = 0; instance > 0 && i < AHEAD; i++)
        count(0);
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, instance);
    check_receive(pvm_parent(), TAG_TEAM_GO);
    for (int i = 0; instance == 0 && i < AHEAD; i++)
        CHECK_EQ(count(0), FEW);
    count_later(instance);
    CHECK_EQ(pvm_barrier(group, FEW + 1), 0);
    team_done();
}

static void late(int argc, char **argv)
{
    CHECK_EQ(pvm_joingroup(group), FEW);
    check_send_int(pvm_parent(), TAG_JOINED, 1);
    if (team_argument(argc, argv) > 0)
        count(0);
    else
        count_later(FEW);
    CHECK_EQ(pvm_barrier(group, FEW + 1), 0);
    team_done();
}

static void run_late(const char *role, bool without_server, const char *calls)
{
    struct team t;
    int tid;
    team_start(&t, role, 0, FEW, 1);
    for (int i = 0; i < FEW; i++)
        check_receive_int(-1, TAG_TEAM_NOTE);
    if (without_server)
        kill_server();
    check_spawn("late", calls, ".", 1, &tid);
    check_receive_int(tid, TAG_JOINED);
    for (int i = 0; i < FEW; i++)
        check_send_int(t.tids[i], TAG_TEAM_GO, 1);
    check_receive_int(tid, TAG_TEAM_DONE);
    team_finish(&t);
}

/* ---- many: more calls than are set aside at once ---- */

static void counting(int argc, char **argv)
{
    (void)argc, (void)argv;
    int instance = start(FEW);
    for (int i = 0; i < MANY_CALLS; i++) {
        int sum = count(i % FEW);
        if (instance == i % FEW)
            CHECK_EQ(sum, FEW);
    }
    CHECK(team_has_board());
    CHECK_EQ(pvm_barrier(group, FEW), 0);
    team_done();
}

/* ---- stream: tasks come, leave and die while the root scatters numbers, of which none may be missing ---- */

static void scatter(int *value, int from_root)
{
    int values[TEAM_MAX];
    for (int i = 0; i < TEAM_MAX; i++)
        values[i] = from_root;
    int code = pvm_scatter(value, values, 1, PVM_INT, 1, group, 0);
    CHECK(code == 0 || (from_root && code == PvmNoTask)); /* a member has died */
}

static void be_source(void)
{
    int value;
    for (int i = 1; pvm_nrecv(pvm_parent(), TAG_TEAM_GO) == 0; i++) {
        scatter(&value, i);
        if (i % CALLS_A_PAUSE == 0)
            check_sleep_ms(1);
    }
    scatter(&value, -1);
}

static void be_sink(void)
{
    for (int value, last = 0; pvm_nrecv(pvm_parent(), TAG_LEAVE) == 0; last = value) {
        scatter(&value, 0);
        if (value < 0)
            break;
        if (last)
            CHECK_EQ(value, last + 1);
    }
    CHECK_EQ(pvm_lvgroup(group), 0);
}

static void streaming(int argc, char **argv)
{
    (void)argc, (void)argv;
    int instance = start(FEW);
    check_send_int(pvm_parent(), TAG_JOINED, instance);
    if (instance == 0)
        be_source();
    else
        be_sink();
    team_done();
}

static void joining(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    CHECK(pvm_joingroup(group) > 0);
    check_send_int(pvm_parent(), TAG_JOINED, 1);
    be_sink();
    team_done();
}

static int add_sink(void)
{
    int tid;
    check_spawn("joining", NULL, ".", 1, &tid);
    check_receive_int(tid, TAG_JOINED);
    check_sleep_ms(PAUSE_MS);
    return tid;
}

static void await_done(int tid)
{
    check_receive_int(tid, TAG_TEAM_DONE);
    check_wait_exit(1, &tid);
}

static void run_stream(void)
{
    struct team t;
    int sorted[FEW];
    team_start(&t, "streaming", 0, FEW, 1);
    for (int i = 0; i < FEW; i++)
        sorted[check_receive_int(t.tids[i], TAG_JOINED)] = t.tids[i];
    check_sleep_ms(PAUSE_MS);
    int first = add_sink();
    CHECK_EQ(pvm_sendsig(sorted[1], SIGKILL), 0);
    check_wait_exit(1, &sorted[1]);
    int second = add_sink();
    check_send_int(sorted[2], TAG_LEAVE, 1);
    await_done(sorted[2]);
    check_sleep_ms(PAUSE_MS);
    kill_server();
    int third = add_sink();
    check_send_int(sorted[0], TAG_TEAM_GO, 1);
    await_done(sorted[0]);
    await_done(sorted[3]);
    await_done(first);
    await_done(second);
    await_done(third);
}

/* ---- the master ---- */

static void run_many(void)
{
    struct team t;
    team_start(&t, "counting", 0, FEW, 1);
    team_finish(&t);
}

static void master(int argc, char **argv)
{
    CHECK(argc > 1);
    if (!strcmp(argv[1], "alone"))
        run_alone();
    else if (!strcmp(argv[1], "refused"))
        run_late("refusing", false, "1");
    else if (!strcmp(argv[1], "lag"))
        run_late("lagging", false, "0");
    else if (!strcmp(argv[1], "lag-server"))
        run_late("lagging", true, "0");
    else if (!strcmp(argv[1], "many"))
        run_many();
    else
        run_stream();
}

static const struct check_role roles[] = {
    {"asking_nobody", asking_nobody}, {"refusing", refusing},   {"lagging", lagging}, {"late", late},
    {"counting", counting},           {"streaming", streaming}, {"joining", joining}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
