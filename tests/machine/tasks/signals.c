/* signals - pvm_sendsig, pvm_kill and pvm_pstat, here and on another host: signals [HOSTS]. */
#include <signal.h>
#include "tests/machine/runner/check.h"

enum { TAG_READY = 1, TAG_CAUGHT, TAG_EXIT };

static volatile sig_atomic_t caught;

static void note(int signal)
{
    caught = signal;
}

/* Catches one signal, reports it, then waits to be killed. */
static void catcher(int argc, char **argv)
{
    (void)argc, (void)argv;
    signal(SIGUSR1, note);
    check_send_int(pvm_parent(), TAG_READY, 0);
    for (int i = 0; i < 100 * check_limit_s() && !caught; i++)
        check_sleep_ms(10);
    check_send_int(pvm_parent(), TAG_CAUGHT, caught);
    for (;;)
        pvm_recv(-1, -1);
}

/* Kills itself with pvm_kill(). */
static void suicide(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_kill(pvm_mytid());
    check_sleep_ms(1000 * check_limit_s());
    CHECK(!"still alive");
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1, tids[2];
    const char *host = check_host_name((check_hosts(hosts), hosts - 1));
    pvm_setopt(PvmAutoErr, 0);
    check_spawn("catcher", NULL, host, 1, &tids[0]);
    check_spawn("suicide", NULL, host, 1, &tids[1]);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 2, tids), 0);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tids[1]);

    check_receive_int(tids[0], TAG_READY);
    CHECK_EQ(pvm_pstat(tids[0]), PvmOk);
    CHECK_EQ(pvm_sendsig(tids[0], SIGUSR1), 0);
    CHECK_EQ(check_receive_int(tids[0], TAG_CAUGHT), SIGUSR1);
    CHECK_EQ(pvm_kill(tids[0]), 0);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tids[0]);

    CHECK_EQ(pvm_pstat(tids[0]), PvmNoTask);
    CHECK_EQ(pvm_kill(tids[0]), 0); /* it is dead already */
    CHECK_EQ(pvm_sendsig(tids[0], SIGTERM), 0);
    CHECK_EQ(pvm_kill(0), PvmBadParam);
    CHECK_EQ(pvm_sendsig(0, SIGTERM), PvmBadParam);
    CHECK_EQ(pvm_pstat(0), PvmBadParam);
    CHECK_EQ(pvm_pstat(0x3ffc0001), PvmNoTask);
}

static const struct check_role roles[] = {{"catcher", catcher}, {"suicide", suicide}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
