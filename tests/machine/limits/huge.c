/*
 * huge - one message of 4 GiB and a byte, in pieces of 1 MiB that each contain their offset: huge [HOSTS]. Needs 16 GiB
 * of free memory; if there is less, it says so.
 */
#include <limits.h>
#include "tests/machine/runner/check.h"

enum { TAG_DATA = 1, TAG_SEEN, PIECE = 1 << 20, PIECES = 4096, MEMORY_MIB = 16 << 10 };

static void receiver(int argc, char **argv)
{
    (void)argc, (void)argv;
    static char piece[PIECE], last;
    struct timeval limit = {200, 0};
    int bytes, mid = pvm_trecv(pvm_parent(), TAG_DATA, &limit);
    CHECK(mid > 0);
    CHECK_EQ(pvm_bufinfo(mid, &bytes, NULL, NULL), 0);
    CHECK_EQ(bytes, INT_MAX); /* more than can be said */
    for (unsigned i = 0; i < PIECES; i++) {
        CHECK_EQ(pvm_upkbyte(piece, PIECE, 1), 0);
        CHECK(memcmp(piece, &i, sizeof i) == 0);
        CHECK(piece[PIECE - 1] == (char)(i * 7));
    }
    CHECK_EQ(pvm_upkbyte(&last, 1, 1), 0);
    CHECK_EQ(last, 'Z');
    pvm_setopt(PvmAutoErr, 0);
    CHECK_EQ(pvm_upkbyte(&last, 1, 1), PvmNoData);
    check_send_int(pvm_parent(), TAG_SEEN, PIECES);
}

static void master(int argc, char **argv)
{
    if (check_available_mib() < MEMORY_MIB)
        check_skip("4 GiB messages need 16 GiB of available memory");
    int hosts = argc > 1 ? atoi(argv[1]) : 1, tid;
    check_hosts(hosts);
    check_spawn("receiver", NULL, check_host_name(hosts - 1), 1, &tid);

    static char piece[PIECE];
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    for (unsigned i = 0; i < PIECES; i++) {
        memcpy(piece, &i, sizeof i);
        piece[PIECE - 1] = (char)(i * 7);
        CHECK_EQ(pvm_pkbyte(piece, PIECE, 1), 0);
    }
    CHECK_EQ(pvm_pkbyte("Z", 1, 1), 0);
    CHECK_EQ(pvm_send(tid, TAG_DATA), 0);
    struct timeval limit = {200, 0};
    CHECK(pvm_trecv(tid, TAG_SEEN, &limit) > 0);
    check_wait_exit(1, &tid);
}

static const struct check_role roles[] = {{"receiver", receiver}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
