/* bcast - one message to all other members, from inside and outside the group, small and large: bcast [HOSTS]. */
#include "team.h"

enum { MEMBERS = 7, TAG_DATA = 3, TAG_OUTSIDE, LARGE = 300000, CONTEXT = 77 };

static char data[LARGE];

static void send_all(int tag, int from, int size)
{
    CHECK(pvm_initsend(size % 2 ? PvmDataRaw : PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&from, 1, 1), 0);
    check_fill(data, (size_t)size, (unsigned)from);
    CHECK_EQ(pvm_pkbyte(data, size, 1), 0);
    CHECK_EQ(pvm_bcast("b", tag), 0);
}

static void receive_one(int tid, int tag, int from, int size)
{
    int got;
    check_receive(tid, tag);
    CHECK_EQ(pvm_upkint(&got, 1, 1), 0);
    CHECK(from < 0 || got == from);
    CHECK_EQ(pvm_upkbyte(data, size, 1), 0);
    CHECK(check_same(data, (size_t)size, (unsigned)got));
}

/* Each in turn sends to all; no sender gets its own message, and each sender's messages arrive in order. */
static void member(int argc, char **argv)
{
    int instance = team_join_kind("b", MEMBERS, team_argument(argc, argv));
    pvm_setopt(PvmAutoErr, 0);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_bcast("b", -1), PvmBadParam);
    CHECK_EQ(pvm_barrier("b", MEMBERS), 0);
    for (int turn = 0; turn < MEMBERS; turn++) {
        for (int size = 0; size <= LARGE; size = size ? size * 17 : 11) {
            if (turn == instance)
                send_all(TAG_DATA, instance, size);
            else
                receive_one(pvm_gettid("b", turn), TAG_DATA, turn, size);
        }
        CHECK_EQ(pvm_nrecv(-1, -1), 0);
        CHECK_EQ(pvm_barrier("b", MEMBERS), 0);
    }
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, instance);
    receive_one(pvm_parent(), TAG_OUTSIDE, 1000, 100);

    pvm_setcontext(CONTEXT); /* the context of the sender counts */
    if (instance == 0)
        send_all(TAG_DATA, 0, 10);
    else
        receive_one(-1, TAG_DATA, 0, 10);
    pvm_setcontext(0);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
    CHECK_EQ(pvm_barrier("b", MEMBERS), 0);
    CHECK_EQ(pvm_lvgroup("b"), 0);
    team_done();
}

static void check_errors(void)
{
    pvm_initsend(PvmDataDefault);
    CHECK_EQ(pvm_bcast(NULL, 1), PvmNullGroup);
    CHECK_EQ(pvm_bcast("", 1), PvmNullGroup);
    CHECK_EQ(pvm_bcast("none", 1), PvmNoGroup);
    CHECK_EQ(pvm_joingroup("solo"), 0);
    CHECK_EQ(pvm_bcast("solo", 1), PvmNoInst); /* there is no other member */
    CHECK_EQ(pvm_lvgroup("solo"), 0);
}

static void master(int argc, char **argv)
{
    int hosts = team_hosts(argc, argv);
    pvm_setopt(PvmAutoErr, 0);
    check_errors();
    for (int frozen = 0; frozen <= 1; frozen++) {
        struct team t;
        team_start(&t, "member", frozen, MEMBERS, hosts);
        for (int i = 0; i < MEMBERS; i++)
            check_receive_int(t.tids[i], TAG_TEAM_NOTE);
        pvm_freebuf(pvm_setsbuf(0));
        CHECK_EQ(pvm_bcast("b", TAG_OUTSIDE), PvmNoBuf);
        send_all(TAG_OUTSIDE, 1000, 100);
        team_finish(&t);
    }
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
