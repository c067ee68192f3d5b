/* mcast - one message to many tasks, local and remote, small and large, with odd receiver lists: mcast [HOSTS]. */
#include "tests/machine/runner/check.h"

enum { TASKS = 6, TAG_DATA = 1, TAG_SEEN, LARGE = 3 << 20, ROUNDS = 50 };

static char data[LARGE];

static int size_of(int round)
{
    static const int sizes[] = {0, 8, 4096, 100000, LARGE};
    return sizes[round % 5];
}

/* Between the multicasts each receiver also gets a plain message: the order must be kept. */
static void receiver(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int round = 0; round < ROUNDS; round++) {
        int number, size = size_of(round);
        check_receive(pvm_parent(), TAG_DATA);
        CHECK_EQ(pvm_upkint(&number, 1, 1), 0);
        CHECK_EQ(number, round);
        CHECK_EQ(pvm_upkbyte(data, size, 1), 0);
        CHECK(check_same(data, (size_t)size, (unsigned)round));
        CHECK_EQ(check_receive_int(pvm_parent(), TAG_DATA), -round);
    }
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
    check_send_int(pvm_parent(), TAG_SEEN, ROUNDS);
}

static void check_lists(int *tids)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_mcast(tids, 0, TAG_DATA), 0);
    CHECK_EQ(pvm_mcast(tids, -1, TAG_DATA), PvmBadParam);
    int bad[2] = {tids[0], -5};
    CHECK_EQ(pvm_mcast(bad, 2, TAG_DATA), PvmBadParam);
    CHECK_EQ(pvm_mcast(tids, 1, -1), PvmBadParam);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1, tids[TASKS + 2];
    check_hosts(hosts);
    pvm_setopt(PvmAutoErr, 0);
    for (int i = 0; i < TASKS; i++)
        check_spawn("receiver", NULL, check_host_name(i % hosts), 1, &tids[i]);
    tids[TASKS] = tids[2];         /* duplicates count once */
    tids[TASKS + 1] = pvm_mytid(); /* the sender does not get it */
    check_lists(tids);
    for (int round = 0; round < ROUNDS; round++) {
        int size = size_of(round);
        check_fill(data, (size_t)size, (unsigned)round);
        CHECK(pvm_initsend(round % 3) > 0); /* Default, Raw, InPlace in turn */
        CHECK_EQ(pvm_pkint(&round, 1, 1), 0);
        CHECK_EQ(pvm_pkbyte(data, size, 1), 0);
        CHECK_EQ(pvm_mcast(tids, TASKS + 2, TAG_DATA), 0);
        for (int i = 0; i < TASKS; i++)
            check_send_int(tids[i], TAG_DATA, -round);
    }
    for (int i = 0; i < TASKS; i++)
        CHECK_EQ(check_receive_int(tids[i], TAG_SEEN), ROUNDS);
    CHECK_EQ(pvm_nrecv(-1, TAG_DATA), 0);
    check_wait_exit(TASKS, tids);
}

static const struct check_role roles[] = {{"receiver", receiver}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
