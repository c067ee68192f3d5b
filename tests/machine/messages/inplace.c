/*
 * inplace - in-place messages: many pieces, data read at send time, sent twice, sent to many, what is refused, and
 * values that are used where they were received.
 */
#include "dpvm.h"
#include "tests/machine/runner/check.h"

enum { TAG_DATA = 1, TAG_SUM, PIECES = 500, PIECE = 3000, RECEIVERS = 3 };

static int data[PIECES][PIECE];

static void fill(int base)
{
    for (int i = 0; i < PIECES; i++)
        for (int j = 0; j < PIECE; j++)
            data[i][j] = base + i * PIECE + j;
}

/* Checks that a message holds the numbers from `base` on; piece i has i+1 of its 3000 ints. */
static void check_numbers(int base)
{
    for (int i = 0; i < PIECES; i++) {
        CHECK_EQ(pvm_upkint(data[i], i + 1, 1), 0);
        for (int j = 0; j <= i; j++)
            CHECK_EQ(data[i][j], base + i * PIECE + j);
    }
    char more;
    CHECK_EQ(pvm_upkbyte(&more, 1, 1), PvmNoData);
}

/* All numbers of a message that has nothing else, at once. */
static void check_view(int base)
{
    int total = PIECES * (PIECES + 1) / 2, *at = NULL, *more = NULL, mid = pvm_getrbuf();
    void *view = pvm_upkview(NULL, PVM_INT, 10, (void **)&at);
    CHECK(view);
    CHECK(pvm_upkview(view, PVM_INT, total - 10, (void **)&more) == view);
    CHECK(more == at + 10);
    CHECK(!pvm_upkview(view, PVM_BYTE, 1, (void **)&more));
    CHECK_EQ(pvm_freebuf(mid), 0);
    for (int i = 0; i < PIECES; i++)
        for (int j = 0; j <= i; j++)
            CHECK_EQ(*at++, base + i * PIECE + j);
    at[-1] = 0; /* it is ours */
    CHECK_EQ(pvm_freeview(view), 0);
    CHECK(!pvm_upkview(NULL, PVM_INT, 1, (void **)&at)); /* there is no message */
}

static void receiver(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    for (int round = 0; round < 3; round++) {
        check_receive(pvm_parent(), TAG_DATA);
        if (round == 1)
            check_view(1000 * round);
        else
            check_numbers(1000 * round);
        check_send_int(pvm_parent(), TAG_SUM, round);
    }
}

static void wait_for(int round, int *tids)
{
    for (int i = 0; i < RECEIVERS; i++)
        CHECK_EQ(check_receive_int(tids[i], TAG_SUM), round);
}

static void check_refused(void)
{
    int mid = pvm_initsend(PvmDataInPlace), two[4] = {1, 2, 3, 4}, bytes;
    CHECK(mid > 0);
    CHECK_EQ(pvm_pkstr("text"), PvmNotImpl);
    CHECK_EQ(pvm_pkint(two, 2, 2), PvmNotImpl);
    CHECK_EQ(pvm_bufinfo(mid, &bytes, NULL, NULL), 0);
    CHECK_EQ(bytes, 0);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    int tids[RECEIVERS];
    pvm_setopt(PvmAutoErr, 0);
    check_refused();
    check_spawn("receiver", NULL, NULL, RECEIVERS, tids);

    int mid = pvm_initsend(PvmDataInPlace);
    CHECK(mid > 0);
    for (int i = 0; i < PIECES; i++)
        CHECK_EQ(pvm_pkint(data[i], i + 1, 1), 0);
    for (int round = 0; round < 2; round++) { /* the same buffer again, after the data has changed */
        fill(1000 * round);
        int saved = pvm_setsbuf(mid);
        for (int i = 0; i < RECEIVERS; i++)
            CHECK_EQ(pvm_send(tids[i], TAG_DATA), 0);
        fill(-1); /* what was sent must not change */
        pvm_setsbuf(saved);
        wait_for(round, tids);
        pvm_setsbuf(mid);
    }
    fill(2000);
    CHECK_EQ(pvm_mcast(tids, RECEIVERS, TAG_DATA), 0);
    fill(-1);
    wait_for(2, tids);
    check_wait_exit(RECEIVERS, tids);
}

static const struct check_role roles[] = {{"receiver", receiver}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
