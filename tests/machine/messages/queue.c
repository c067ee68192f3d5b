/* queue - 100,000 messages wait while later ones are received first; each is then received in order. */
#include "tests/machine/runner/check.h"

enum { WAITING = 100000, TAGS = 1000, PAST = 2000, TAG_PAST = TAGS + 1, TAG_LAST };

static void sender(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int i = 0; i < WAITING; i++)
        check_send_int(pvm_parent(), 1 + i % TAGS, i);
    for (int i = 0; i < PAST; i++)
        check_send_int(pvm_parent(), TAG_PAST, i);
    check_send_int(pvm_parent(), TAG_LAST, 0);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    int tid;
    check_spawn("sender", NULL, NULL, 1, &tid);
    check_receive_int(tid, TAG_LAST);
    double start = check_now();
    for (int i = 0; i < PAST; i++)
        CHECK_EQ(check_receive_int(i % 2 ? -1 : tid, TAG_PAST), i);
    printf("%.2f us for each receive past %d waiting messages\n", (check_now() - start) * 1e6 / PAST, WAITING);
    CHECK_EQ(pvm_nrecv(tid, TAG_PAST), 0);
    for (int tag = TAGS; tag > 1; tag -= 7) /* some by their tag, in the order sent */
        for (int i = tag - 1; i < WAITING; i += TAGS)
            CHECK_EQ(check_receive_int(-1, tag), i);
    int taken = 0, last = -1, tag;
    while (pvm_nrecv(-1, -1) > 0) { /* the rest in order of arrival */
        int value;
        CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
        CHECK_EQ(pvm_bufinfo(pvm_getrbuf(), NULL, &tag, NULL), 0);
        CHECK(value > last);
        CHECK_EQ(tag, 1 + value % TAGS);
        last = value;
        taken++;
    }
    CHECK_EQ(taken, WAITING - (TAGS + 5) / 7 * (WAITING / TAGS));
    check_wait_exit(1, &tid);
}

static const struct check_role roles[] = {{"sender", sender}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
