/*
 * hosts - tasks of several daemons, each daemon at its own host of a simulated ATM network: hosts CASE HOSTS
 * [end].
 *
 *   ring    a message travels from the master through the tasks on all hosts and back
 *   aside   the same through the daemons, bypassing the network, with a time limit
 *   mcast   the master multicasts to one task on each other host
 *   bcast   the same to a group
 *   stall   the task on the next host stops: time advances for the others, and the task sees an error when it continues
 *   near    mcast, with another receiver on the master's own host, which needs no cells
 *   groups  mcast, in turn to all receivers and to all but the last: the circuits of the two groups share links
 *
 * With `end` the network is killed after half of the messages; none may be lost.
 *
 * The master's daemon is at host a, the others at b, c and so on by their option at=. check-cells counts the cells on
 * the links.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include "tests/machine/runner/check.h"

enum {
    BYTES = 400000,
    ROUNDS_MAX = 40,
    ROUNDS_VALGRIND = 4,
    HOSTS_MAX = 8,
    TAG_WHERE = 1,
    TAG_NEXT,
    TAG_DATA,
    TAG_SEEN,
    TAG_PID,
    TAG_GONE,
    TAG_BACK,
    BACK_ROUNDS = 5
};

#define ASIDE_S 30 /* time limit, in virtual time, of which the messages take none */
#define STALL_S 5  /* in virtual time, without a message */

#define GROUP "everyone"

static char data[BYTES];
static int rounds = ROUNDS_MAX;
static int aside;

/* ---- data ---- */

static void send_data(int round)
{
    check_fill(data, BYTES, (unsigned)round);
    CHECK(pvm_initsend(PvmDataRaw) > 0);
    CHECK_EQ(pvm_pkint(&round, 1, 1), 0);
    CHECK_EQ(pvm_pkbyte(data, BYTES, 1), 0);
}

static void receive_data(int round)
{
    int number;
    memset(data, 0, BYTES);
    struct timeval limit = {.tv_sec = ASIDE_S};
    if (aside)
        CHECK(pvm_trecv(-1, TAG_DATA, &limit) > 0);
    else
        check_receive(-1, TAG_DATA);
    CHECK_EQ(pvm_upkint(&number, 1, 1), 0);
    CHECK_EQ(number, round);
    CHECK_EQ(pvm_upkbyte(data, BYTES, 1), 0);
    CHECK(check_same(data, BYTES, (unsigned)round));
}

/* Joins the network before choosing a route that does not use it. */
static void take_route(const char *what)
{
    CHECK(pvm_mytid() > 0);
    aside = !strcmp(what, "aside");
    pvm_setopt(PvmRoute, aside ? PvmDontRoute : PvmRouteDirect);
}

static bool is_ring(const char *what)
{
    return !strcmp(what, "ring") || !strcmp(what, "aside");
}

/* ---- members ---- */

static void tell_where(void)
{
    char *where = getenv("PVM_ATM_HOST");
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkstr(where ? where : ""), 0);
    CHECK_EQ(pvm_send(pvm_parent(), TAG_WHERE), 0);
}

static void hand_on(int argc, char **argv)
{
    take_route(argc > 1 ? argv[1] : "");
    tell_where();
    int next = check_receive_int(pvm_parent(), TAG_NEXT);
    for (int round = 0; round < rounds; round++) {
        receive_data(round);
        send_data(round);
        CHECK_EQ(pvm_send(next, TAG_DATA), 0);
    }
}

/* `half`: every second message is for the others only. */
static void listen(int argc, char **argv)
{
    int step = argc > 1 && !strcmp(argv[1], "half") ? 2 : 1;
    tell_where();
    if (argc > 1 && !strcmp(argv[1], "bcast")) {
        CHECK(pvm_joingroup(GROUP) >= 0);
        check_send_int(pvm_parent(), TAG_SEEN, -1);
    }
    for (int round = 0; round < rounds; round += step) {
        receive_data(round);
        check_send_int(pvm_parent(), TAG_SEEN, round);
    }
}

/*
 * Stops while time waits for this task. When it continues, it has lost the network and must see an error. Once it has
 * left the machine, it may join anew.
 */
static void stop(int argc, char **argv)
{
    (void)argc, (void)argv;
    int master = pvm_parent();
    tell_where();
    check_send_int(master, TAG_PID, (int)getpid());
    CHECK_EQ(raise(SIGSTOP), 0);
    CHECK_EQ(pvm_recv(-1, TAG_NEXT), PvmSysErr);
    CHECK_EQ(pvm_exit(), PvmSysErr); /* the daemon was not told */
    CHECK(pvm_mytid() > 0);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    check_send_int(master, TAG_BACK, 0);
    for (int round = 1; round <= BACK_ROUNDS; round++)
        check_send_int(master, TAG_BACK, check_receive_int(master, TAG_NEXT));
}

/* ---- the master ---- */

static void add_hosts(int hosts)
{
    for (int i = 1; i < hosts; i++) {
        char line[64], *name = line;
        int status = 0;
        snprintf(line, sizeof line, "%s at=%c", check_host_name(i), 'a' + i);
        CHECK_EQ(pvm_addhosts(&name, 1, &status), 1);
    }
}

static void check_where(int tid, int host)
{
    char where[64], expected[2] = {(char)('a' + host), '\0'};
    check_receive(tid, TAG_WHERE);
    CHECK_EQ(pvm_upkstr(where), 0);
    CHECK_TEXT(where, expected);
}

static void await(const int *tids, int count, int value)
{
    for (int i = 0; i < count; i++)
        CHECK_EQ(check_receive_int(tids[i], TAG_SEEN), value);
}

static int ends;

static void end_network(int round)
{
    const char *pid = getenv("DPVM_ATM_NETWORK");
    if (ends && round == rounds / 2) {
        CHECK(pid);
        CHECK_EQ(kill((pid_t)atoi(pid), SIGKILL), 0);
    }
}

static void run_ring(const int *tids, int count)
{
    for (int i = 0; i < count; i++)
        check_send_int(tids[i], TAG_NEXT, i + 1 < count ? tids[i + 1] : pvm_mytid());
    for (int round = 0; round < rounds; round++) {
        send_data(round);
        end_network(round);
        CHECK_EQ(pvm_send(tids[0], TAG_DATA), 0);
        receive_data(round);
    }
}

static void run_spread(const char *what, int *tids, int count)
{
    bool by_group = !strcmp(what, "bcast"), in_turn = !strcmp(what, "groups");
    if (by_group) {
        CHECK(pvm_joingroup(GROUP) >= 0);
        await(tids, count, -1);
    }
    for (int round = 0; round < rounds; round++) {
        int receivers = in_turn && round % 2 ? count - 1 : count;
        send_data(round);
        end_network(round);
        CHECK_EQ(by_group ? pvm_bcast(GROUP, TAG_DATA) : pvm_mcast(tids, receivers, TAG_DATA), 0);
        await(tids, receivers, round);
    }
}

static bool is_stopped(pid_t pid)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    const char *at = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (f)
        fclose(f);
    return at && at[2] == 'T';
}

/* The task that stopped comes back under another tid, and lives by the network's time again. */
static void await_return(void)
{
    int tid;
    CHECK(pvm_recv(-1, TAG_BACK) > 0); /* without a limit: until it has joined, virtual time does not wait for it */
    CHECK_EQ(pvm_bufinfo(pvm_getrbuf(), NULL, NULL, &tid), 0);
    for (int round = 1; round <= BACK_ROUNDS; round++) {
        check_send_int(tid, TAG_NEXT, round);
        CHECK_EQ(check_receive_int(tid, TAG_BACK), round);
    }
}

/* tids[0] stops: messages to it and from it never arrive, while tids[1] continues to work. */
static void run_stall(int *tids)
{
    struct timeval limit = {.tv_sec = STALL_S};
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_GONE, 1, &tids[0]), 0);
    pid_t pid = check_receive_int(tids[0], TAG_PID);
    for (int round = 0; round < rounds; round++) {
        send_data(round);
        CHECK_EQ(pvm_send(tids[1], TAG_DATA), 0);
        await(&tids[1], 1, round);
    }
    CHECK(is_stopped(pid));
    CHECK_EQ(pvm_trecv(tids[0], -1, &limit), 0);
    CHECK_EQ(pvm_send(tids[0], TAG_DATA), 0);
    CHECK_EQ(kill(pid, SIGCONT), 0);
    await_return();
    CHECK(pvm_recv(-1, TAG_GONE) > 0); /* without a limit, as no other event is due in virtual time */
}

static const char *role_for(const char *what, int host)
{
    return is_ring(what) ? "hand_on" : !strcmp(what, "stall") && host == 1 ? "stop" : "listen";
}

static const char *argument_for(const char *what, int host, int hosts)
{
    return !strcmp(what, "groups") && host == hosts - 1 ? "half" : what;
}

static void master(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "ring";
    int hosts = argc > 2 ? atoi(argv[2]) : 2, tids[HOSTS_MAX], count = 0;
    ends = argc > 3 && !strcmp(argv[3], "end");
    CHECK(hosts > 1 && hosts <= HOSTS_MAX);
    take_route(what);
    add_hosts(hosts);
    for (int i = 1; i < hosts; i++, count++)
        check_spawn(role_for(what, i), argument_for(what, i, hosts), check_host_name(i), 1, &tids[count]);
    if (!strcmp(what, "near"))
        check_spawn("listen", what, check_host_name(0), 1, &tids[count++]);
    for (int i = 0; i < count; i++)
        check_where(tids[i], (i + 1) % hosts);
    if (!strcmp(what, "stall"))
        run_stall(tids);
    else if (is_ring(what))
        run_ring(tids, count);
    else
        run_spread(what, tids, count);
    check_wait_exit(count, tids);
}

static const struct check_role roles[] = {{"hand_on", hand_on}, {"listen", listen}, {"stop", stop}, {NULL, NULL}};

int main(int argc, char **argv)
{
    if (getenv("DPVM_VALGRIND"))
        rounds = ROUNDS_VALGRIND;
    return check_main(argc, argv, master, roles);
}
