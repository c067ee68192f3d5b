/*
 * leave - hosts leave the machine by SIGTERM to their daemon and by `pvmd3 --leave`, with tasks and without.
 *
 *   leave empty PVMD3     without tasks: the others know at once
 *   leave drained PVMD3   tasks end by themselves: no new ones come, and nothing of the old ones is lost
 *   leave late PVMD3      ... while another daemon does not know yet that the host leaves
 *   leave overdue PVMD3   a task does not end in time, but on SIGTERM: PVM_LEAVE_TIMEOUT=1, PVM_END_TIMEOUT=20
 *   leave killed PVMD3    ... nor on SIGTERM: PVM_LEAVE_TIMEOUT=0.3, PVM_END_TIMEOUT=0.3
 *   leave twice PVMD3     a second SIGTERM
 *   leave orphaned PVMD3  the master is killed meanwhile
 *   leave heir PVMD3      ... and this host becomes the master: PVM_FAILOVER=half
 *   leave joined PVMD3 PVM  the host has joined by itself, and pvmd3 --join is sent SIGTERM
 *   leave asked PVMD3     what --leave says
 */
#include <signal.h>
#include <sys/wait.h>
#include "dpvm.h"
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/daemons.h"

enum {
    WORKERS = 3,
    LINES = 200,
    NUMBERS = 500000,
    NEW_TASKS = 10,
    PAUSE_MS = 100,
    TAG_READY = 1,
    TAG_GO,
    TAG_RESULT,
    TAG_EXIT,
    TAG_HOST
};

static const char *pvmd3, *pvm;

/* ---- tasks ---- */

/* Works until it is told, or its parent's host is lost. All that it has to say comes just before its end. */
static void worker(int argc, char **argv)
{
    static int numbers[NUMBERS];
    int host = pvm_tidtohost(pvm_parent());
    (void)argc, (void)argv;
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_GO, 1, &host), 0);
    check_send_int(pvm_parent(), TAG_READY, 0);
    check_receive(-1, TAG_GO);
    check_sleep_ms(PAUSE_MS);
    for (int i = 0; i < LINES; i++)
        printf("line %d of t%x\n", i, (unsigned)pvm_mytid());
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i;
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(numbers, NUMBERS, 1), 0);
    CHECK_EQ(pvm_send(pvm_parent(), TAG_RESULT), 0);
}

static void idle(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_READY, 0);
    for (;;)
        pause();
}

static void deaf(int argc, char **argv)
{
    signal(SIGTERM, SIG_IGN);
    idle(argc, argv);
}

static volatile sig_atomic_t told;

static void note(int signal)
{
    told = signal;
}

/* Ends on SIGTERM, and sends something before. */
static void obedient(int argc, char **argv)
{
    (void)argc, (void)argv;
    signal(SIGTERM, note);
    check_send_int(pvm_parent(), TAG_READY, 0);
    while (!told)
        check_sleep_ms(5);
    check_send_int(pvm_parent(), TAG_RESULT, told);
}

/* ---- the machine ---- */

static struct {
    int host;
    pid_t daemon;
} hosts[4];

/* We are a task of host `seat`. */
static void start_machine(int count, int seat)
{
    check_hosts(count);
    if (seat)
        daemons_enrol_at(seat);
    pvm_setopt(PvmAutoErr, 0);
    for (int i = 0; i < count; i++) {
        hosts[i].host = daemons_host(i);
        hosts[i].daemon = daemons_pid(i);
        CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST, 1, &hosts[i].host), 0);
    }
}

static void spawn_ready(const char *role, int host, int n, int *tids)
{
    check_spawn(role, NULL, daemons_name(host), n, tids);
    for (int i = 0; i < n; i++)
        check_receive_int(tids[i], TAG_READY);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, n, tids), 0);
}

static void wait_for_log(int index, const char *text)
{
    double end = check_now() + check_limit_s();
    while (!daemons_log_has(index, text) && check_now() < end)
        check_sleep_ms(5);
    CHECK(daemons_log_has(index, text));
}

static void begin_to_leave(int index)
{
    CHECK_EQ(kill(hosts[index].daemon, SIGTERM), 0);
    wait_for_log(index, "leaving the machine: Terminated");
}

/* The next host of which we hear that it is out; its daemon has ended soon, and in good order. */
static void check_left(int index, double since, double limit_s)
{
    CHECK_EQ(check_receive_int(-1, TAG_HOST), hosts[index].host);
    double took = check_now() - since;
    CHECK(took < daemons_patience(limit_s));
    CHECK(daemons_wait_end(hosts[index].daemon));
    printf("HostDelete for host %d after %.3f s\n", index, took);
}

static void let_finish(int n, const int *tids)
{
    for (int i = 0; i < n; i++)
        check_send_int(tids[i], TAG_GO, 0);
}

static void check_results(int n, const int *tids)
{
    static int numbers[NUMBERS];
    for (int i = 0; i < n; i++) {
        check_receive(tids[i], TAG_RESULT);
        CHECK_EQ(pvm_upkint(numbers, NUMBERS, 1), 0);
        for (int k = 0; k < NUMBERS; k++)
            CHECK_EQ(numbers[k], k);
    }
}

static void kill_all(int n, const int *tids)
{
    for (int i = 0; i < n; i++)
        CHECK_EQ(pvm_kill(tids[i]), 0);
}

/* ---- pvmd3 --leave ---- */

/* Asks the daemon of this host; -1: there is none. Its exit code; all that it prints is then in text. */
static int leave(int index, const char *arguments, char *text, size_t size)
{
    char command[8192], socket[256] = "PVMSOCK= PVM_TMP=\"$HOME\"";
    if (index >= 0)
        snprintf(socket, sizeof socket, "PVMSOCK=\"$(cat \"$PVM_TMP\"/pvmd.%u%s%s)\"", (unsigned)getuid(),
                 index ? "." : "", index ? daemons_name(index) : "");
    snprintf(command, sizeof command, "%s '%s' %s 2>&1", socket, pvmd3, arguments);
    FILE *f = popen(command, "r");
    CHECK(f != NULL);
    text[fread(text, 1, size - 1, f)] = '\0';
    int status = pclose(f);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check_refused(int index, const char *arguments, int code, const char *why)
{
    char text[4096];
    int got = leave(index, arguments, text, sizeof text);
    if (got != code || !strstr(text, why))
        check_failed(__FILE__, __LINE__, "%s: exit code %d, and \"%s\"", arguments, got, text);
}

/* ---- cases ---- */

/* Nobody waits for the group server on host 1. */
static void check_empty(void)
{
    char text[4096];
    int tid;
    start_machine(4, 3);
    CHECK_EQ(pvm_spawn((char *)"pvmgs", NULL, PvmTaskHost, (char *)daemons_name(1), 1, &tid), 1);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
    double start = check_now();
    CHECK_EQ(kill(hosts[1].daemon, SIGTERM), 0);
    check_left(1, start, 1);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tid);
    CHECK(daemons_log_has(1, "ending: this host is deleted from the machine"));
    start = check_now();
    CHECK_EQ(leave(2, "--leave", text, sizeof text), 0);
    CHECK_TEXT(text, "host 127.0.0.3 has left\n");
    check_left(2, start, 1);
    CHECK(!check_alive(hosts[2].daemon));
}

static int count_lines(FILE *file)
{
    char line[256];
    int n = 0;
    rewind(file);
    while (fgets(line, sizeof line, file))
        n += strstr(line, " of t") != NULL;
    return n;
}

static void check_new_tasks_elsewhere(void)
{
    char *argv[] = {(char *)"idle", NULL};
    int tids[NEW_TASKS], tid;
    check_spawn("idle", NULL, NULL, NEW_TASKS, tids);
    for (int i = 0; i < NEW_TASKS; i++)
        CHECK(pvm_tidtohost(tids[i]) != hosts[1].host);
    kill_all(NEW_TASKS, tids);
    CHECK_EQ(pvm_spawn((char *)check_program(), argv, PvmTaskHost, (char *)daemons_name(1), 1, &tid), 0);
    CHECK_EQ(tid, PvmNoHost);
    CHECK_TEXT(pvm_spawnerr(), "host 127.0.0.2 is leaving the machine");
}

/* Our own daemon reads nothing while the tasks end, so the host has much to deliver before it goes. */
static void let_finish_unheard(int n, const int *tids)
{
    let_finish(n, tids);
    check_sleep_ms(PAUSE_MS / 2);
    CHECK_EQ(kill(hosts[2].daemon, SIGSTOP), 0);
    check_sleep_ms(4 * PAUSE_MS);
    CHECK(check_alive(hosts[1].daemon));
    CHECK_EQ(kill(hosts[2].daemon, SIGCONT), 0);
}

static void check_drained(void)
{
    int tids[WORKERS];
    FILE *output = tmpfile();
    CHECK(output != NULL);
    start_machine(3, 2);
    CHECK_EQ(pvm_catchout(output), 0);
    spawn_ready("worker", 1, WORKERS, tids);
    begin_to_leave(1);
    wait_for_log(0, "host 127.0.0.2 is about to leave");
    check_new_tasks_elsewhere();
    CHECK_EQ(pvm_nrecv(-1, TAG_HOST), 0);
    double start = check_now();
    let_finish_unheard(WORKERS, tids);
    check_left(1, start, 2);
    for (int i = 0; i < WORKERS; i++)
        CHECK(pvm_nrecv(-1, TAG_EXIT) > 0);
    check_results(WORKERS, tids);
    CHECK_EQ(pvm_catchout(NULL), 0);
    CHECK_EQ(count_lines(output), WORKERS * LINES);
    fclose(output);
}

/* The master is stopped, so that it can tell nobody. */
static void check_late(void)
{
    char *argv[] = {(char *)"idle", NULL}, *name = (char *)check_host_name(0);
    int tid, tids[4];
    start_machine(3, 2);
    spawn_ready("worker", 1, 1, &tid);
    CHECK_EQ(kill(hosts[0].daemon, SIGSTOP), 0);
    begin_to_leave(1);
    CHECK_EQ(pvm_spawn((char *)check_program(), argv, PvmTaskHost, (char *)daemons_name(1), 1, tids), 0);
    CHECK_EQ(tids[0], PvmNoHost);
    CHECK_TEXT(pvm_spawnerr(), "127.0.0.2: it is leaving the machine");
    CHECK_EQ(pvm_spawn((char *)check_program(), argv, PvmTaskHost | PvmHostCompl, name, 4, tids), 4);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pvm_tidtohost(tids[i]), hosts[2].host);
    double start = check_now();
    CHECK_EQ(kill(hosts[0].daemon, SIGCONT), 0);
    kill_all(4, tids);
    let_finish(1, &tid);
    check_results(1, &tid);
    check_left(1, start, 1);
}

static void check_overdue(void)
{
    int tid;
    start_machine(2, 0);
    spawn_ready("obedient", 1, 1, &tid);
    double start = check_now();
    begin_to_leave(1);
    CHECK_EQ(check_receive_int(tid, TAG_RESULT), SIGTERM);
    CHECK(check_now() - start > 0.9);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tid);
    check_left(1, start, 3);
}

static void check_killed(void)
{
    int tid;
    start_machine(2, 0);
    spawn_ready("deaf", 1, 1, &tid);
    double start = check_now();
    begin_to_leave(1);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tid);
    check_left(1, start, 2);
    CHECK(daemons_log_has(1, "1 tasks have ignored SIGTERM"));
}

static void check_twice(void)
{
    int tid;
    start_machine(3, 0);
    spawn_ready("idle", 1, 1, &tid);
    begin_to_leave(1);
    CHECK_EQ(kill(hosts[1].daemon, SIGTERM), 0); /* all processes of a service get it, and pass it on */
    check_sleep_ms(1100);
    CHECK(check_alive(hosts[1].daemon));
    double start = check_now();
    CHECK_EQ(kill(hosts[1].daemon, SIGTERM), 0);
    check_left(1, start, 1);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tid);
}

/* The host that leaves is the next one in order; it is elected only if the others are slow. */
static void check_orphaned(void)
{
    int tid;
    start_machine(4, 3);
    spawn_ready("worker", 1, 1, &tid);
    begin_to_leave(1);
    wait_for_log(0, "host 127.0.0.2 is about to leave");
    CHECK_EQ(kill(hosts[0].daemon, SIGKILL), 0);
    CHECK_EQ(check_receive_int(-1, TAG_HOST), hosts[0].host);
    double start = check_now();
    let_finish(1, &tid);
    check_results(1, &tid);
    check_left(1, start, 2);
    printf("the host that left %s the master\n", daemons_log_has(1, "is the master now") ? "was" : "was not");
    check_spawn("idle", NULL, daemons_name(2), 1, &tid);
    check_receive_int(tid, TAG_READY);
    CHECK_EQ(pvm_kill(tid), 0);
    daemons_halt();
    CHECK(daemons_wait_end(hosts[2].daemon));
    CHECK(daemons_remove_journal(0));
}

static void check_heir(void)
{
    int tid;
    start_machine(2, 0);
    spawn_ready("worker", 1, 1, &tid);
    begin_to_leave(1);
    signal(SIGTERM, SIG_IGN);
    CHECK_EQ(kill(hosts[0].daemon, SIGKILL), 0);
    CHECK(daemons_wait_end(hosts[1].daemon));
    CHECK(daemons_log_has(1, "leaving, although this host is the master now"));
    CHECK(daemons_log_has(1, "ending: this host leaves the machine, whose master it had become"));
    daemons_remove_journal(0);
}

/* `pvmd3 --join` as host 1. */
static pid_t join(const char *token)
{
    char command[8192];
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid)
        return pid;
    snprintf(command, sizeof command,
             "port=$('%s' token -o '%s' | sed 's/^[^:]*:\\([0-9]*\\).*/\\1/') && unset PVMSOCK PVMEPID && "
             "exec '%s' --join \"127.0.0.1:$port\" --token-file '%s' -n %s",
             pvm, token, pvmd3, token, daemons_name(1));
    execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(127);
}

static void check_joined(void)
{
    int tid, status;
    char token[4096];
    snprintf(token, sizeof token, "%s/token", getenv("HOME"));
    start_machine(1, 0);
    CHECK_EQ(pvm_notify(PvmHostAdd, TAG_READY, 1, NULL), 0);
    pid_t joiner = join(token);
    check_receive(-1, TAG_READY);
    hosts[1].host = daemons_host(1);
    hosts[1].daemon = daemons_pid(1);
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST, 1, &hosts[1].host), 0);
    spawn_ready("worker", 1, 1, &tid);
    CHECK_EQ(kill(joiner, SIGTERM), 0);
    begin_to_leave(1); /* it gets a second one, as all processes of a service do */
    let_finish(1, &tid);
    double start = check_now();
    check_results(1, &tid);
    check_left(1, start, 1);
    CHECK_EQ(waitpid(joiner, &status, 0), joiner);
    CHECK_EQ(status, 0);
    CHECK_EQ(remove(token), 0);
}

/* Two ask while the host leaves already. */
static void check_asked(void)
{
    char text[4096];
    int tid;
    start_machine(3, 0);
    check_refused(0, "--leave", 1, "it is the master");
    check_refused(-1, "--leave", 1, "no daemon runs here");
    check_refused(1, "--leave --grace abc", 64,
                  "--grace takes a time in seconds such as 15, 0.5 or 200ms, not \"abc\"");
    check_refused(1, "--leave --grace=-3", 64, "--grace takes");
    check_refused(1, "--leave --grace=", 64, "--grace takes");
    check_refused(1, "--grace 3", 64, "--grace belongs to --leave");
    check_refused(1, "--leave hostfile", 64, "takes only --grace");
    spawn_ready("idle", 1, 1, &tid);
    begin_to_leave(1);
    double start = check_now();
    pid_t other = fork();
    CHECK(other >= 0);
    if (!other)
        _exit(leave(1, "--leave", text, sizeof text) != 0 || !strstr(text, "host 127.0.0.2 has left\n"));
    CHECK_EQ(leave(1, "--leave --grace 500ms", text, sizeof text), 0);
    CHECK_TEXT(text,
               "waiting for 1 task, 1 s left\n1 task did not end in time: sent SIGTERM\nhost 127.0.0.2 has left\n");
    int status;
    CHECK_EQ(waitpid(other, &status, 0), other);
    CHECK_EQ(status, 0);
    check_left(1, start, 3);
}

static void master(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"empty", check_empty},       {"drained", check_drained}, {"late", check_late},
                 {"overdue", check_overdue},   {"killed", check_killed},   {"twice", check_twice},
                 {"orphaned", check_orphaned}, {"heir", check_heir},       {"asked", check_asked},
                 {"joined", check_joined}};
    CHECK(argc > 2);
    pvmd3 = argv[2];
    pvm = argc > 3 ? argv[3] : NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return;
        }
    CHECK(!"usage: see the head of leave.c");
}

static const struct check_role roles[] = {
    {"worker", worker}, {"idle", idle}, {"deaf", deaf}, {"obedient", obedient}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
