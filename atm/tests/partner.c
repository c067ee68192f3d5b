/*
 * partner.c - a PVM program without code for virtual time. It spawns a partner in mid-run, exchanges messages with it,
 * waits for a message that nobody sends, is notified of the partner's end, and waits with its eyes on the clock. Each
 * line shows how long a step took by the program's own clock. With an argument it only computes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "pvm3.h"

enum { PING = 1, END, NEVER, ROUNDS = 10, LOOKS = 50, SPIN_MS = 1500 };

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "partner: %s failed\n", what);
    pvm_exit();
    exit(1);
}

/* `bytes` there and back, ROUNDS times: the time of each. */
static void exchange(int partner, int bytes)
{
    static char data[1 << 20];
    for (int i = 0; i < ROUNDS; i++) {
        long long start = now_ns();
        pvm_initsend(PvmDataRaw);
        pvm_pkbyte(data, bytes, 1);
        if (pvm_send(partner, PING) || pvm_recv(partner, PING) < 0 || pvm_upkbyte(data, bytes, 1))
            fail("an exchange");
        printf("%7d bytes there and back: %lld ns\n", bytes, now_ns() - start);
    }
}

static int partner(int parent)
{
    static char data[1 << 20];
    for (;;) {
        int bytes, tag, id = pvm_recv(parent, -1);
        if (pvm_bufinfo(id, &bytes, &tag, NULL) || tag == END)
            break;
        pvm_upkbyte(data, bytes, 1);
        pvm_initsend(PvmDataRaw);
        pvm_pkbyte(data, bytes, 1);
        pvm_send(parent, PING);
    }
    sleep(1);
    pvm_exit();
    return 0;
}

/* Looks at the clock in a row, and then until a millisecond has passed, without anything else. */
static void watch_the_clock(void)
{
    long long start = now_ns(), looks = 0;
    int same = 0;
    for (int i = 0; i < LOOKS; i++)
        same += now_ns() == start;
    printf("%d of %d looks saw one time\n", same, LOOKS);
    while (now_ns() - start < 1000000)
        looks++;
    printf("looked for a millisecond, %s\n", looks < 2000 ? "1 us each" : "but often");
}

/* Computes for a while without a call. */
static int spin(void)
{
    clock_t end = clock() + SPIN_MS * (CLOCKS_PER_SEC / 1000);
    while (clock() < end)
        ;
    pvm_exit();
    return 0;
}

int main(int argc, char **argv)
{
    int tid;
    if (pvm_mytid() < 0)
        fail("pvm_mytid");
    if (argc > 1)
        return spin();
    pvm_setopt(PvmRoute, PvmRouteDirect);
    if (pvm_parent() > 0)
        return partner(pvm_parent());
    long long start = now_ns();
    struct timeval limit = {.tv_sec = 3600};
    if (pvm_trecv(-1, NEVER, &limit))
        fail("pvm_trecv");
    printf("nobody wrote in %lld ns\n", now_ns() - start);
    start = now_ns();
    if (pvm_spawn(argv[0], NULL, PvmTaskDefault, NULL, 1, &tid) != 1)
        fail("pvm_spawn");
    printf("spawned in %lld ns\n", now_ns() - start);
    pvm_notify(PvmTaskExit, END, 1, &tid);
    exchange(tid, 4);
    exchange(tid, 100000);
    start = now_ns();
    pvm_initsend(PvmDataRaw);
    pvm_send(tid, END);
    if (pvm_recv(-1, END) < 0)
        fail("hearing of the end");
    printf("the partner ended in %lld ns\n", now_ns() - start);
    start = now_ns();
    int looks = 0;
    while (!pvm_nrecv(-1, NEVER) && now_ns() - start < 1000000)
        looks++;
    printf("%d looks in %lld ns\n", looks, now_ns() - start);
    watch_the_clock();
    pvm_exit();
    return 0;
}
