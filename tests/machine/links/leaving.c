/*
 * leaving - deletes hosts whose tasks have just sent by direct links: frames retransmitted by the daemons when those
 * links end come from tasks that no longer exist, and do no harm.
 */
#include "tests/machine/runner/check.h"

enum { TAG_READY = 1, TAG_NUMBER, ROUNDS = 8, TASKS = 6, NUMBERS = 20 };

static void sender(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmRoute, PvmRouteDirect);
    check_send_int(pvm_parent(), TAG_READY, 0);
    check_receive(pvm_parent(), TAG_READY);
    for (int i = 0; i < NUMBERS; i++)
        check_send_int(pvm_parent(), TAG_NUMBER, i);
    pvm_recv(-1, TAG_READY); /* until the host is deleted */
}

static void one_round(void)
{
    int tids[TASKS], status;
    char *name = (char *)check_host_name(1);
    check_hosts(2);
    check_spawn("sender", NULL, name, TASKS, tids);
    for (int i = 0; i < TASKS; i++)
        check_receive(tids[i], TAG_READY);
    for (int i = 0; i < TASKS; i++)
        check_send_int(tids[i], TAG_READY, 0);
    for (int i = 0; i < TASKS; i++)
        for (int k = 0; k < NUMBERS; k++)
            CHECK_EQ(check_receive_int(tids[i], TAG_NUMBER), k);
    CHECK_EQ(pvm_delhosts(&name, 1, &status), 1);
    CHECK_EQ(pvm_mstat(name), PvmNoHost);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    for (int i = 0; i < ROUNDS; i++)
        one_round();
}

static const struct check_role roles[] = {{"sender", sender}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
