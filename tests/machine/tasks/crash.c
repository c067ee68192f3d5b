/*
 * crash - a task is killed in the middle of a large message: its receiver gets that message complete or not at all and
 * continues; a sender whose receiver is killed continues, too: crash [HOSTS].
 */
#include <signal.h>
#include "tests/machine/runner/check.h"

enum { TAG_START = 1, TAG_MEET, TAG_DATA, TAG_AFTER, TAG_DONE, TAG_EXIT, BYTES = 64 << 20, MEETINGS = 20 };

static char *data;
static volatile sig_atomic_t opened;

static void fill_data(void)
{
    data = malloc(BYTES);
    CHECK(data != NULL);
    check_fill(data, BYTES, 3);
}

/* A direct link, if available, opens in the background: large messages should use it. */
static void meet(int other)
{
    for (int i = 0; i < MEETINGS; i++) {
        check_send_int(other, TAG_MEET, i);
        CHECK_EQ(check_receive_int(other, TAG_MEET), i);
        check_sleep_ms(10);
    }
}

static void open_gate(int number)
{
    (void)number;
    opened = 1;
}

/* Does not read until it gets a signal. Then it may find the complete message, but never a part of it. */
static void receiver(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK(signal(SIGUSR1, open_gate) != SIG_ERR);
    fill_data();
    pvm_setopt(PvmRoute, PvmRouteDirect);
    meet(check_receive_int(pvm_parent(), TAG_START));
    while (!opened)
        check_sleep_ms(10);
    check_receive_int(pvm_parent(), TAG_AFTER);
    int bytes, whole = pvm_nrecv(-1, TAG_DATA);
    if (whole > 0) {
        CHECK_EQ(pvm_bufinfo(whole, &bytes, NULL, NULL), 0);
        CHECK_EQ(bytes, BYTES);
        memset(data, 0, BYTES);
        CHECK_EQ(pvm_upkbyte(data, BYTES, 1), 0);
        CHECK(check_same(data, BYTES, 3));
    }
    check_send_int(pvm_parent(), TAG_DONE, whole > 0);
    free(data);
}

static void sender(int argc, char **argv)
{
    (void)argc, (void)argv;
    fill_data();
    int receiver = check_receive_int(pvm_parent(), TAG_START);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    meet(receiver);
    check_send_int(pvm_parent(), TAG_START, 0);
    CHECK(pvm_initsend(PvmDataRaw) > 0);
    CHECK_EQ(pvm_pkbyte(data, BYTES, 1), 0);
    CHECK_EQ(pvm_send(receiver, TAG_DATA), 0);
    check_send_int(pvm_parent(), TAG_DONE, 0);
    free(data);
}

/* tids: receiver, sender; the sender has sent as much as it can, the receiver reads nothing. */
static void start_pair(const char *far, int *tids)
{
    check_spawn("receiver", NULL, far, 1, &tids[0]);
    check_spawn("sender", NULL, ".", 1, &tids[1]);
    check_send_int(tids[0], TAG_START, tids[1]);
    check_send_int(tids[1], TAG_START, tids[0]);
    check_receive_int(tids[1], TAG_START);
    check_sleep_ms(500 * check_slowness());
}

static void kill_and_wait(int *tid)
{
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, tid), 0);
    CHECK_EQ(pvm_sendsig(*tid, SIGKILL), 0);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), *tid);
}

static void check_sender_killed(const char *far)
{
    int tids[2];
    start_pair(far, tids);
    kill_and_wait(&tids[1]);
    CHECK_EQ(pvm_sendsig(tids[0], SIGUSR1), 0);
    check_send_int(tids[0], TAG_AFTER, 0);
    printf("the message arrived %s\n", check_receive_int(tids[0], TAG_DONE) ? "whole" : "not at all");
    check_wait_exit(1, &tids[0]);
}

static void check_receiver_killed(const char *far)
{
    int tids[2];
    start_pair(far, tids);
    kill_and_wait(&tids[0]);
    CHECK_EQ(check_receive_int(tids[1], TAG_DONE), 0); /* not held for ever */
    check_wait_exit(1, &tids[1]);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1;
    check_hosts(hosts);
    const char *far = check_host_name(hosts - 1);
    for (int i = 0; i < 3; i++) {
        check_sender_killed(far);
        check_receiver_killed(far);
    }
}

static const struct check_role roles[] = {{"receiver", receiver}, {"sender", sender}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
