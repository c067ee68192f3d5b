/*
 * marks - a collector of a task family's output, on a host of its own, never finishes too early: it learns of each
 * child before it learns of the end of the child's parent, however slow the child's host is: marks
 *
 * Host 1 has the master, 2 the parents, 3 the collector, 4 and on the children. Each round uses a new host, because
 * links between daemons are made on first use, so the marks of the first task there are late.
 */
#include <signal.h>
#include "tests/machine/runner/check.h"

enum { TAG_OUTPUT = 1, TAG_SPAWNED, TAG_GO, TAG_DONE, ROUNDS = 4, SPAWNED = -1, NEW = -2, TASKS_MAX = 8 };

static void child(int argc, char **argv)
{
    (void)argc, (void)argv;
    printf("a line\n");
}

/* Spawns one child on the host argv[1] and ends at once, or is killed before the spawn is through. */
static void parent(int argc, char **argv)
{
    (void)argc;
    int tid;
    check_spawn("child", NULL, argv[1], 1, &tid);
}

struct family {
    int tids[TASKS_MAX], ended[TASKS_MAX], count, open;
    int spawned, news; /* marks */
};

static int *entry(struct family *f, int tid)
{
    for (int i = 0; i < f->count; i++)
        if (f->tids[i] == tid)
            return &f->ended[i];
    CHECK(f->count < TASKS_MAX);
    f->tids[f->count] = tid;
    f->open++;
    return &f->ended[f->count++];
}

/* One output message. */
static void take(struct family *f)
{
    int tid, n;
    CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
    CHECK_EQ(pvm_upkint(&n, 1, 1), 0);
    int *ended = entry(f, tid);
    f->spawned += n == SPAWNED;
    f->news += n == NEW;
    if (n)
        return;
    CHECK(!*ended);
    *ended = 1;
    f->open--;
}

/* Collects until the family seems to be finished, and checks that nothing arrives after that. */
static void collect(struct family *f)
{
    do {
        check_receive(-1, TAG_OUTPUT);
        take(f);
    } while (f->open);
    int count = f->count;
    check_sleep_ms(200);
    while (pvm_nrecv(-1, TAG_OUTPUT) > 0)
        take(f);
    CHECK_EQ(f->count, count);
    CHECK_EQ(f->open, 0);
}

/* Runs a parent for each host named by the master. */
static void collector(int argc, char **argv)
{
    (void)argc;
    char host[64];
    CHECK_EQ(pvm_setopt(PvmOutputTid, pvm_mytid()), 0);
    pvm_setopt(PvmOutputContext, pvm_getcontext());
    pvm_setopt(PvmOutputCode, TAG_OUTPUT);
    for (;;) {
        struct family f = {0};
        int tid;
        check_receive(pvm_parent(), TAG_GO);
        CHECK_EQ(pvm_upkstr(host), 0);
        if (!*host)
            break;
        check_spawn("parent", host, argv[1], 1, &tid);
        check_send_int(pvm_parent(), TAG_SPAWNED, tid);
        collect(&f);
        CHECK(f.count == 2 && f.spawned == 2 && f.news == 2);
        check_send_int(pvm_parent(), TAG_DONE, f.count);
    }
}

static void go(int tid, const char *host)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkstr((char *)host), 0);
    CHECK_EQ(pvm_send(tid, TAG_GO), 0);
}

/* The parent is killed while its child's daemon does not answer. */
static void check_killed_parent(int collector_tid, const char *host)
{
    int tid;
    check_spawn("sleeper", NULL, host, 1, &tid);
    pid_t daemon = check_daemon_of(tid);
    CHECK_EQ(pvm_kill(tid), 0);
    check_wait_exit(1, &tid);
    CHECK_EQ(kill(daemon, SIGSTOP), 0);
    go(collector_tid, host);
    int parent_tid = check_receive_int(collector_tid, TAG_SPAWNED);
    check_sleep_ms(300 * check_slowness()); /* until it waits in pvm_spawn() */
    CHECK_EQ(pvm_kill(parent_tid), 0);
    check_sleep_ms(300);
    CHECK_EQ(kill(daemon, SIGCONT), 0);
    check_receive_int(collector_tid, TAG_DONE);
}

static void sleeper(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_recv(-1, -1);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    int tid;
    check_hosts(3 + ROUNDS);
    check_spawn("collector", check_host_name(1), check_host_name(2), 1, &tid);
    go(tid, check_host_name(1)); /* makes the link from parents to collector */
    check_receive_int(tid, TAG_SPAWNED);
    check_receive_int(tid, TAG_DONE);
    for (int i = 0; i < ROUNDS; i++) {
        go(tid, check_host_name(3 + i));
        check_receive_int(tid, TAG_SPAWNED);
        check_receive_int(tid, TAG_DONE);
    }
    check_killed_parent(tid, check_host_name(3));
    go(tid, "");
    check_wait_exit(1, &tid);
}

static const struct check_role roles[] = {
    {"collector", collector}, {"parent", parent}, {"child", child}, {"sleeper", sleeper}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
