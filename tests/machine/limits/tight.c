/*
 * tight - a daemon with 32 descriptors reports that it can start no more tasks, and the started ones work; when they
 * have ended there is room again. Starts the daemon itself.
 */
#include <signal.h>
#include <sys/resource.h>
#include "tests/machine/runner/check.h"

enum { TAG_READY = 1, TAG_GO, TAG_SUM, DESCRIPTORS = 32, WANTED = 24, ROUNDS = 3 };

/* Sends its number to all others, and reports the sum of theirs. */
static void member(int argc, char **argv)
{
    (void)argc, (void)argv;
    int n, tids[WANTED], sum = 0;
    check_send_int(pvm_parent(), TAG_READY, 0);
    check_receive(pvm_parent(), TAG_GO);
    CHECK_EQ(pvm_upkint(&n, 1, 1), 0);
    CHECK_EQ(pvm_upkint(tids, n, 1), 0);
    for (int i = 0; i < n; i++)
        check_send_int(tids[i], TAG_SUM, i);
    for (int i = 0; i < n; i++)
        sum += check_receive_int(tids[i], TAG_SUM);
    check_send_int(pvm_parent(), TAG_SUM, sum);
}

/* Starts as many as the daemon can; returns their number. */
static int spawn_many(int tids[WANTED])
{
    char *argv[] = {"member", NULL};
    int n = pvm_spawn((char *)check_program(), argv, PvmTaskDefault, NULL, WANTED, tids);
    CHECK(n >= 3 && n < WANTED);
    for (int i = n; i < WANTED; i++)
        CHECK_EQ(tids[i], PvmOutOfRes);
    return n;
}

static void exchange(int *tids, int n)
{
    for (int i = 0; i < n; i++)
        check_receive_int(tids[i], TAG_READY); /* each could connect */
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&n, 1, 1), 0);
    CHECK_EQ(pvm_pkint(tids, n, 1), 0);
    CHECK_EQ(pvm_mcast(tids, n, TAG_GO), 0);
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += check_receive_int(tids[i], TAG_SUM);
    CHECK_EQ(sum, n * (n - 1) / 2 * n);
    check_wait_exit(n, tids);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct rlimit limit, tight = {DESCRIPTORS, DESCRIPTORS};
    int tids[WANTED], first = 0;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    pvm_setopt(PvmAutoErr, 0);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
    CHECK_EQ(pvm_start_pvmd(0, NULL, 1), 0);
    CHECK(pvm_mytid() > 0);
    for (int round = 0; round < ROUNDS; round++) {
        int n = spawn_many(tids);
        CHECK(!round || n == first);
        first = n;
        exchange(tids, n);
    }
    printf("%d tasks with %d descriptors\n", first, DESCRIPTORS);
    signal(SIGTERM, SIG_IGN);
    CHECK_EQ(pvm_halt(), 0);
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
