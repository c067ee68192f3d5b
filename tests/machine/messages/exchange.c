/*
 * exchange - two tasks send 200 MB to each other before either receives: no deadlock, everything arrives in order:
 * exchange [HOSTS].
 */
#include "tests/machine/runner/check.h"

enum { TAG_PEER = 1, TAG_DATA, TAG_DONE, MESSAGES = 200, BYTES = 1000000 };

static void peer(int argc, char **argv)
{
    (void)argc, (void)argv;
    static char data[BYTES];
    int other = check_receive_int(pvm_parent(), TAG_PEER);
    for (int i = 0; i < MESSAGES; i++) {
        memset(data, i, BYTES);
        CHECK(pvm_initsend(PvmDataRaw) > 0);
        CHECK_EQ(pvm_pkint(&i, 1, 1), 0);
        CHECK_EQ(pvm_pkbyte(data, BYTES, 1), 0);
        CHECK_EQ(pvm_send(other, TAG_DATA), 0);
    }
    for (int i = 0; i < MESSAGES; i++) {
        CHECK_EQ(check_receive_int(other, TAG_DATA), i);
        CHECK_EQ(pvm_upkbyte(data, BYTES, 1), 0);
        CHECK(data[0] == (char)i && memcmp(data, data + 1, BYTES - 1) == 0);
    }
    check_send_int(pvm_parent(), TAG_DONE, 0);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1, tids[2];
    check_hosts(hosts);
    check_spawn("peer", NULL, ".", 1, &tids[0]);
    check_spawn("peer", NULL, check_host_name(hosts - 1), 1, &tids[1]);
    double start = check_now();
    check_send_int(tids[0], TAG_PEER, tids[1]);
    check_send_int(tids[1], TAG_PEER, tids[0]);
    struct timeval limit = {60 * check_slowness(), 0};
    for (int i = 0; i < 2; i++)
        CHECK(pvm_trecv(-1, TAG_DONE, &limit) > 0);
    printf("%.2f s for 200 MB each way\n", check_now() - start);
    check_wait_exit(2, tids);
}

static const struct check_role roles[] = {{"peer", peer}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
