/*
 * killed - members are killed at random points of collective calls: every call returns within 5 s, all survivors hear
 * of each death in exactly one barrier, the same for all, and a task that takes the dead one's place lets them go on:
 * killed KILLS SEED HOSTS. In every fifth round the group is static: its survivors hear of the death once and end.
 */
#include <signal.h>
#include "team.h"

enum { MEMBERS = 5, STATIC_EVERY = 5, LIMIT_S = 5, MOMENT_MAX_US = 20000, NUMBERS = 10000 };

static char group[16]; /* one for each team: the last one's members may not be known to be dead */

/* A call that began at `start` has returned. */
static void end_call(double start)
{
    CHECK(check_now() - start < LIMIT_S * check_slowness());
}

/* ---- member ---- */

/* Sets the group from the argument, and returns the number of barriers before the member's first one. */
static int read_argument(int argc, char **argv)
{
    int argument = team_argument(argc, argv);

    snprintf(group, sizeof group, "k%d", argument / NUMBERS);
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
    end_call(start);
    CHECK(code == 0 || code == PvmNoTask || code == PvmNoInst);
}

static int barrier(void)
{
    double start = check_now();
    int code = pvm_barrier(group, MEMBERS);

    end_call(start);
    return code;
}

/* Joins after `number` barriers; tells the master at the first barrier, and at each one that a death makes fail. */
static void dynamic(int argc, char **argv)
{
    int number = read_argument(argc, argv), instance = pvm_joingroup(group);

    pvm_setopt(PvmAutoErr, 0);
    CHECK(instance >= 0 && instance < MEMBERS);
    CHECK_EQ(barrier(), 0);
    check_send_int(pvm_parent(), TAG_TEAM_GO, number);
    for (;;) {
        collective(number++);
        int code = barrier();
        if (code < 0) {
            CHECK_EQ(code, PvmNoTask);
            CHECK(pvm_gettid(group, instance) == pvm_mytid());
            check_send_int(pvm_parent(), TAG_TEAM_NOTE, number);
            CHECK_EQ(barrier(), 0); /* waits for a new member */
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
    CHECK_EQ(pvm_lvgroup(group), 0);
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, number);
}

/* ---- master ---- */

/* Kills one of the tasks at a random moment; returns its place in the team. */
static int kill_one(struct team *t)
{
    int which = rand() % t->size;

    usleep((useconds_t)(rand() % MOMENT_MAX_US));
    CHECK_EQ(pvm_sendsig(t->tids[which], SIGKILL), 0);
    return which;
}

static void collect(int n, int tag)
{
    for (int i = 0; i < n; i++)
        check_receive_int(-1, tag);
}

/* Each survivor tells of one failed barrier, the same one. */
static int agreed_number(const struct team *t, int dead)
{
    int number = -1;

    for (int i = 0; i < MEMBERS; i++) {
        if (i == dead)
            continue;
        int its = check_receive_int(t->tids[i], TAG_TEAM_NOTE);
        CHECK(number == -1 || its == number);
        number = its;
    }
    return number;
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

    team_start(&t, "dynamic", round * NUMBERS, MEMBERS, hosts);
    collect(MEMBERS, TAG_TEAM_GO);
    for (int i = 0; i < kills; i++) {
        struct team heir;
        int which = kill_one(&t);
        int number = agreed_number(&t, which);

        team_start(&heir, "dynamic", round * NUMBERS + number, 1, 1);
        t.tids[which] = heir.tids[0];
        CHECK_EQ(check_receive_int(heir.tids[0], TAG_TEAM_GO), number);
    }
    end_all(&t);
}

static void play_static(int round, int hosts)
{
    struct team t;

    team_start(&t, "static", round * NUMBERS, MEMBERS, hosts);
    collect(MEMBERS, TAG_TEAM_GO);
    kill_one(&t);
    collect(MEMBERS - 1, TAG_TEAM_NOTE);
    check_wait_exit(MEMBERS, t.tids);
}

static void master(int argc, char **argv)
{
    CHECK(argc > 2);
    int kills = atoi(argv[1]), seed = atoi(argv[2]), hosts = argc > 3 ? team_hosts(argc, argv) : 1;
    double start = check_now();

    srand((unsigned)seed);
    for (int done = 0; done < kills; done += STATIC_EVERY) {
        play_dynamic(done, STATIC_EVERY - 1, hosts);
        play_static(done + 1, hosts);
    }
    printf("%d kills, seed %d, %.0f s\n", kills, seed, check_now() - start);
}

static const struct check_role roles[] = {{"dynamic", dynamic}, {"static", frozen}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
