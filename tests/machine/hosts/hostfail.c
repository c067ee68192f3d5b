/*
 * hostfail - a host is lost: its daemon killed, its daemon stopped, or its daemon only very busy (which is no failure).
 *
 *   hostfail killed | stopped | busy      with PVM_HOST_TIMEOUT=1
 *   hostfail deleting                     with PVM_HOST_TIMEOUT=15: one host is stopped, and others are deleted
 *   hostfail adding                       so, too: a host is stopped and deleted while another one, of the same call of
 *                                         pvm_addhosts(), is on its way
 */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/daemons.h"

enum { TAG_EXIT = 1, TAG_HOST, TAG_READY, TAG_GO, TAG_PING, BURNERS = 6, LOST = 1 };

/* Waits until its daemon is gone, which must cause an error code and not a hang. */
static void lonely(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    check_send_int(pvm_parent(), TAG_READY, 0);
    CHECK_EQ(pvm_recv(-1, TAG_GO), PvmSysErr);
    CHECK_EQ(pvm_nrecv(-1, TAG_GO), PvmSysErr);
}

static void echo(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int value; (value = check_receive_int(pvm_parent(), TAG_PING)) >= 0;)
        check_send_int(pvm_parent(), TAG_PING, value);
}

static void burner(int argc, char **argv)
{
    (void)argc;
    double end = check_now() + atoi(argv[1]);
    pvm_mytid();
    while (check_now() < end)
        ;
}

struct far {
    int host, tid;
    pid_t daemon, task;
};

static struct far start_far(void)
{
    struct far far;
    check_spawn("lonely", NULL, check_host_name(LOST), 1, &far.tid);
    check_receive_int(far.tid, TAG_READY);
    far.host = pvm_tidtohost(far.tid);
    far.daemon = check_daemon_of(far.tid);
    far.task = check_pid_of(far.tid);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &far.tid), 0);
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST, 1, &far.host), 0);
    return far;
}

static void wait_until_dead(pid_t pid)
{
    double end = check_now() + check_limit_s();
    while (check_alive(pid) && check_now() < end)
        check_sleep_ms(5);
    CHECK(!check_alive(pid));
}

/* Both events arrive within the limits; then the host is gone, the rest works, and the host can be added again. */
static void check_lost(const struct far *far, double start, double earliest, double latest)
{
    CHECK_EQ(check_receive_int(-1, TAG_HOST), far->host);
    double host_took = check_now() - start;
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), far->tid);
    double took = check_now() - start;
    printf("HostDelete after %.3f s, TaskExit after %.3f s\n", host_took, took);
    CHECK(host_took >= earliest);
    CHECK(took < latest * check_slowness());
    int n;
    CHECK_EQ(pvm_config(&n, NULL, NULL), 0);
    CHECK_EQ(n, 2);
    CHECK_EQ(pvm_pstat(far->tid), PvmNoTask);
    CHECK_EQ(pvm_mstat((char *)check_host_name(LOST)), PvmNoHost);
    check_send_int(far->tid, TAG_GO, 0); /* nobody receives it, but there is no error and no hang */
}

static void check_machine_whole(void)
{
    int tids[3];
    check_hosts(3);
    for (int i = 0; i < 3; i++) {
        check_spawn("echo", NULL, check_host_name(i), 1, &tids[i]);
        check_send_int(tids[i], TAG_PING, i);
        CHECK_EQ(check_receive_int(tids[i], TAG_PING), i);
        check_send_int(tids[i], TAG_PING, -1);
    }
    check_wait_exit(3, tids);
}

static void check_killed(void)
{
    struct far far = start_far();
    double start = check_now();
    CHECK(kill(far.daemon, SIGKILL) == 0);
    check_lost(&far, start, 0, 1);
    wait_until_dead(far.task);
}

static void check_stopped(void)
{
    struct far far = start_far();
    double start = check_now();
    CHECK(kill(far.daemon, SIGSTOP) == 0);
    check_lost(&far, start, 0.5, 3);
    CHECK(kill(far.daemon, SIGCONT) == 0); /* it learns that it was removed, and ends */
    wait_until_dead(far.daemon);
    wait_until_dead(far.task);
}

/* Lasts many times the time limit, under full load and traffic. */
static void check_busy(void)
{
    int tids[BURNERS], echoes[2], host, rounds = 0, seconds = 5;
    char duration[16];
    snprintf(duration, sizeof duration, "%d", seconds);
    check_spawn("echo", NULL, check_host_name(1), 1, &echoes[0]);
    check_spawn("echo", NULL, check_host_name(2), 1, &echoes[1]);
    host = pvm_tidtohost(echoes[0]);
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST, 1, &host), 0);
    host = pvm_tidtohost(echoes[1]);
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST, 1, &host), 0);
    check_spawn("burner", duration, check_host_name(1), BURNERS, tids);
    for (double end = check_now() + seconds; check_now() < end; rounds++)
        for (int i = 0; i < 2; i++) {
            check_send_int(echoes[i], TAG_PING, rounds);
            CHECK_EQ(check_receive_int(echoes[i], TAG_PING), rounds);
        }
    printf("%d rounds under load\n", rounds);
    CHECK_EQ(pvm_nrecv(-1, TAG_HOST), 0);
    for (int i = 0; i < 2; i++)
        check_send_int(echoes[i], TAG_PING, -1);
    check_wait_exit(2, echoes);
    check_wait_exit(BURNERS, tids);
    CHECK_EQ(pvm_nrecv(-1, TAG_HOST), 0);
}

static void delete_quickly(int first, int count)
{
    char *names[2] = {(char *)daemons_name(first), (char *)daemons_name(first + 1)};
    int status[2];
    double start = check_now();
    CHECK_EQ(pvm_delhosts(names, count, status), count);
    double took = check_now() - start;
    printf("%d deleted after %.3f s\n", count, took);
    CHECK(took < daemons_patience(1));
}

/* A majority answers, so nobody waits for the host that does not. */
static void check_deleting(void)
{
    int n;
    check_hosts(6);
    pid_t stopped = daemons_pid(5);
    CHECK_EQ(kill(stopped, SIGSTOP), 0);
    check_sleep_ms(500);
    delete_quickly(1, 1); /* of 6 */
    delete_quickly(2, 2); /* of 5: two others are left */
    delete_quickly(4, 1); /* of 3: the stopped one is left */
    CHECK_EQ(pvm_config(&n, NULL, NULL), 0);
    CHECK_EQ(n, 2);
    CHECK_EQ(kill(stopped, SIGCONT), 0);
}

/* A daemon to be started that takes its time. Static storage. */
static const char *slow_daemon(void)
{
    static char path[256];
    char link[64], daemon[256] = "";
    snprintf(link, sizeof link, "/proc/%d/exe", (int)daemons_pid(0));
    CHECK(readlink(link, daemon, sizeof daemon - 1) > 0);
    snprintf(path, sizeof path, "%s/slow-pvmd3", getenv("PVM_TMP"));
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    fprintf(f, "#!/bin/sh\nsleep 2\nexec '%s' \"$@\"\n", daemon);
    CHECK_EQ(fchmod(fileno(f), 0700), 0);
    CHECK_EQ(fclose(f), 0);
    return path;
}

static void adder(int argc, char **argv)
{
    char slow[512], *names[2] = {(char *)daemons_name(3), slow};
    int status[2];
    snprintf(slow, sizeof slow, "%s dx=%s", daemons_name(4), argv[1]);
    CHECK_EQ(argc, 2);
    check_send_int(pvm_parent(), TAG_READY, 0);
    CHECK_EQ(pvm_addhosts(names, 2, status), 2);
    CHECK(status[0] > 0 && status[1] > 0);
    check_send_int(pvm_parent(), TAG_READY, status[1]);
}

/* The stopped host owes an answer about the second one when it is deleted. */
static void check_adding(void)
{
    const char *slow = slow_daemon();
    char *name = (char *)daemons_name(3);
    int tid, host, status, n;
    CHECK_EQ(pvm_notify(PvmHostAdd, TAG_HOST, -1, NULL), 0);
    check_spawn("adder", slow, check_host_name(0), 1, &tid);
    check_receive_int(tid, TAG_READY);
    CHECK(check_receive(-1, TAG_HOST) > 0);
    pid_t stopped = daemons_pid(3);
    CHECK_EQ(kill(stopped, SIGSTOP), 0);
    check_sleep_ms(4000);
    double start = check_now();
    CHECK_EQ(pvm_delhosts(&name, 1, &status), 1);
    CHECK_EQ(status, PvmOk);
    printf("deleted after %.3f s\n", check_now() - start);
    CHECK(check_now() - start < daemons_patience(4));
    host = check_receive_int(tid, TAG_READY);
    check_wait_exit(1, &tid);
    CHECK_EQ(pvm_mstat((char *)daemons_name(4)), PvmOk);
    CHECK_EQ(host, daemons_host(4));
    CHECK_EQ(pvm_config(&n, NULL, NULL), 0);
    CHECK_EQ(n, 4);
    CHECK_EQ(kill(stopped, SIGCONT), 0);
    CHECK(daemons_wait_end(stopped));
    CHECK_EQ(remove(slow), 0);
}

static void master(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pvm_setopt(PvmAutoErr, 0);
    check_hosts(3);
    if (strcmp(what, "killed") == 0)
        check_killed();
    else if (strcmp(what, "stopped") == 0)
        check_stopped();
    else if (strcmp(what, "busy") == 0)
        check_busy();
    else if (strcmp(what, "deleting") == 0)
        check_deleting();
    else if (strcmp(what, "adding") == 0)
        check_adding();
    else
        CHECK(!"usage: hostfail killed | stopped | busy | deleting | adding");
    check_machine_whole();
}

static const struct check_role roles[] = {
    {"lonely", lonely}, {"echo", echo}, {"burner", burner}, {"adder", adder}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
