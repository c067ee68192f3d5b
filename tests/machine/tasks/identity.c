/* identity - enrolling, leaving, enrolling again, parents, siblings, messages to the task itself. */
#include "tests/machine/runner/check.h"

enum { TAG_HELLO = 1, TAG_GO, TAG_SELF };

static void child(int argc, char **argv)
{
    (void)argc, (void)argv;
    int *siblings, n = pvm_siblings(&siblings);
    int report[4] = {pvm_mytid(), pvm_parent(), n, siblings[n - 1]};
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(report, 4, 1), 0);
    CHECK_EQ(pvm_send(pvm_parent(), TAG_HELLO), 0);
    check_receive_int(pvm_parent(), TAG_GO);
}

static void orphan(int argc, char **argv)
{
    (void)argc;
    CHECK_EQ(pvm_parent(), PvmParentNotSet);
    check_send_int(atoi(argv[1]), TAG_HELLO, pvm_mytid());
}

static void check_family(void)
{
    int tids[3], report[4];
    check_spawn("child", NULL, NULL, 3, tids);
    for (int i = 0; i < 3; i++) {
        check_receive(tids[i], TAG_HELLO);
        CHECK_EQ(pvm_upkint(report, 4, 1), 0);
        CHECK_EQ(report[0], tids[i]);
        CHECK_EQ(report[1], pvm_mytid());
        CHECK_EQ(report[2], 3);
        CHECK_EQ(report[3], tids[2]);
    }
    CHECK_EQ(pvm_pstat(tids[1]), PvmOk);
    for (int i = 0; i < 3; i++)
        check_send_int(tids[i], TAG_GO, 0);
    check_wait_exit(3, tids);
    CHECK_EQ(pvm_pstat(tids[1]), PvmNoTask);
}

static void check_orphan(void)
{
    char own[16];
    snprintf(own, sizeof own, "%d", pvm_mytid());
    char *argv[] = {"orphan", own, NULL};
    int tid;
    CHECK_EQ(pvm_spawn((char *)check_program(), argv, PvmNoSpawnParent, NULL, 1, &tid), 1);
    CHECK_EQ(check_receive_int(tid, TAG_HELLO), tid);
    check_wait_exit(1, &tid);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    int first = pvm_mytid();
    CHECK(first > 0x40000 && first < 0x80000);
    CHECK_EQ(pvm_mytid(), first);
    CHECK_EQ(pvm_tidtohost(first), 0x40000);
    CHECK_EQ(pvm_parent(), PvmNoParent);
    CHECK_TEXT(pvm_version(), "3.4.6");
    int *siblings;
    CHECK_EQ(pvm_siblings(&siblings), 1);
    CHECK_EQ(siblings[0], first);

    check_send_int(first, TAG_SELF, 17);
    CHECK_EQ(check_receive_int(first, TAG_SELF), 17);
    check_family();
    check_orphan();

    CHECK_EQ(pvm_exit(), 0);
    int second = pvm_mytid();
    CHECK(second > 0 && second != first);
    CHECK_EQ(pvm_pstat(first), PvmNoTask);
    check_send_int(second, TAG_SELF, 18);
    CHECK_EQ(check_receive_int(second, TAG_SELF), 18);
}

static const struct check_role roles[] = {{"child", child}, {"orphan", orphan}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
