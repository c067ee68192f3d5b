/*
 * barrier - no member leaves a barrier before all have arrived, in dynamic and frozen groups; parts of a group; the
 * whole group without a count; different counts: barrier [HOSTS].
 */
#include "team.h"

enum { MEMBERS = 9, ROUNDS = 60 };

/* Each member records when it arrived and when it left; all must have arrived before the first left. */
static void check_times(int instance, double came, double left)
{
    double times[MEMBERS * 2], mine[2] = {came, left}, last = 0;
    CHECK_EQ(pvm_gather(times, mine, 2, PVM_DOUBLE, 1, "b", 0), 0);
    if (instance != 0)
        return;
    for (int i = 0; i < MEMBERS; i++)
        last = times[2 * i] > last ? times[2 * i] : last;
    for (int i = 0; i < MEMBERS; i++)
        CHECK(times[2 * i + 1] >= last);
}

static void meet_often(int instance)
{
    unsigned random = (unsigned)instance + 1;
    for (int round = 0; round < ROUNDS; round++) {
        if (check_random(&random) % 8 == 0)
            check_sleep_ms((int)(check_random(&random) % 5));
        double came = team_now_us();
        CHECK_EQ(pvm_barrier("b", round % 3 ? MEMBERS : -1), 0);
        check_times(instance, came, team_now_us());
    }
    for (int round = 0; round < ROUNDS; round++) /* one right after the other */
        CHECK_EQ(pvm_barrier("b", MEMBERS), 0);
}

/* Three members meet while the others wait for a message; then all meet again. */
static void meet_in_part(int instance)
{
    for (int round = 0; round < 10; round++) {
        if (instance % 3 == 0)
            CHECK_EQ(pvm_barrier("b", MEMBERS / 3), 0);
        if (instance == 0) {
            CHECK(pvm_initsend(PvmDataDefault) > 0);
            CHECK_EQ(pvm_bcast("b", 2), 0);
        } else {
            check_receive(-1, 2);
        }
        CHECK_EQ(pvm_barrier("b", MEMBERS), 0);
    }
}

static void member(int argc, char **argv)
{
    int instance = team_join_kind("b", MEMBERS, team_argument(argc, argv));
    pvm_setopt(PvmAutoErr, 0);
    meet_often(instance);
    meet_in_part(instance);
    CHECK_EQ(pvm_lvgroup("b"), 0);
    team_done();
}

/* A barrier may be called before all members have joined. */
static void latecomer(int argc, char **argv)
{
    int delay = team_argument(argc, argv);
    CHECK(pvm_joingroup("late") >= 0);
    CHECK_EQ(pvm_barrier("late", 4), 0);
    check_sleep_ms(delay);
    team_done();
}

static void check_latecomers(int hosts)
{
    struct team first, then;
    team_start(&first, "latecomer", 50, 2, hosts);
    check_sleep_ms(100);
    CHECK_EQ(pvm_nrecv(-1, TAG_TEAM_DONE), 0);
    team_start(&then, "latecomer", 50, 2, hosts);
    team_finish(&first);
    team_finish(&then);
}

static void check_arguments(void)
{
    CHECK_EQ(pvm_barrier(NULL, 1), PvmNullGroup);
    CHECK_EQ(pvm_barrier("none", 1), PvmNoGroup);
    CHECK_EQ(pvm_joingroup("self"), 0);
    CHECK_EQ(pvm_barrier("self", 0), PvmMismatch);
    CHECK_EQ(pvm_barrier("self", -2), PvmMismatch);
    CHECK_EQ(pvm_barrier("self", 1), 0);
    CHECK_EQ(pvm_barrier("self", -1), 0);
    CHECK_EQ(pvm_freezegroup("self", 1), 1);
    CHECK_EQ(pvm_barrier("self", 1), 0);
    CHECK_EQ(pvm_barrier("self", -1), 0);
    CHECK_EQ(pvm_barrier("self", 0), PvmMismatch);
    CHECK_EQ(pvm_barrier("self", 2), PvmMismatch);
    CHECK_EQ(pvm_barrier("self", 1), 0);
    CHECK_EQ(pvm_lvgroup("self"), 0);
}

static void master(int argc, char **argv)
{
    int hosts = team_hosts(argc, argv);
    pvm_setopt(PvmAutoErr, 0);
    check_arguments();
    check_latecomers(hosts);
    for (int frozen = 0; frozen <= 1; frozen++) {
        struct team t;
        team_start(&t, "member", frozen, MEMBERS, hosts);
        while (pvm_gsize("b") != MEMBERS) /* others see the group, but are not in it */
            check_sleep_ms(1);
        CHECK_EQ(pvm_barrier("b", MEMBERS), PvmNotInGroup);
        team_finish(&t);
    }
}

static const struct check_role roles[] = {{"member", member}, {"latecomer", latecomer}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
