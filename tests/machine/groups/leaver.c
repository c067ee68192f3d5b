/*
 * leaver - a member's contribution counts, whatever happens to the member afterwards; what was lost with an
 * intermediate member is retransmitted: leaver [HOSTS].
 */
#include <signal.h>
#include "team.h"

enum { MEMBERS = 11, INNER = 8, TAG_ASLEEP = 6 };

enum how { EXITS, DIES, HOW_MANY };

/*
 * One for each round: whoever joins after the last one has ended may reach the group server before it has heard of all
 * those ends, and a frozen group takes nobody.
 */
static char group[32];

static void set_group(const char *role, int argument)
{
    snprintf(group, sizeof group, "%s%d", role, argument);
}

/*
 * As most programs end: a member gives its result to the first one and exits. Some do so late, and are lower in the
 * tree.
 */
static void giver(int argc, char **argv)
{
    int argument = team_argument(argc, argv), frozen = argument % 2, operation = argument / 2 % 2;
    enum how how = argument / 4;
    set_group("giver", argument);
    int instance = team_join_kind(group, MEMBERS, frozen), data = instance, all[MEMBERS];

    if (instance >= INNER || instance == 2)
        check_sleep_ms(100 * instance);
    if (operation == 0)
        CHECK_EQ(pvm_reduce(PvmSum, &data, 1, PVM_INT, 1, group, 0), 0);
    else
        CHECK_EQ(pvm_gather(all, &data, 1, PVM_INT, 1, group, 0), 0);
    if (instance != 0) {
        if (how == DIES)
            kill(getpid(), SIGKILL);
        return;
    }
    for (int i = 0; operation == 1 && i < MEMBERS; i++)
        CHECK_EQ(all[i], i);
    CHECK(operation == 1 || data == MEMBERS * (MEMBERS - 1) / 2);
    team_done();
}

static void check_givers(int argument, int hosts)
{
    struct team t;
    team_start(&t, "giver", argument, MEMBERS, hosts);
    check_receive_int(-1, TAG_TEAM_DONE);
    check_wait_exit(MEMBERS, t.tids);
}

/*
 * The inner member no longer reads its messages when its children send theirs, or the root sends the parts of its
 * subtree; then it is killed.
 */
static void sleeper(int argc, char **argv)
{
    int argument = team_argument(argc, argv), frozen = argument % 2, operation = argument / 2;
    set_group("sleeper", argument);
    int instance = team_join_kind(group, MEMBERS, frozen), data = instance, all[MEMBERS] = {0}, code = 0;

    pvm_setopt(PvmAutoErr, 0);
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, instance);
    if (instance == INNER && operation < 2)
        code = operation == 0 ? pvm_reduce(PvmSum, &data, 1, PVM_INT, 1, group, 0)
                              : pvm_gather(all, &data, 1, PVM_INT, 1, group, 0);
    if (instance == INNER) {
        CHECK_EQ(code, 0);
        check_send_int(pvm_parent(), TAG_ASLEEP, 1);
        pause();
    }
    check_receive_int(pvm_parent(), TAG_TEAM_GO);
    code = operation == 0   ? pvm_reduce(PvmSum, &data, 1, PVM_INT, 1, group, 0)
           : operation == 1 ? pvm_gather(all, &data, 1, PVM_INT, 1, group, 0)
                            : pvm_scatter(&data, all, 1, PVM_INT, 1, group, 0);
    CHECK_EQ(code, 0);
    if (instance == 0 && operation == 0)
        CHECK_EQ(data, MEMBERS * (MEMBERS - 1) / 2);
    for (int i = 0; instance == 0 && operation == 1 && i < MEMBERS; i++)
        CHECK_EQ(all[i], i);
    if (operation == 2)
        CHECK_EQ(data, 0);
    check_send_int(pvm_parent(), TAG_TEAM_RESULT, instance);
    check_receive_int(pvm_parent(), TAG_TEAM_GO);
    CHECK_EQ(pvm_lvgroup(group), 0);
    team_done();
}

static void check_sleeper(int argument, int hosts)
{
    struct team t;
    int sleeping;
    team_start(&t, "sleeper", argument, MEMBERS, hosts);
    check_receive_int(-1, TAG_ASLEEP);
    CHECK_EQ(pvm_bufinfo(pvm_getrbuf(), NULL, NULL, &sleeping), 0);
    for (int i = 0; i < MEMBERS; i++)
        if (t.tids[i] == sleeping)
            t.tids[i] = t.tids[MEMBERS - 1];
    t.size = MEMBERS - 1;
    for (int i = 0; i < t.size; i++)
        check_send_int(t.tids[i], TAG_TEAM_GO, 1);
    check_sleep_ms(200);
    CHECK_EQ(pvm_sendsig(sleeping, SIGKILL), 0);
    for (int i = 0; i < t.size; i++)
        check_receive_int(t.tids[i], TAG_TEAM_RESULT);
    for (int i = 0; i < t.size; i++)
        check_send_int(t.tids[i], TAG_TEAM_GO, 2);
    team_finish(&t);
}

static void master(int argc, char **argv)
{
    int hosts = team_hosts(argc, argv);
    for (int argument = 0; argument < 4 * HOW_MANY; argument++)
        check_givers(argument, hosts);
    for (int argument = 0; argument < 6; argument++)
        check_sleeper(argument, hosts);
}

static const struct check_role roles[] = {{"giver", giver}, {"sleeper", sleeper}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
