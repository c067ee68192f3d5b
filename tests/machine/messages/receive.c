/* receive - matching, probing, time limits, receive buffers, and a user-defined match function. */
#include <stdint.h>
#include "tests/machine/runner/check.h"

enum { TAG_A = 1, TAG_B, TAG_C, TAG_REQUEST, TAG_ANSWER };

static void send_self(int tag, int value)
{
    check_send_int(pvm_mytid(), tag, value);
}

static int value_of(int mid)
{
    int value;
    CHECK(mid > 0);
    CHECK_EQ(pvm_setrbuf(mid) >= 0, 1);
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    return value;
}

/* Makes sure that all messages sent before have arrived, by waiting for the last. */
static void settle(void)
{
    send_self(TAG_C, 0);
    check_receive(-1, TAG_C);
}

static void check_matching(void)
{
    send_self(TAG_A, 1);
    send_self(TAG_B, 2);
    send_self(TAG_A, 3);
    send_self(INT32_MAX, 4);
    settle();
    CHECK_EQ(value_of(pvm_recv(-1, TAG_B)), 2); /* by tag, past an older one */
    CHECK_EQ(value_of(pvm_recv(-1, -1)), 1);    /* any: the oldest */
    CHECK_EQ(pvm_nrecv(0x7fffffff & pvm_parent(), TAG_A), 0);
    CHECK_EQ(value_of(pvm_nrecv(pvm_mytid(), TAG_A)), 3);
    CHECK_EQ(value_of(pvm_recv(pvm_mytid(), INT32_MAX)), 4);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
}

static void check_probe(void)
{
    send_self(TAG_A, 5);
    settle();
    int bytes, tag, tid, mid = pvm_probe(-1, TAG_A);
    CHECK(mid > 0);
    CHECK_EQ(pvm_bufinfo(mid, &bytes, &tag, &tid), 0);
    CHECK_EQ(bytes, 4);
    CHECK_EQ(tag, TAG_A);
    CHECK_EQ(tid, pvm_mytid());
    CHECK_EQ(pvm_probe(-1, TAG_B), 0);
    CHECK_EQ(pvm_probe(-1, -1), mid);
    CHECK_EQ(value_of(pvm_recv(-1, TAG_A)), 5);
    CHECK_EQ(pvm_probe(-1, TAG_A), 0);
}

static void check_time_limits(void)
{
    struct timeval limit = {0, 300000}, none = {0, 0};
    double start = check_now();
    CHECK_EQ(pvm_trecv(-1, TAG_A, &limit), 0);
    double took = check_now() - start;
    CHECK(took > 0.29);
    CHECK(took < 1.0 * check_slowness());
    CHECK_EQ(pvm_trecv(-1, TAG_A, &none), 0);
    send_self(TAG_A, 6);
    CHECK_EQ(value_of(pvm_trecv(-1, TAG_A, NULL)), 6);
}

/* A saved receive buffer survives the next receive; one that is not saved is freed by it. */
static void check_buffers(void)
{
    send_self(TAG_A, 7);
    send_self(TAG_A, 8);
    int first = check_receive(-1, TAG_A);
    CHECK_EQ(pvm_getrbuf(), first);
    CHECK_EQ(pvm_setrbuf(0), first);
    int second = check_receive(-1, TAG_A);
    CHECK(second != first);
    CHECK_EQ(value_of(second), 8);
    CHECK_EQ(pvm_setrbuf(0), second);
    CHECK_EQ(value_of(first), 7);
    CHECK_EQ(pvm_freebuf(second), 0);
    CHECK_EQ(pvm_freebuf(second), PvmNoSuchBuf);
    send_self(TAG_A, 9);
    CHECK_EQ(value_of(check_receive(-1, TAG_A)), 9);
}

/* Takes the message with the largest tag: the answer is the rank. */
static int largest_tag(int mid, int tid, int tag)
{
    (void)tid, (void)tag;
    int got;
    CHECK_EQ(pvm_bufinfo(mid, NULL, &got, NULL), 0);
    return 1 + got;
}

static int refuse(int mid, int tid, int tag)
{
    (void)mid, (void)tid, (void)tag;
    return PvmDenied;
}

static void check_match_function(void)
{
    send_self(10, 10);
    send_self(30, 30);
    send_self(20, 20);
    settle();
    int (*standard)(int, int, int) = pvm_recvf(largest_tag);
    CHECK(standard != NULL);
    CHECK_EQ(value_of(pvm_recv(-1, 99)), 30);
    CHECK_EQ(value_of(pvm_nrecv(-1, 99)), 20);
    CHECK(pvm_recvf(refuse) == largest_tag);
    CHECK_EQ(pvm_nrecv(-1, -1), PvmDenied);
    CHECK(pvm_recvf(standard) == refuse);
    CHECK_EQ(value_of(pvm_recv(-1, 10)), 10);
    CHECK(pvm_recvf(NULL) == standard);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    check_matching();
    check_probe();
    check_time_limits();
    check_buffers();
    check_match_function();
    int *fds;
    CHECK_EQ(pvm_getfds(&fds), 1);
}

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, NULL);
}
