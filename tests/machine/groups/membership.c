/* membership - instances, sizes, lookups and errors of groups: membership [HOSTS]. */
#include "team.h"

enum { MEMBERS = 6, GROUPS = 40 };

/* Queries about groups that the caller is not in, or that do not exist. */
static void check_strangers(void)
{
    CHECK_EQ(pvm_joingroup(NULL), PvmNullGroup);
    CHECK_EQ(pvm_joingroup(""), PvmNullGroup);
    CHECK_EQ(pvm_lvgroup(NULL), PvmNullGroup);
    CHECK_EQ(pvm_gsize(NULL), PvmNullGroup);
    CHECK_EQ(pvm_gettid("", 0), PvmNullGroup);
    CHECK_EQ(pvm_getinst(NULL, 1), PvmNullGroup);
    CHECK_EQ(pvm_freezegroup("", 1), PvmNullGroup);
    CHECK_EQ(pvm_gsize("none"), PvmNoGroup);
    CHECK_EQ(pvm_lvgroup("none"), PvmNoGroup);
    CHECK_EQ(pvm_gettid("none", 0), PvmNoGroup);
    CHECK_EQ(pvm_getinst("none", pvm_mytid()), PvmNoGroup);
    CHECK_EQ(pvm_freezegroup("none", 1), PvmNoGroup);
}

static void check_names(void)
{
    char name[2000];
    memset(name, 'n', sizeof name);
    name[1024] = '\0';
    CHECK_EQ(pvm_joingroup(name), PvmBadParam);
    name[1023] = '\0';
    CHECK_EQ(pvm_joingroup(name), 0);
    CHECK_EQ(pvm_gsize(name), 1);
    CHECK_EQ(pvm_lvgroup(name), 0);
    CHECK_EQ(pvm_joingroup("with blanks and \xff\n"), 0);
    CHECK_EQ(pvm_lvgroup("with blanks and \xff\n"), 0);
}

/* One task alone: it finds itself, and nobody else. */
static void check_alone(void)
{
    int me = pvm_mytid();
    CHECK_EQ(pvm_joingroup("alone"), 0);
    CHECK_EQ(pvm_joingroup("alone"), PvmDupGroup);
    CHECK_EQ(pvm_gsize("alone"), 1);
    CHECK_EQ(pvm_gettid("alone", 0), me);
    CHECK_EQ(pvm_gettid("alone", 1), PvmNoInst);
    CHECK_EQ(pvm_gettid("alone", -1), PvmNoInst);
    CHECK_EQ(pvm_getinst("alone", me), 0);
    CHECK_EQ(pvm_getinst("alone", me + 1000), PvmNotInGroup);
    CHECK_EQ(pvm_getinst("alone", 0), PvmNotInGroup);
    CHECK_EQ(pvm_lvgroup("alone"), 0);
    CHECK_EQ(pvm_lvgroup("alone"), PvmNoGroup);
    CHECK_EQ(pvm_gsize("alone"), PvmNoGroup);
}

/* Many groups at once, as tjl of the reference's examples does. */
static void check_many_groups(void)
{
    char name[32];
    for (int i = 0; i < GROUPS; i++) {
        snprintf(name, sizeof name, "group%d", i);
        CHECK_EQ(pvm_joingroup(name), 0);
    }
    for (int i = GROUPS; i-- > 0;) {
        snprintf(name, sizeof name, "group%d", i);
        CHECK_EQ(pvm_gettid(name, 0), pvm_mytid());
    }
    for (int i = 0; i < GROUPS; i++) {
        snprintf(name, sizeof name, "group%d", i);
        CHECK_EQ(pvm_lvgroup(name), 0);
    }
}

/* Joins and leaves when the master says so, and reports each result. */
static void member(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    for (int order; (order = check_receive_int(pvm_parent(), TAG_TEAM_GO)) != 0;)
        check_send_int(pvm_parent(), TAG_TEAM_NOTE, order > 0 ? pvm_joingroup("team") : pvm_lvgroup("team"));
    team_done(); /* and ends without leaving */
}

static int order(const struct team *t, int i, int what)
{
    check_send_int(t->tids[i], TAG_TEAM_GO, what);
    return check_receive_int(t->tids[i], TAG_TEAM_NOTE);
}

static void wait_for_size(int size)
{
    int now;
    for (double end = check_now() + check_limit_s(); (now = pvm_gsize("team")) != size && check_now() < end;)
        check_sleep_ms(5);
    CHECK_EQ(now, size);
}

static void check_others(int hosts)
{
    struct team t;
    team_start(&t, "member", 0, MEMBERS, hosts);
    for (int i = 0; i < MEMBERS; i++)
        CHECK_EQ(order(&t, i, 1), i);
    for (int i = 0; i < MEMBERS; i++) {
        CHECK_EQ(pvm_gettid("team", i), t.tids[i]);
        CHECK_EQ(pvm_getinst("team", t.tids[i]), i);
    }
    CHECK_EQ(pvm_lvgroup("team"), PvmNotInGroup);
    CHECK_EQ(order(&t, 1, -1), 0);
    CHECK_EQ(order(&t, 3, -1), 0);
    CHECK_EQ(order(&t, 3, -1), PvmNotInGroup);
    CHECK_EQ(pvm_gsize("team"), MEMBERS - 2);
    CHECK_EQ(pvm_gettid("team", 1), PvmNoInst);
    CHECK_EQ(pvm_joingroup("team"), 1); /* the lowest free instance */
    CHECK_EQ(order(&t, 3, 1), 3);
    CHECK_EQ(order(&t, 1, 1), MEMBERS);
    CHECK_EQ(order(&t, 1, 1), PvmDupGroup);
    CHECK_EQ(pvm_gsize("team"), MEMBERS + 1);
    for (int i = 0; i < MEMBERS; i++)
        check_send_int(t.tids[i], TAG_TEAM_GO, 0);
    team_finish(&t);
    wait_for_size(1);
    CHECK_EQ(pvm_lvgroup("team"), 0);
    CHECK_EQ(pvm_gsize("team"), PvmNoGroup);
}

/* After pvm_exit() a process becomes another task, which is in no group. */
static void check_new_identity(void)
{
    int before = pvm_mytid();
    CHECK_EQ(pvm_joingroup("identity"), 0);
    pvm_exit();
    pvm_setopt(PvmAutoErr, 0);
    int after = pvm_mytid(), instance = pvm_joingroup("identity");
    CHECK(after > 0 && after != before);
    CHECK(instance == 0 || instance == 1); /* the server may not have heard of the end yet */
    CHECK_EQ(pvm_gettid("identity", instance), after);
    CHECK_EQ(pvm_barrier("identity", 1), 0);
    CHECK_EQ(pvm_lvgroup("identity"), 0);
}

static void master(int argc, char **argv)
{
    int hosts = team_hosts(argc, argv);
    pvm_setopt(PvmAutoErr, 0);
    check_strangers();
    check_names();
    check_alone();
    check_many_groups();
    check_others(hosts);
    check_new_identity();
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
