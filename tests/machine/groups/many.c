/*
 * many - a hundred tasks join at once without a group server: one server starts, silently, all tasks get distinct
 * instances, and several groups are used at the same time: many [HOSTS].
 */
#include "team.h"

enum { MEMBERS = 100, GROUPS = 4 };

static int count_servers(void)
{
    struct pvmtaskinfo *tasks;
    int n, servers = 0;
    CHECK_EQ(pvm_tasks(0, &n, &tasks), 0);
    for (int i = 0; i < n; i++)
        servers += strstr(tasks[i].ti_a_out, "pvmgs") != NULL;
    return servers;
}

/* All are in the first group, every fourth in one of the others. */
static void member(int argc, char **argv)
{
    int number = team_argument(argc, argv), all[MEMBERS] = {0}, part = -1;
    char other[16];
    snprintf(other, sizeof other, "other%d", number);
    int second = pvm_joingroup(other), first = team_join("all", MEMBERS), sum = 1;
    CHECK(second >= 0 && second < MEMBERS / GROUPS);
    CHECK_EQ(pvm_barrier(other, MEMBERS / GROUPS), 0);

    CHECK_EQ(pvm_gather(all, &first, 1, PVM_INT, 1, "all", 7), 0);
    for (int i = 0; first == 7 && i < MEMBERS; i++)
        CHECK_EQ(all[i], i);
    CHECK_EQ(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 1, other, 3), 0);
    CHECK_EQ(sum, second == 3 ? MEMBERS / GROUPS : 1);
    CHECK_EQ(pvm_scatter(&part, all, 1, PVM_INT, 1, "all", 7), 0);
    CHECK_EQ(part, first);
    CHECK_EQ(pvm_freezegroup("all", MEMBERS), MEMBERS);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(pvm_barrier("all", -1), 0);
    CHECK_EQ(pvm_barrier(other, -1), 0);
    team_done();
}

static void master(int argc, char **argv)
{
    int hosts = team_hosts(argc, argv);
    struct team t[GROUPS];
    CHECK_EQ(count_servers(), 0);
    for (int i = 0; i < GROUPS; i++)
        team_start(&t[i], "member", i, MEMBERS / GROUPS, hosts);
    for (int i = 0; i < GROUPS; i++)
        team_finish(&t[i]);
    CHECK_EQ(count_servers(), 1);
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
