/*
 * mismatch - members that make the same call with different arguments get an error, all of them if they wait for each
 * other, and the group remains usable: mismatch [HOSTS].
 */
#include "team.h"

enum { MEMBERS = 5 };

/* One member passes another count. It arrives first, in the middle or last; each member gets the error exactly once. */
static void check_counts(int instance)
{
    for (int odd = 0; odd < MEMBERS; odd++) {
        check_sleep_ms(instance * 30);
        CHECK_EQ(pvm_barrier("m", instance == odd ? MEMBERS - 1 : MEMBERS), PvmMismatch);
        CHECK_EQ(pvm_barrier("m", MEMBERS), 0);
    }
}

/* The root gets the error; the others have returned already. */
static void check_arguments(int instance)
{
    int data[8] = {0}, all[8 * MEMBERS] = {0};
    int odd = instance == 1;

    int code = pvm_reduce(PvmSum, data, 4, PVM_INT, odd ? 2 : 1, "m", 0);
    CHECK_EQ(code, instance == 0 ? PvmMismatch : 0);
    code = pvm_reduce(PvmSum, data, odd ? 3 : 4, PVM_INT, 1, "m", 0);
    CHECK_EQ(code, instance == 0 ? PvmMismatch : 0);
    code = pvm_reduce(PvmSum, data, 4, odd ? PVM_UINT : PVM_INT, 1, "m", 0);
    CHECK_EQ(code, instance == 0 ? PvmMismatch : 0);
    code = pvm_gather(all, data, odd ? 3 : 4, PVM_INT, 1, "m", 0);
    CHECK_EQ(code, instance == 0 ? PvmMismatch : 0);
    if (odd)
        code = pvm_gather(all, data, 4, PVM_INT, 1, "m", 0);
    else
        code = pvm_reduce(PvmSum, data, 4, PVM_INT, 1, "m", 0);
    CHECK_EQ(code, instance == 0 ? PvmMismatch : 0);
    CHECK_EQ(pvm_barrier("m", MEMBERS), 0);

    code = pvm_scatter(data, all, odd ? 3 : 4, PVM_INT, 1, "m", 0); /* here each one gets the error itself */
    CHECK_EQ(code, odd ? PvmMismatch : 0);
    CHECK_EQ(pvm_barrier("m", MEMBERS), 0);
    for (int i = 0; i < 8; i++)
        data[i] = instance;
    CHECK_EQ(pvm_reduce(PvmSum, data, 8, PVM_INT, 1, "m", 0), 0);
    CHECK_EQ(data[7], instance == 0 ? MEMBERS * (MEMBERS - 1) / 2 : instance);
}

static void member(int argc, char **argv)
{
    int instance = team_join_kind("m", MEMBERS, team_argument(argc, argv));
    pvm_setopt(PvmAutoErr, 0);
    check_arguments(instance);
    check_counts(instance);
    CHECK_EQ(pvm_lvgroup("m"), 0);
    team_done();
}

/* Members that freeze with another size get an error; the others continue. */
static void freezer(int argc, char **argv)
{
    (void)argc, (void)argv;
    int instance = team_join("f", 3);
    pvm_setopt(PvmAutoErr, 0);
    check_sleep_ms(instance * 50);
    if (instance == 1)
        CHECK_EQ(pvm_freezegroup("f", 2), PvmMismatch);
    CHECK_EQ(pvm_freezegroup("f", 0), PvmMismatch);
    CHECK_EQ(pvm_freezegroup("f", 3), 3);
    CHECK_EQ(pvm_freezegroup("f", 3), PvmDupGroup);
    CHECK_EQ(pvm_barrier("f", 3), 0);
    team_done();
}

static void master(int argc, char **argv)
{
    int hosts = team_hosts(argc, argv);
    struct team t;
    for (int frozen = 0; frozen <= 1; frozen++) {
        team_start(&t, "member", frozen, MEMBERS, hosts);
        team_finish(&t);
    }
    team_start(&t, "freezer", 0, 3, hosts);
    team_finish(&t);
}

static const struct check_role roles[] = {{"member", member}, {"freezer", freezer}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
