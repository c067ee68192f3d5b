/*
 * killed - members are killed at random points of collective calls: every call returns within 5 s, all survivors hear
 * of each death in exactly one barrier, the same for all, and a task that takes the dead one's place lets them go on.
 * In every fifth round the group is static: its survivors hear of the death once and end.
 *
 *   killed KILLS SEED WHOM HOSTS
 *
 * WHOM: `member`; `both`: the group server at the same moment; `host`: the daemon of the server's host, and so all
 * members there. They are on the second and third host.
 */
#include <signal.h>
#include <stdbool.h>
#include "team.h"

enum { MEMBERS = 5, STATIC_EVERY = 5, LIMIT_S = 5, MOMENT_MAX_US = 20000, NUMBERS = 10000, ROUNDS = 10000 };

static char group[16]; /* one for each team: the last one's members may not be known to be dead */
static bool together;  /* several may die at once */

/* A call that began at `start` has returned. A member whose daemon is killed ends. */
static void end_call(double start, int code)
{
    if (code == PvmSysErr)
        _exit(0);
    CHECK(check_now() - start < LIMIT_S * check_slowness());
}

/* ---- member ---- */

/* Sets the group from the argument, and returns the number of barriers before the member's first one. */
static int read_argument(int argc, char **argv)
{
    int argument = team_argument(argc, argv);

    snprintf(group, sizeof group, "k%d", argument / NUMBERS % ROUNDS);
    together = argument / NUMBERS / ROUNDS;
    return argument % NUMBERS;
}

/* The call that follows barrier `number`; data of dead members may be missing. */
static void collective(int number)
{
    int data = 1, all[2 * MEMBERS] = {0}, root = number / 4 % MEMBERS, code = 0;
    double start = check_now();

    switch (number % 4) {
    case 0:
        code = pvm_reduce(PvmSum, &data, 1, PVM_INT, 1, group, root);
        break;
    case 1:
        code = pvm_gather(all, &data, 1, PVM_INT, 1, group, root);
        break;
    case 2:
        code = pvm_scatter(&data, all, 1, PVM_INT, 1, group, root);
        break;
    default:
        pvm_initsend(PvmDataDefault);
        code = pvm_bcast(group, 1);
        while (pvm_nrecv(-1, 1) > 0)
            continue;
    }
    end_call(start, code);
    CHECK(code == 0 || code == PvmNoTask || code == PvmNoInst);
}

static int barrier(void)
{
    double start = check_now();
    int code = pvm_barrier(group, MEMBERS);

    end_call(start, code);
    return code;
}

/* A new member lets the survivors go on. Of several that die with their host they may hear one by one. */
static void await_new_member(void)
{
    int code = barrier();

    for (int more = MEMBERS; code == PvmNoTask && together && more > 0; more--)
        code = barrier();
    CHECK_EQ(code, 0);
}

/* Joins after `number` barriers; tells the master at the first barrier, and at each one that a death makes fail. */
static void dynamic(int argc, char **argv)
{
    int number = read_argument(argc, argv), instance = pvm_joingroup(group);

    pvm_setopt(PvmAutoErr, 0);
    CHECK(instance != PvmSysErr);
    CHECK(instance >= 0 && instance < MEMBERS);
    await_new_member(); /* perhaps one of several */
    check_send_int(pvm_parent(), TAG_TEAM_GO, number);
    for (;;) {
        collective(number++);
        int code = barrier();
        if (code < 0) {
            CHECK_EQ(code, PvmNoTask);
            CHECK(pvm_gettid(group, instance) == pvm_mytid());
            check_send_int(pvm_parent(), TAG_TEAM_NOTE, number);
            await_new_member();
        }
    }
}

static void frozen(int argc, char **argv)
{
    int code, number = read_argument(argc, argv);

    team_join_kind(group, MEMBERS, 1);
    pvm_setopt(PvmAutoErr, 0);
    check_send_int(pvm_parent(), TAG_TEAM_GO, number);
    while ((code = barrier()) == 0)
        collective(number++);
    CHECK_EQ(code, PvmNoTask);
    CHECK_EQ(barrier(), PvmNoGroup);
    double start = check_now();
    end_call(start, code = pvm_lvgroup(group));
    CHECK_EQ(code, 0);
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, number);
}

/* ---- master ---- */

static enum { MEMBER, BOTH, HOST } whom;

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

/* Kills the daemon of this host, with all tasks there, and adds the host again. */
static void kill_host(int dtid, int witness)
{
    pid_t daemon = check_daemon_of(witness);

    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_TEAM_DONE, 1, &dtid), 0);
    usleep((useconds_t)(rand() % MOMENT_MAX_US));
    CHECK_EQ(kill(daemon, SIGKILL), 0);
    CHECK_EQ(check_receive_int(-1, TAG_TEAM_DONE), dtid);
}

static void kill_member(int tid)
{
    int server = whom == BOTH ? server_tid(0) : 0;

    usleep((useconds_t)(rand() % MOMENT_MAX_US));
    if (server)
        CHECK_EQ(pvm_sendsig(server, SIGKILL), 0);
    CHECK_EQ(pvm_sendsig(tid, SIGKILL), 0);
}

/* Kills one of the tasks, or those of the server's host, at a random moment; marks who is dead, and counts them. */
static int kill_some(struct team *t, bool dead[MEMBERS])
{
    int which = rand() % t->size, n = 0;
    int dtid = whom == HOST ? pvm_tidtohost(server_tid(0)) : 0;

    for (int i = 0; i < t->size; i++) {
        dead[i] = whom == HOST ? pvm_tidtohost(t->tids[i]) == dtid : i == which;
        if (dead[i])
            which = i;
        n += dead[i];
    }
    CHECK(n > 0 && n < MEMBERS);
    if (whom == HOST)
        kill_host(dtid, t->tids[which]);
    else
        kill_member(t->tids[which]);
    return n;
}

/* Members are on all hosts, or on those that may be killed. */
static void start_some(struct team *t, const char *role, int argument, int n, int hosts)
{
    if (whom == HOST)
        argument += NUMBERS * ROUNDS;
    if (whom != HOST) {
        team_start(t, role, argument, n, hosts);
        return;
    }
    char text[16];
    snprintf(text, sizeof text, "%d", argument);
    t->size = n;
    check_hosts(hosts);
    for (int i = 0; i < n; i++)
        check_spawn(role, text, check_host_name(1 + i % (hosts - 1)), 1, &t->tids[i]);
}

static void collect(int n, int tag)
{
    for (int i = 0; i < n; i++)
        check_receive_int(-1, tag);
}

/* Each survivor tells of one failed barrier, the same one. */
static int agreed_number(const struct team *t, const bool dead[MEMBERS])
{
    int number = -1;

    for (int i = 0; i < MEMBERS; i++) {
        if (dead[i])
            continue;
        int its = check_receive_int(t->tids[i], TAG_TEAM_NOTE);
        CHECK(number == -1 || its == number);
        number = its;
    }
    return number;
}

/* New tasks take the places of the dead. */
static void replace(struct team *t, const bool dead[MEMBERS], int n, int argument, int number, int hosts)
{
    struct team heirs;

    start_some(&heirs, "dynamic", argument + number, n, whom == HOST ? hosts : 1);
    for (int i = 0; i < MEMBERS; i++)
        if (dead[i])
            t->tids[i] = heirs.tids[--n];
    for (int i = 0; i < heirs.size; i++)
        CHECK_EQ(check_receive_int(heirs.tids[i], TAG_TEAM_GO), number);
}

/* Ends all at the same moment, so that none hears of another's death. */
static void end_all(struct team *t)
{
    for (int i = 0; i < MEMBERS; i++)
        CHECK_EQ(pvm_sendsig(t->tids[i], SIGSTOP), 0);
    for (int i = 0; i < MEMBERS; i++)
        CHECK_EQ(pvm_pstat(t->tids[i]), 0); /* its daemon has stopped it */
    for (int i = 0; i < MEMBERS; i++)
        CHECK_EQ(pvm_sendsig(t->tids[i], SIGKILL), 0);
    check_wait_exit(MEMBERS, t->tids);
}

static void play_dynamic(int round, int kills, int hosts)
{
    struct team t;

    start_some(&t, "dynamic", round * NUMBERS, MEMBERS, hosts);
    collect(MEMBERS, TAG_TEAM_GO);
    for (int i = 0; i < kills; i++) {
        bool dead[MEMBERS];
        int n = kill_some(&t, dead), number = agreed_number(&t, dead);

        replace(&t, dead, n, round * NUMBERS, number, hosts);
    }
    end_all(&t);
}

static void play_static(int round, int hosts)
{
    struct team t;
    bool dead[MEMBERS];

    start_some(&t, "static", round * NUMBERS, MEMBERS, hosts);
    collect(MEMBERS, TAG_TEAM_GO);
    collect(MEMBERS - kill_some(&t, dead), TAG_TEAM_NOTE);
    check_wait_exit(MEMBERS, t.tids);
}

static void master(int argc, char **argv)
{
    CHECK(argc > 4);
    int kills = atoi(argv[1]), seed = atoi(argv[2]), hosts = team_hosts(argc, argv);
    double start = check_now();

    whom = strcmp(argv[3], "host") == 0 ? HOST : strcmp(argv[3], "both") == 0 ? BOTH : MEMBER;
    CHECK(whom != HOST || hosts == 3);
    srand((unsigned)seed);
    for (int done = 0; done < kills; done += STATIC_EVERY) {
        play_dynamic(done, STATIC_EVERY - 1, hosts);
        play_static(done + 1, hosts);
    }
    check_hosts(hosts);
    printf("%d kills of %s, seed %d, %.0f s\n", kills, argv[3], seed, check_now() - start);
}

static const struct check_role roles[] = {{"dynamic", dynamic}, {"static", frozen}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
