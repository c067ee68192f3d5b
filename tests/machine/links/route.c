/*
 * route - messages take whatever route there is, and nobody notices: route CASE [HOSTS].
 *
 *   mix      two tasks exchange every size and encoding while both change PvmRoute in mid-stream
 *   all      eight tasks open links to each other at the same moment
 *   busy     a peer that computes does not hold up the sender
 *   away     nor does one that computes behind a link
 *   few      more peers than descriptors
 *   last     what a task sends just before pvm_exit() arrives, and before the notification of its end
 *   notify   PvmRouteAdd and PvmRouteDelete
 *   refuse   PvmDontRoute on one side
 *   fork     a forked child does not disturb its parent's links
 *
 * PVM_TRANSPORT says which routes there are; without direct ones the cases must work just as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "tests/machine/runner/check.h"

enum {
    TAG_GO = 1,
    TAG_NUMBERED,
    TAG_DONE,
    TAG_EXIT,
    TAG_ADDED,
    TAG_DELETED,
    BYTES_MAX = 3 << 20,
    ROUNDS = 400, /* of mix */
    TASKS = 8,
    ALL_MESSAGES = 200,
    LAST_MESSAGES = 300,
    PEERS = 64,
    DESCRIPTORS = 32
};

static char data[BYTES_MAX];

/* ---- numbered messages ---- */

/* Sizes around the limits of rings, frames, copies; most are small, so that many are in flight. */
static int size_of(unsigned seed)
{
    static const int edges[] = {0,     1,     63,    64,     65,        4095,    4096,    4097,     65535,
                                65536, 65537, 70000, 262144, (1 << 20), 1 << 21, 2000001, BYTES_MAX};
    unsigned state = seed, kind = check_random(&state) % 20;
    if (kind == 0)
        return edges[check_random(&state) % (sizeof edges / sizeof *edges)];
    return (int)(check_random(&state) % (kind < 4 ? 20000 : 200));
}

static unsigned seed_of(int from, int to, int number)
{
    return (unsigned)from * 7919u + (unsigned)to * 104729u + (unsigned)number * 31u + 1;
}

static void send_packed(int to, int encoding, int number, int bytes)
{
    CHECK(pvm_initsend(encoding) > 0);
    CHECK_EQ(pvm_pkint(&number, 1, 1), 0);
    CHECK_EQ(pvm_pkint(&bytes, 1, 1), 0);
    CHECK_EQ(pvm_pkbyte(data, bytes, 1), 0);
    CHECK_EQ(pvm_send(to, TAG_NUMBERED), 0);
}

/* The message with that number, in the encoding whose turn it is; the buffer is overwritten afterwards. */
static void send_numbered(int to, int number)
{
    static const int encodings[] = {PvmDataDefault, PvmDataRaw, PvmDataInPlace};
    unsigned seed = seed_of(pvm_mytid(), to, number);
    int bytes = size_of(seed), kind = (number + number / 4) % 4;
    if (kind < 3) {
        check_fill(data, (size_t)bytes, seed);
        send_packed(to, encodings[kind], number, bytes);
    } else { /* pvm_psend(): number and size are the first bytes of the data */
        int head[2] = {number, bytes < 8 ? 8 : bytes};
        check_fill(data, (size_t)head[1], seed);
        memcpy(data, head, sizeof head);
        CHECK_EQ(pvm_psend(to, TAG_NUMBERED, data, head[1], PVM_BYTE), 0);
    }
    memset(data, 0x55, (size_t)(bytes < 8 ? 8 : bytes));
}

static void check_numbered(int from, int number)
{
    unsigned seed = seed_of(from, pvm_mytid(), number);
    int bytes = size_of(seed), kind = (number + number / 4) % 4, head[2], length;
    CHECK_EQ(pvm_bufinfo(pvm_getrbuf(), &length, NULL, NULL), 0);
    CHECK_EQ(pvm_upkint(head, 2, 1), 0);
    CHECK_EQ(head[0], number);
    if (kind < 3) {
        CHECK_EQ(head[1], bytes);
        CHECK_EQ(pvm_upkbyte(data, bytes, 1), 0);
        CHECK(check_same(data, (size_t)bytes, seed));
        return;
    }
    static char expected[BYTES_MAX];
    CHECK_EQ(head[1], bytes < 8 ? 8 : bytes);
    CHECK_EQ(length, head[1]);
    CHECK_EQ(pvm_upkbyte(data + 8, head[1] - 8, 1), 0);
    check_fill(expected, (size_t)head[1], seed);
    CHECK(memcmp(data + 8, expected + 8, (size_t)head[1] - 8) == 0);
}

/* Receives the next message of `from`, with pvm_precv() if it was sent that way and it is its turn. */
static void take_numbered(int from, int number)
{
    unsigned seed = seed_of(from, pvm_mytid(), number);
    int bytes = size_of(seed), kind = (number + number / 4) % 4, head[2], length, tid;
    if (kind < 3 || number % 8 < 4) {
        check_receive(from, TAG_NUMBERED);
        check_numbered(from, number);
        return;
    }
    static char expected[BYTES_MAX];
    CHECK_EQ(pvm_precv(from, TAG_NUMBERED, data, BYTES_MAX, PVM_BYTE, &tid, NULL, &length), 0);
    memcpy(head, data, sizeof head);
    CHECK_EQ(tid, from);
    CHECK_EQ(head[0], number);
    CHECK_EQ(length, bytes < 8 ? 8 : bytes);
    check_fill(expected, (size_t)length, seed);
    CHECK(memcmp(data + 8, expected + 8, (size_t)length - 8) == 0);
}

/* ---- mix ---- */

static void change_route(unsigned *state)
{
    static const int routes[] = {PvmDontRoute, PvmAllowDirect, PvmRouteDirect};
    if (check_random(state) % 5 == 0)
        CHECK(pvm_setopt(PvmRoute, routes[check_random(state) % 3]) > 0);
}

static void mix_peer(int argc, char **argv)
{
    (void)argc, (void)argv;
    int other = check_receive_int(pvm_parent(), TAG_GO), sent = 0, taken = 0;
    unsigned state = (unsigned)pvm_mytid();
    while (sent < ROUNDS || taken < ROUNDS) {
        change_route(&state);
        for (int n = (int)(check_random(&state) % 8); n > 0 && sent < ROUNDS; n--)
            send_numbered(other, sent++);
        for (int n = (int)(check_random(&state) % 8); n > 0 && taken < ROUNDS && taken < sent; n--)
            take_numbered(other, taken++);
    }
    check_send_int(pvm_parent(), TAG_DONE, 0);
}

static void mix(int hosts)
{
    int tids[2];
    check_spawn("mix_peer", NULL, ".", 1, &tids[0]);
    check_spawn("mix_peer", NULL, check_host_name(hosts - 1), 1, &tids[1]);
    check_send_int(tids[0], TAG_GO, tids[1]);
    check_send_int(tids[1], TAG_GO, tids[0]);
    check_receive_int(-1, TAG_DONE);
    check_receive_int(-1, TAG_DONE);
    check_wait_exit(2, tids);
}

/* ---- all ---- */

static void all_peer(int argc, char **argv)
{
    (void)argc, (void)argv;
    int tids[TASKS], next[TASKS] = {0}, me = 0;
    pvm_setopt(PvmRoute, PvmRouteDirect);
    check_receive(pvm_parent(), TAG_GO);
    CHECK_EQ(pvm_upkint(tids, TASKS, 1), 0);
    while (tids[me] != pvm_mytid())
        me++;
    for (int number = 0; number < ALL_MESSAGES; number++)
        for (int to = 0; to < TASKS; to++)
            if (to != me)
                send_packed(tids[to], PvmDataDefault, number, size_of(seed_of(me, to, number)) % 3000);
    for (int left = ALL_MESSAGES * (TASKS - 1); left; left--) {
        int tid, number, from = 0, mid = check_receive(-1, TAG_NUMBERED);
        CHECK_EQ(pvm_bufinfo(mid, NULL, NULL, &tid), 0);
        while (tids[from] != tid)
            from++;
        CHECK_EQ(pvm_upkint(&number, 1, 1), 0);
        CHECK_EQ(number, next[from]++);
    }
    check_send_int(pvm_parent(), TAG_DONE, me);
}

static void all(int hosts)
{
    int tids[TASKS];
    check_spawn("all_peer", NULL, ".", TASKS / 2, tids);
    check_spawn("all_peer", NULL, check_host_name(hosts - 1), TASKS / 2, tids + TASKS / 2);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(tids, TASKS, 1), 0);
    CHECK_EQ(pvm_mcast(tids, TASKS, TAG_GO), 0);
    for (int i = 0; i < TASKS; i++)
        check_receive_int(-1, TAG_DONE);
    check_wait_exit(TASKS, tids);
}

/* ---- busy ---- */

static void busy_peer(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_GO, 0);
    double end = check_now() + 1.5;
    while (check_now() < end) /* computes, outside of PVM */
        ;
    for (int number = 0; number < 50; number++)
        CHECK_EQ(check_receive_int(pvm_parent(), TAG_NUMBERED), number);
    check_send_int(pvm_parent(), TAG_DONE, 0);
}

static void busy(int hosts)
{
    int tid;
    pvm_setopt(PvmRoute, PvmRouteDirect);
    check_spawn("busy_peer", NULL, check_host_name(hosts - 1), 1, &tid);
    check_receive_int(tid, TAG_GO);
    double start = check_now();
    for (int number = 0; number < 50; number++)
        check_send_int(tid, TAG_NUMBERED, number);
    double took = check_now() - start;
    printf("50 messages to a busy peer: %.3f s\n", took);
    CHECK(took < 0.7 * check_slowness());
    check_receive_int(tid, TAG_DONE);
    check_wait_exit(1, &tid);
}

/* ---- links ---- */

static int links_are_made(void)
{
    const char *transport = getenv("PVM_TRANSPORT");
    return !transport || strcmp(transport, "daemon") != 0;
}

/* Waits until there is a link, or for some time. Returns whether PvmRouteAdd reported one. */
static int exchange_for(int tid, double limit)
{
    double end = check_now() + limit * check_slowness();
    for (int number = 0; check_now() < end; number++) {
        check_send_int(tid, TAG_NUMBERED, number);
        CHECK_EQ(check_receive_int(tid, TAG_DONE), number);
        if (pvm_nrecv(-1, TAG_ADDED) > 0)
            return 1;
    }
    return 0;
}

/* If a fault ends an attempt, the next one comes a second later; on a busy machine libfabric may take as long. */
static int exchange(int tid)
{
    return exchange_for(tid, links_are_made() ? 4 : 1);
}

/* ---- away ---- */

enum { AWAY_MESSAGES = 50 };

/* Ignores everything until the signal, which the master sends after everything else. */
static void away_peer(int argc, char **argv)
{
    (void)argc, (void)argv;
    sigset_t signals;
    int caught;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    CHECK_EQ(sigprocmask(SIG_BLOCK, &signals, NULL), 0);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    for (int number; (number = check_receive_int(pvm_parent(), TAG_NUMBERED)) >= 0;)
        check_send_int(pvm_parent(), TAG_DONE, number);
    check_send_int(pvm_parent(), TAG_GO, 0);
    CHECK_EQ(sigwait(&signals, &caught), 0);
    for (int number = 0; number < AWAY_MESSAGES; number++)
        CHECK_EQ(check_receive_int(pvm_parent(), TAG_NUMBERED), number);
    check_send_int(pvm_parent(), TAG_DONE, 0);
    check_receive_int(pvm_parent(), TAG_GO); /* its end deletes the route, too */
}

/* Small ones: a sender waits for large in-place data. */
static void away(int hosts)
{
    int tid;
    pvm_setopt(PvmRoute, PvmRouteDirect);
    CHECK_EQ(pvm_notify(PvmRouteAdd, TAG_ADDED, -1, NULL), 0);
    check_spawn("away_peer", NULL, check_host_name(hosts - 1), 1, &tid);
    CHECK_EQ(exchange(tid), links_are_made());
    CHECK_EQ(pvm_notify(PvmRouteDelete, TAG_DELETED, 1, &tid), 0);
    check_send_int(tid, TAG_NUMBERED, -1);
    check_receive_int(tid, TAG_GO);
    for (int number = 0; number < AWAY_MESSAGES; number++)
        send_packed(tid, number % 2 ? PvmDataDefault : PvmDataInPlace, number, 100);
    CHECK_EQ(pvm_sendsig(tid, SIGUSR1), 0);
    check_receive_int(tid, TAG_DONE);
    if (links_are_made())
        CHECK_EQ(pvm_nrecv(-1, TAG_DELETED), 0); /* no side gave the link up meanwhile */
    check_send_int(tid, TAG_GO, 0);
    check_wait_exit(1, &tid);
}

/* ---- few ---- */

static void few_peer(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmRoute, PvmRouteDirect);
    for (int number = 0; number < 20; number++)
        check_send_int(pvm_parent(), TAG_DONE, check_receive_int(pvm_parent(), TAG_NUMBERED));
}

static void few(int hosts)
{
    int tids[PEERS], fd;
    struct rlimit limit = {DESCRIPTORS, DESCRIPTORS};
    check_spawn("few_peer", NULL, check_host_name(hosts - 1), PEERS, tids);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    for (int number = 0; number < 20; number++) {
        for (int i = 0; i < PEERS; i++)
            check_send_int(tids[i], TAG_NUMBERED, number * PEERS + i);
        for (int i = 0; i < PEERS; i++)
            CHECK_EQ(check_receive_int(tids[i], TAG_DONE), number * PEERS + i);
        CHECK((fd = open("/dev/null", O_RDONLY)) >= 0); /* some are left for the program */
        close(fd);
    }
    check_wait_exit(PEERS, tids);
}

/* ---- last ---- */

static void last_peer(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmRoute, PvmRouteDirect);
    for (int number = 0; number < 20; number++) { /* until there is a link */
        CHECK_EQ(check_receive_int(pvm_parent(), TAG_GO), number);
        check_send_int(pvm_parent(), TAG_DONE, number);
    }
    for (int number = 0; number < LAST_MESSAGES; number++)
        send_packed(pvm_parent(), number % 2 ? PvmDataDefault : PvmDataInPlace, number, number % 10 ? 100 : 100000);
    pvm_exit();
}

static void last(int hosts)
{
    int tid, number, from, got = 0;
    check_spawn("last_peer", NULL, check_host_name(hosts - 1), 1, &tid);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
    for (number = 0; number < 20; number++) {
        check_send_int(tid, TAG_GO, number);
        CHECK_EQ(check_receive_int(tid, TAG_DONE), number);
    }
    check_sleep_ms(300); /* sending continues as far as it gets without us */
    for (;;) {
        int tag, mid = check_receive(-1, -1);
        CHECK_EQ(pvm_bufinfo(mid, NULL, &tag, &from), 0);
        CHECK_EQ(pvm_upkint(&number, 1, 1), 0);
        if (tag == TAG_EXIT)
            break;
        CHECK_EQ(from, tid);
        CHECK_EQ(number, got++);
    }
    CHECK_EQ(number, tid);
    CHECK_EQ(got, LAST_MESSAGES);
}

/* ---- notify ---- */

static void echo_peer(int argc, char **argv)
{
    pvm_setopt(PvmRoute, argc > 1 ? atoi(argv[1]) : PvmAllowDirect);
    for (;;) {
        int number = check_receive_int(pvm_parent(), TAG_NUMBERED);
        if (number < 0)
            return;
        check_send_int(pvm_parent(), TAG_DONE, number);
    }
}

static void notify(int hosts)
{
    int tid, value;
    check_spawn("echo_peer", NULL, check_host_name(hosts - 1), 1, &tid);
    CHECK_EQ(pvm_notify(PvmRouteDelete, TAG_DELETED, 1, &tid), 0);
    CHECK_EQ(check_receive_int(-1, TAG_DELETED), tid); /* there is none yet */
    CHECK_EQ(pvm_notify(PvmRouteAdd, TAG_ADDED, -1, NULL), 0);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    int linked = exchange(tid);
    CHECK_EQ(linked, links_are_made());
    if (linked) {
        CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
        CHECK_EQ(value, tid);
        CHECK_EQ(pvm_notify(PvmRouteDelete, TAG_DELETED, 1, &tid), 0);
        CHECK_EQ(pvm_nrecv(-1, TAG_DELETED), 0);
        CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
        double start = check_now();
        CHECK_EQ(pvm_notify(PvmTaskExit | PvmNotifyCancel, TAG_EXIT, 1, &tid), 0);
        CHECK_EQ(check_receive_int(-1, TAG_EXIT), tid);
        CHECK(check_now() - start < 0.5 * check_slowness());
    }
    check_send_int(tid, TAG_NUMBERED, -1);
    if (linked)
        CHECK_EQ(check_receive_int(-1, TAG_DELETED), tid);
    check_wait_exit(1, &tid);
}

/* ---- refuse ---- */

static void refuse(int hosts)
{
    int tid;
    char route[16];
    snprintf(route, sizeof route, "%d", PvmDontRoute);
    CHECK_EQ(pvm_notify(PvmRouteAdd, TAG_ADDED, -1, NULL), 0);
    check_spawn("echo_peer", route, check_host_name(hosts - 1), 1, &tid);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    CHECK_EQ(exchange_for(tid, 1), 0);
    check_send_int(tid, TAG_NUMBERED, -1);
    check_wait_exit(1, &tid);
    check_spawn("echo_peer", NULL, check_host_name(hosts - 1), 1, &tid);
    pvm_setopt(PvmRoute, PvmDontRoute);
    CHECK_EQ(exchange_for(tid, 1), 0);
    check_send_int(tid, TAG_NUMBERED, -1);
    check_wait_exit(1, &tid);
}

/* ---- fork ---- */

static void forks(int hosts)
{
    int tid, status;
    pvm_setopt(PvmRoute, PvmRouteDirect);
    CHECK_EQ(pvm_notify(PvmRouteAdd, TAG_ADDED, -1, NULL), 0);
    check_spawn("echo_peer", NULL, check_host_name(hosts - 1), 1, &tid);
    int linked = exchange(tid);
    CHECK_EQ(linked, links_are_made());
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (!child) { /* becomes another task if it uses PVM; otherwise does nothing */
            if (i % 2 && (pvm_mytid() < 0 || pvm_exit() < 0))
                _exit(1);
            _exit(0);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
        for (int number = 0; number < 20; number++) {
            check_send_int(tid, TAG_NUMBERED, number);
            CHECK_EQ(check_receive_int(tid, TAG_DONE), number);
        }
    }
    check_send_int(tid, TAG_NUMBERED, -1);
    check_wait_exit(1, &tid);
}

/* ---- all cases ---- */

static const struct {
    const char *name;
    void (*run)(int hosts);
} cases[] = {{"mix", mix},   {"all", all},       {"busy", busy},     {"away", away}, {"few", few},
             {"last", last}, {"notify", notify}, {"refuse", refuse}, {"fork", forks}};

static void master(int argc, char **argv)
{
    int hosts = argc > 2 ? atoi(argv[2]) : 1;
    check_hosts(hosts);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (argc > 1 && !strcmp(argv[1], cases[i].name)) {
            cases[i].run(hosts);
            return;
        }
    check_failed(__FILE__, __LINE__, "unknown case");
}

static const struct check_role roles[] = {
    {"mix_peer", mix_peer}, {"all_peer", all_peer},   {"busy_peer", busy_peer}, {"away_peer", away_peer},
    {"few_peer", few_peer}, {"last_peer", last_peer}, {"echo_peer", echo_peer}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
