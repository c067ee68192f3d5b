/*
 * comeback - the master's daemon is killed and started again: it takes its machine back from the journal, and the tasks
 * of the other hosts go on. PVM_HOST_TIMEOUT=5.
 *
 *   comeback at-once | soon     of 2 hosts: before the other one has noticed, and after
 *   comeback adding             of 3 hosts: while it adds a fourth one, which others know already
 *   comeback twice              of 2 hosts: again, when it has come back
 *   comeback late               of 3 hosts, which have elected another master meanwhile: a new machine begins
 *   comeback half               of 2 hosts with PVM_FAILOVER=half: the other one becomes the master
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/daemons.h"
#include "tests/machine/runner/entry.h"

enum { TAG_READY = 1, TAG_HOST, TAG_EXIT, TAG_PING, TAG_VALUE, SOON_MS = 2000, HOST_TIMEOUT_S = 5 };

static char program[PATH_MAX]; /* of the daemon */

/* ---- roles ---- */

static void echo(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_READY, 0);
    for (int value; (value = check_receive_int(pvm_parent(), TAG_PING)) >= 0;)
        check_send_int(pvm_parent(), TAG_PING, value);
}

/* Waits for an entry that is put after the daemon has come back. */
static void waiter(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_READY, 0);
    check_send_int(pvm_parent(), TAG_VALUE, entry_get("awaited", 0, PvmMboxWaitForInfo));
}

/* Leaves an entry that names it as its source. */
static void heir(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK_EQ(entry_put("heirloom", 6, PvmMboxPersistent), 0);
}

static void adder(int argc, char **argv)
{
    char *name = "127.0.0.8";
    int info = 0;
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_READY, 0);
    pvm_addhosts(&name, 1, &info);
    check_send_int(pvm_parent(), TAG_VALUE, info);
}

static void lonely(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_READY, 0);
    pvm_recv(-1, TAG_PING);
}

/* ---- the daemon ---- */

static void kill_master(void)
{
    char link[64];
    pid_t pid = daemons_pid(0);
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(link, program, sizeof program - 1);
    CHECK(n > 0);
    program[n] = '\0';
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(daemons_wait_end(pid));
}

/* ---- the cases ---- */

static struct {
    int me, echo, waiter, lonely, heir;
} tids;

static void check_echo(void)
{
    check_send_int(tids.echo, TAG_PING, 17);
    CHECK_EQ(check_receive_int(tids.echo, TAG_PING), 17);
}

/* This program becomes a task of the second host, and watches the first. */
static void begin(int hosts)
{
    check_spawn("heir", NULL, NULL, 1, &tids.heir);
    check_wait_exit(1, &tids.heir);
    check_hosts(hosts);
    daemons_enrol_at(1);
    tids.me = pvm_mytid();
    check_spawn("echo", NULL, daemons_name(1), 1, &tids.echo);
    check_spawn("waiter", NULL, daemons_name(1), 1, &tids.waiter);
    int host = daemons_host(0);
    CHECK_EQ(pvm_spawn((char *)check_program(), (char *[]){"lonely", NULL}, PvmTaskHost, (char *)check_host_name(0), 1,
                       &tids.lonely),
             1);
    for (int i = 0; i < 3; i++)
        check_receive(-1, TAG_READY);
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST, 1, &host), 0);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tids.lonely), 0);
    CHECK_EQ(entry_put("kept", 7, PvmMboxPersistent), 0);
    CHECK_EQ(entry_put("taken", 8, PvmMboxDefault), 0);
}

static void check_heirloom(void)
{
    struct pvmmboxinfo *found;
    int bytes, tag, from, n;
    int mid = pvm_recvinfo("heirloom", 0, PvmMboxDefault);
    CHECK(mid > 0);
    CHECK_EQ(pvm_bufinfo(mid, &bytes, &tag, &from), 0);
    CHECK_EQ(from, tids.heir);
    CHECK_EQ(pvm_getmboxinfo("heirloom", &n, &found), 0);
    CHECK_EQ(n, 1);
    CHECK_EQ(found->mi_owners[0], 0);
}

/* The events of the first host came once, and all that the machine had is there. */
static void check_machine(int hosts)
{
    int n;
    check_heirloom();
    CHECK_EQ(entry_get("kept", 0, PvmMboxDefault), 7);
    CHECK_EQ(entry_get("taken", 0, PvmMboxReadAndDelete), 8);
    CHECK_EQ(entry_get("taken", 0, PvmMboxDefault), PvmNotFound);
    check_receive(-1, TAG_HOST);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tids.lonely);
    CHECK_EQ(pvm_nrecv(-1, TAG_HOST), 0);
    CHECK_EQ(pvm_nrecv(-1, TAG_EXIT), 0);
    CHECK_EQ(pvm_mytid(), tids.me);
    CHECK_EQ(pvm_config(&n, NULL, NULL), 0);
    CHECK_EQ(n, hosts);
    check_echo();
    CHECK_EQ(entry_put("awaited", 9, PvmMboxDefault), 0);
    CHECK_EQ(check_receive_int(tids.waiter, TAG_VALUE), 9);
    char *name = "127.0.0.9";
    int info;
    CHECK_EQ(pvm_addhosts(&name, 1, &info), 1);
    CHECK(info > 0);
    check_echo();
}

static void end(pid_t daemon)
{
    int status;
    daemons_halt();
    if (daemon)
        CHECK_EQ(waitpid(daemon, &status, 0), daemon);
}

static void check_comeback(int pause_ms)
{
    begin(2);
    int old = daemons_host(0);
    kill_master();
    check_sleep_ms(pause_ms);
    check_echo();
    double start = check_now();
    pid_t daemon = daemons_start_again(program);
    check_machine(2);
    CHECK(check_now() - start < HOST_TIMEOUT_S * check_slowness());
    CHECK(daemons_host(0) != old); /* no tid of a task that is gone is used again */
    end(daemon);
}

static void check_twice(void)
{
    int status;
    begin(2);
    kill_master();
    pid_t first = daemons_start_again(program);
    check_echo();
    CHECK(kill(first, SIGKILL) == 0);
    CHECK_EQ(waitpid(first, &status, 0), first);
    pid_t second = daemons_start_again(program);
    check_machine(2);
    end(second);
}

/* The third host is stopped, so the new one cannot become a member. */
static void check_adding(void)
{
    int adder_tid;
    begin(3);
    check_spawn("adder", NULL, daemons_name(1), 1, &adder_tid);
    pid_t third = daemons_pid(2);
    CHECK(kill(third, SIGSTOP) == 0);
    check_receive_int(adder_tid, TAG_READY);
    check_sleep_ms(1000);
    kill_master();
    pid_t daemon = daemons_start_again(program);
    CHECK(kill(third, SIGCONT) == 0);
    CHECK(check_receive_int(adder_tid, TAG_VALUE) > 0);
    CHECK(!daemons_log_has(7, "the master was lost while this host joined")); /* as if it knew nobody */
    check_machine(4);
    end(daemon);
}

/* The others have gone on, so the daemon that is started again begins a machine of its own. */
static void check_late(void)
{
    begin(3);
    kill_master();
    check_receive(-1, TAG_HOST);
    pid_t daemon = daemons_start_again(program);
    int n, status;
    CHECK_EQ(pvm_config(&n, NULL, NULL), 0);
    CHECK_EQ(n, 2);
    check_echo();
    pid_t next = daemons_pid(1);
    daemons_halt();
    CHECK(daemons_wait_end(next)); /* else pvm_exit() enrols there, and we end with it */
    daemons_enrol_at(0);
    CHECK_EQ(pvm_config(&n, NULL, NULL), 0);
    CHECK_EQ(n, 1);
    daemons_halt();
    CHECK_EQ(waitpid(daemon, &status, 0), daemon);
}

/* Its journal is what a killed master leaves. */
static void check_half(void)
{
    char journal[PATH_MAX];
    struct stat st;
    begin(2);
    snprintf(journal, sizeof journal, "%s/pvmj.%u", getenv("PVM_TMP"), (unsigned)getuid());
    CHECK_EQ(stat(journal, &st), 0);
    CHECK_EQ(st.st_mode & 07777, 0600);
    kill_master();
    check_machine(1);
    end(0);
    CHECK_EQ(unlink(journal), 0);
}

static void master(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "at-once"))
        check_comeback(0);
    else if (!strcmp(what, "soon"))
        check_comeback(SOON_MS);
    else if (!strcmp(what, "adding"))
        check_adding();
    else if (!strcmp(what, "twice"))
        check_twice();
    else if (!strcmp(what, "late"))
        check_late();
    else if (!strcmp(what, "half"))
        check_half();
    else
        CHECK(!"usage: comeback at-once | soon | adding | twice | late | half");
}

static const struct check_role roles[] = {{"echo", echo}, {"waiter", waiter}, {"lonely", lonely},
                                          {"heir", heir}, {"adder", adder},   {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
