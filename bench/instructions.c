/*
 * instructions.c - exchanges messages under callgrind, which counts the instructions of the calls in between `begin`
 * and `end`. Each count becomes a file of callgrind's whose trigger names it: "shm.send 1024" for 1024 messages. The
 * script bench/instructions runs it and reads them.
 *
 *   instructions self: one task: messages to itself, polls
 *
 *   instructions pair NAME: two tasks. NAME is for the output; the route is PVM_TRANSPORT, or, with "daemon", the
 * daemon
 *
 *   instructions mcast: one task that sends to four
 *
 *   instructions barrier: two tasks in a group
 *
 *   instructions relay COUNT: two tasks that send each other COUNT messages by the daemon, in which callgrind counts
 *
 * Nothing waits while it is counted: the two tasks take turns by a pipe, so a message is there before it is received.
 * Only the first of the two in a barrier must wait. It sleeps at once, with PVM_SPIN=0.
 */
#include <err.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/callgrind.h>
#include "pvm3.h"

enum {
    BYTES = 8,
    ROUNDS = 1024, /* a multiple of the library's habits: each 64th and each 256th call does more */
    WARM_UP = 512,
    LINK_LIMIT = 20000, /* exchanges until the direct link is up */
    SLOW_ROUNDS = 256,  /* where something must be waited for in each */
    LATE_US = 3000,     /* until the daemon has relayed a message, or the other task is in the barrier */
    PATIENCE_MS = 100,
    LIMIT_S = 50,
    RECEIVERS = 4,
    WAITING = 16, /* messages in the inbox that do not match */
    TAG_DATA = 1,
    TAG_OTHER,
    TAG_ROUTE,
    TAG_NEVER,
};

static char data[BYTES];
static int side, peer;      /* of the two tasks: 0 or 1; the other one's tid */
static int pipes[2][2];     /* pipes[n]: to side n */
static useconds_t delay_us; /* until a message is there */
static int rounds = ROUNDS;

/* Returns the result of a PVM call; ends the program if it is an error. */
static int must(int code, const char *what)
{
    if (code < 0)
        errx(1, "%s: %d (%s)", what, code, pvm_strerror());
    return code;
}

/* ---- counting ---- */

static inline void begin_if(bool counted)
{
    if (counted)
        CALLGRIND_TOGGLE_COLLECT;
}

static inline void end_if(bool counted)
{
    begin_if(counted);
}

static void write_count(const char *group, const char *name, int count)
{
    char text[64];
    snprintf(text, sizeof text, "%s.%s %d", group, name, count);
    CALLGRIND_DUMP_STATS_AT(text);
    CALLGRIND_ZERO_STATS;
}

/* Before this nothing is counted, and the program runs faster. Counts what begin and end cost themselves. */
static void start_counting(void)
{
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i < ROUNDS; i++) {
        begin_if(true);
        end_if(true);
    }
    write_count("nothing", "nothing", ROUNDS);
}

/* ---- messages ---- */

/* These return 0, or an error: only the calls themselves are to be counted. */
static inline int send_packed(int tid, int tag)
{
    pvm_initsend(PvmDataRaw);
    pvm_pkbyte(data, BYTES, 1);
    return pvm_send(tid, tag);
}

static inline int receive_packed(int tid, int tag)
{
    pvm_recv(tid, tag);
    return pvm_upkbyte(data, BYTES, 1);
}

static inline int send_plain(int tid, int tag)
{
    return pvm_psend(tid, tag, data, BYTES, PVM_BYTE);
}

static inline int receive_plain(int tid, int tag)
{
    return pvm_precv(tid, tag, data, BYTES, PVM_BYTE, NULL, NULL, NULL);
}

/* ---- one task ---- */

static void count_exchange(int me)
{
    for (int i = -WARM_UP; i < ROUNDS; i++) {
        begin_if(i >= 0);
        int rc = send_packed(me, TAG_DATA);
        rc = rc ? rc : receive_packed(me, TAG_DATA);
        end_if(i >= 0);
        must(rc, "a message to oneself");
    }
    write_count("self", "exchange", ROUNDS);
}

static void count_poll(int me)
{
    for (int i = -WARM_UP; i < ROUNDS; i++) {
        begin_if(i >= 0);
        int mid = pvm_nrecv(me, TAG_DATA);
        end_if(i >= 0);
        if (mid)
            errx(1, "a message that nobody sent");
    }
    write_count("self", "poll", ROUNDS);
}

/* A receive that finds its message behind others. */
static void count_match(int me)
{
    for (int i = 0; i < WAITING; i++)
        must(send_packed(me, TAG_OTHER), "pvm_send");
    for (int i = -WARM_UP; i < ROUNDS; i++) {
        must(send_packed(me, TAG_DATA), "pvm_send");
        begin_if(i >= 0);
        int rc = receive_packed(me, TAG_DATA);
        end_if(i >= 0);
        must(rc, "pvm_recv");
    }
    write_count("self", "match", ROUNDS);
}

static void run_self(void)
{
    int me = must(pvm_mytid(), "pvm_mytid");
    start_counting();
    count_exchange(me);
    count_poll(me);
    count_match(me);
}

/* ---- two tasks ---- */

/* Passes a byte to the other task, which waits for it in hear(). */
static void tell(char byte)
{
    if (write(pipes[1 - side][1], &byte, 1) != 1)
        err(1, "the other task has gone");
}

/* Calls the library meanwhile: a link may have to repeat a frame that its network has lost. */
static char hear(void)
{
    char byte;
    struct pollfd other = {.fd = pipes[side][0], .events = POLLIN};
    while (poll(&other, 1, PATIENCE_MS) == 0)
        pvm_nrecv(-1, TAG_NEVER);
    if (read(pipes[side][0], &byte, 1) != 1)
        errx(1, "the other task has gone");
    return byte;
}

/* Forks and enrols both. Side 0 is the parent. */
static void become_two(void)
{
    if (pipe(pipes[0]) || pipe(pipes[1]))
        err(1, "pipe");
    pid_t child = fork();
    if (child < 0)
        err(1, "fork");
    side = child == 0;
    close(pipes[side][1]);
    close(pipes[1 - side][0]);
    int me = must(pvm_mytid(), "pvm_mytid");
    if (write(pipes[1 - side][1], &me, sizeof me) != sizeof me ||
        read(pipes[side][0], &peer, sizeof peer) != sizeof peer)
        errx(1, "the other task has gone");
}

/* The parent's exit code tells of both. */
static void become_one(void)
{
    int status;
    pvm_exit();
    if (side == 0 && (wait(&status) < 0 || status))
        errx(1, "the other task failed");
}

enum how { PACKED, PLAIN };

static void send_one(enum how how, bool counted)
{
    int rc;
    if (how == PACKED) {
        begin_if(counted);
        rc = send_packed(peer, TAG_DATA);
        end_if(counted);
    } else {
        begin_if(counted);
        rc = send_plain(peer, TAG_DATA);
        end_if(counted);
    }
    must(rc, "a send");
}

static void receive_one(enum how how, bool counted)
{
    int rc;
    if (how == PACKED) {
        begin_if(counted);
        rc = receive_packed(peer, TAG_DATA);
        end_if(counted);
    } else {
        begin_if(counted);
        rc = receive_plain(peer, TAG_DATA);
        end_if(counted);
    }
    must(rc, "a receive");
}

/* One message each way, the first from side 0. Side 0 counts what sends, side 1 what receives. */
static void round_trip(enum how how, bool counted)
{
    if (side == 0) {
        send_one(how, counted);
        tell(0);
        hear();
        receive_one(how, false);
    } else {
        hear();
        usleep(delay_us);
        receive_one(how, counted);
        send_one(how, false);
        tell(0);
    }
}

static void open_link(void)
{
    must(pvm_setopt(PvmRoute, PvmRouteDirect), "pvm_setopt");
    must(pvm_notify(PvmRouteAdd, TAG_ROUTE, -1, NULL), "pvm_notify");
    bool up[2] = {false, false};
    for (int i = 0; i < LINK_LIMIT && !(up[0] && up[1]); i++) {
        round_trip(PACKED, false);
        up[side] = up[side] || pvm_nrecv(-1, TAG_ROUTE) > 0;
        tell(up[side]);
        up[1 - side] = hear();
    }
    if (!up[0] || !up[1])
        errx(1, "no direct link after %d exchanges", LINK_LIMIT);
    must(pvm_notify(PvmRouteAdd | PvmNotifyCancel, TAG_ROUTE, -1, NULL), "pvm_notify");
}

static void count_pair(const char *group, const char *names[2], enum how how)
{
    for (int i = 0; i < rounds / 2; i++)
        round_trip(how, false);
    for (int i = 0; i < rounds; i++)
        round_trip(how, true);
    write_count(group, names[side], rounds);
}

static void run_pair(const char *group)
{
    become_two();
    if (strcmp(group, "daemon") != 0) {
        open_link();
    } else {
        must(pvm_setopt(PvmRoute, PvmDontRoute), "pvm_setopt");
        rounds = SLOW_ROUNDS;
        delay_us = LATE_US;
    }
    start_counting();
    count_pair(group, (const char *[]){"send", "recv"}, PACKED);
    count_pair(group, (const char *[]){"psend", "precv"}, PLAIN);
    become_one();
}

/* ---- one task and its receivers ---- */

/* Receives when it is told to, and answers, until the pipe is closed. */
static void receive_for_ever(int told, int answers)
{
    char byte;
    int me = must(pvm_mytid(), "pvm_mytid");
    must(pvm_setopt(PvmRoute, PvmRouteDirect), "pvm_setopt");
    while (write(answers, &me, sizeof me) == sizeof me && read(told, &byte, 1) == 1)
        must(receive_packed(-1, TAG_DATA), "a receive");
    pvm_exit();
    exit(0);
}

static void hear_all(int answers, int *tids)
{
    for (int i = 0; i < RECEIVERS; i++)
        if (read(answers, &tids[i], sizeof *tids) != sizeof *tids)
            errx(1, "a receiver has gone");
}

static void start_receivers(int *tell_them, int *answers, int *tids)
{
    int told[2], back[2];
    if (pipe(back))
        err(1, "pipe");
    for (int i = 0; i < RECEIVERS; i++) {
        if (pipe(told))
            err(1, "pipe");
        pid_t child = fork();
        if (child < 0)
            err(1, "fork");
        for (int open = 0; open < i && child == 0; open++)
            close(tell_them[open]);
        close(told[child == 0]);
        if (child == 0)
            receive_for_ever(told[0], back[1]);
        tell_them[i] = told[1];
    }
    *answers = back[0];
    hear_all(*answers, tids);
}

static void run_mcast(void)
{
    int tell_them[RECEIVERS], tids[RECEIVERS], answered[RECEIVERS], answers, links = 0;
    start_receivers(tell_them, &answers, tids);
    must(pvm_mytid(), "pvm_mytid");
    must(pvm_setopt(PvmRoute, PvmRouteDirect), "pvm_setopt");
    must(pvm_notify(PvmRouteAdd, TAG_ROUTE, -1, NULL), "pvm_notify");
    for (int i = -LINK_LIMIT; i < ROUNDS; i++) {
        if (i < -WARM_UP && links == RECEIVERS) {
            i = -WARM_UP;
            start_counting();
        }
        begin_if(i >= 0);
        pvm_initsend(PvmDataRaw);
        pvm_pkbyte(data, BYTES, 1);
        int rc = pvm_mcast(tids, RECEIVERS, TAG_DATA);
        end_if(i >= 0);
        must(rc, "pvm_mcast");
        for (int k = 0; k < RECEIVERS; k++)
            if (write(tell_them[k], "", 1) != 1)
                err(1, "a receiver has gone");
        hear_all(answers, answered);
        links += i < -WARM_UP && pvm_nrecv(-1, TAG_ROUTE) > 0;
    }
    if (links < RECEIVERS)
        errx(1, "only %d direct links", links);
    write_count("shm", "mcast", ROUNDS * RECEIVERS);
    for (int k = 0; k < RECEIVERS; k++)
        close(tell_them[k]);
    while (wait(NULL) > 0)
        ;
    pvm_exit();
}

/* ---- groups ---- */

static void run_barrier(void)
{
    become_two();
    must(pvm_joingroup("instructions"), "pvm_joingroup");
    must(pvm_barrier("instructions", 2), "pvm_barrier");
    start_counting();
    for (int i = -SLOW_ROUNDS / 4; i < SLOW_ROUNDS; i++) {
        tell(0);
        hear();
        if (side == 0)
            usleep(LATE_US);
        if (i == 0)
            CALLGRIND_ZERO_STATS;
        begin_if(i >= 0);
        int rc = pvm_barrier("instructions", 2);
        end_if(i >= 0);
        must(rc, "pvm_barrier");
    }
    write_count("barrier", side == 0 ? "last" : "first", SLOW_ROUNDS);
    must(pvm_lvgroup("instructions"), "pvm_lvgroup");
    become_one();
}

static void run_relay(const char *count)
{
    become_two();
    must(pvm_setopt(PvmRoute, PvmDontRoute), "pvm_setopt");
    for (int i = atoi(count) / 2; i > 0; i--)
        round_trip(PACKED, false);
    become_one();
}

int main(int argc, char **argv)
{
    alarm(LIMIT_S);
    if (argc == 2 && strcmp(argv[1], "self") == 0)
        run_self();
    else if (argc == 3 && strcmp(argv[1], "pair") == 0)
        run_pair(argv[2]);
    else if (argc == 2 && strcmp(argv[1], "mcast") == 0)
        run_mcast();
    else if (argc == 2 && strcmp(argv[1], "barrier") == 0)
        run_barrier();
    else if (argc == 3 && strcmp(argv[1], "relay") == 0)
        run_relay(argv[2]);
    else
        errx(2, "usage: instructions self | pair NAME | mcast | barrier | relay COUNT");
    return 0;
}
