/*
 * streams - tasks spawned with the flags of dpvm.h: standard error apart, the status at the end, standard input, and
 * why a spawn fails: streams CASE HOSTS.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include "dpvm.h"
#include "tests/machine/runner/check.h"

enum { TAG_OUTPUT = 700, TEXT_MAX = 1 << 21, INPUT_BYTES = 1 << 20 };

/* What a task has printed, and how it has ended. */
static struct {
    char out[TEXT_MAX + 1], err[TEXT_MAX + 1];
    size_t out_length, err_length;
    int status;
    bool has_status, ended;
    int others_ended;
} got;

static const char *host; /* where the tasks run */

static void start_collecting(void)
{
    memset(&got, 0, sizeof got);
    pvm_setopt(PvmOutputTid, pvm_mytid());
    pvm_setopt(PvmOutputContext, pvm_getcontext());
    pvm_setopt(PvmOutputCode, TAG_OUTPUT);
}

static void take_text(char *text, size_t *length, int n)
{
    CHECK(n > 0 && *length + (size_t)n <= TEXT_MAX);
    CHECK_EQ(pvm_upkbyte(text + *length, n, 1), 0);
    *length += (size_t)n;
}

static void take_message(int tid)
{
    int head[2], value = 0;
    check_receive(-1, TAG_OUTPUT);
    CHECK_EQ(pvm_upkint(head, 2, 1), 0);
    bool is_other = head[0] != tid; /* spawned by it */
    CHECK(!got.ended || is_other);  /* the end comes last */
    if (head[1] < 0)
        CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    if (head[1] > 0) {
        take_text(got.out, &got.out_length, head[1]);
    } else if (head[1] == PvmOutputError) {
        take_text(got.err, &got.err_length, value);
    } else if (head[1] == PvmOutputStatus) {
        CHECK(!got.has_status && !is_other);
        got.has_status = true;
        got.status = value;
    } else if (head[1] == 0) {
        got.ended |= !is_other;
        got.others_ended += is_other;
    }
}

static int spawn_shell(const char *script, int flags)
{
    char *argv[] = {"-c", (char *)script, NULL};
    int tid;
    start_collecting();
    CHECK_EQ(pvm_spawn("/bin/sh", argv, PvmTaskHost | PvmTaskStreams | flags, (char *)host, 1, &tid), 1);
    CHECK_TEXT(pvm_spawnerr(), "");
    return tid;
}

static void run_shell(const char *script)
{
    int tid = spawn_shell(script, 0);
    while (!got.ended)
        take_message(tid);
    CHECK(got.has_status);
}

static void run_apart(void)
{
    run_shell("echo out; echo err >&2; printf rest; exit 3");
    CHECK_TEXT(got.out, "out\nrest");
    CHECK_TEXT(got.err, "err\n");
    CHECK(WIFEXITED(got.status));
    CHECK_EQ(WEXITSTATUS(got.status), 3);
    run_shell("kill -KILL $$");
    CHECK(WIFSIGNALED(got.status));
    CHECK_EQ(WTERMSIG(got.status), SIGKILL);
    run_shell("cat"); /* nobody gives it input: there is none */
    CHECK_EQ(got.status, 0);
    run_shell("exec >&- 2>&-; sleep 0.3; exit 5"); /* it ends long after its output */
    CHECK_EQ(WEXITSTATUS(got.status), 5);
    run_shell("seq 1 100000"); /* all of it, also the last bytes */
    CHECK_EQ(got.out_length, 588895);
    CHECK_TEXT(got.out + got.out_length - 7, "100000\n");
}

/* A role: its child prints, and nobody waits for it. */
static void print_by_child(int argc, char **argv)
{
    char *arguments[] = {"-c", "echo out; echo err >&2", NULL};
    int tid;
    (void)argc, (void)argv;
    CHECK_EQ(pvm_spawn("/bin/sh", arguments, PvmTaskDefault, "", 1, &tid), 1);
}

/* The tasks that a task spawns have their standard error apart, too, but nobody is told how they end. */
static void run_children(void)
{
    char *argv[] = {"child", NULL};
    int tid;
    start_collecting();
    CHECK_EQ(pvm_spawn((char *)check_program(), argv, PvmTaskHost | PvmTaskStreams, (char *)host, 1, &tid), 1);
    while (!got.ended || !got.others_ended)
        take_message(tid);
    CHECK_TEXT(got.out, "out\n");
    CHECK_TEXT(got.err, "err\n");
    CHECK_EQ(got.status, 0);
}

/* Without the flag, all goes where it went in PVM 3.4, and nothing else comes. */
static void run_together(void)
{
    char *argv[] = {"-c", "echo out; echo err >&2; exit 3", NULL};
    int tid;
    start_collecting();
    CHECK_EQ(pvm_spawn("/bin/sh", argv, PvmTaskHost, (char *)host, 1, &tid), 1);
    while (!got.ended)
        take_message(tid);
    CHECK_TEXT(got.out, "out\nerr\n");
    CHECK_EQ(got.err_length, 0);
    CHECK(!got.has_status);
}

/* Sends all of it, as fast as the task reads. */
static int send_input(int tid, const char *data, int n)
{
    int code;
    while ((code = pvm_input(tid, data, n)) == PvmOutOfRes)
        check_sleep_ms(1);
    return code;
}

static void run_input(void)
{
    static char data[INPUT_BYTES];
    check_fill(data, sizeof data, 1);
    pvm_setopt(PvmAutoErr, 0);
    int tid = spawn_shell("cat", PvmTaskInput);
    for (int at = 0; at < INPUT_BYTES; at += PVM_INPUT_MAX)
        CHECK_EQ(send_input(tid, data + at, PVM_INPUT_MAX), 0);
    CHECK_EQ(pvm_input(tid, NULL, 0), 0);
    while (!got.ended)
        take_message(tid);
    CHECK_EQ(got.out_length, INPUT_BYTES);
    CHECK(check_same(got.out, INPUT_BYTES, 1));
    CHECK_EQ(pvm_input(tid, data, 1), PvmNoTask);
    CHECK_EQ(pvm_input(tid, data, PVM_INPUT_MAX + 1), PvmBadParam);
    CHECK_EQ(pvm_input(tid, data, -1), PvmBadParam);
    CHECK_EQ(pvm_input(0, data, 1), PvmBadParam);

    tid = spawn_shell("exec <&-; sleep 1", PvmTaskInput); /* it closes its input */
    check_sleep_ms(200);
    CHECK_EQ(send_input(tid, data, PVM_INPUT_MAX), PvmNoTask);
    while (!got.ended)
        take_message(tid);

    tid = spawn_shell("sleep 60", PvmTaskInput);      /* it does not read: nobody waits for that */
    CHECK_EQ(pvm_input(tid, data, PVM_INPUT_MAX), 0); /* fills its pipe */
    CHECK_EQ(pvm_input(tid, data, PVM_INPUT_MAX), 0); /* is kept */
    CHECK_EQ(pvm_input(tid, data, PVM_INPUT_MAX), PvmOutOfRes);
    CHECK_EQ(pvm_input(tid, NULL, 0), 0);
    CHECK_EQ(pvm_input(tid, data, 1), PvmNoTask); /* after the end */
    CHECK_EQ(pvm_sendsig(tid, SIGTERM), 0);       /* the shell and its child, which has the output open, too */
    while (!got.ended)
        take_message(tid);
    CHECK(WIFSIGNALED(got.status));
}

static void fails(const char *file, int flags, const char *where, int expected, const char *why)
{
    char place[1024];
    int tid;
    snprintf(place, sizeof place, "%s%s%s", host, where ? ":" : "", where ? where : "");
    CHECK_EQ(pvm_spawn((char *)file, NULL, PvmTaskHost | flags, place, 1, &tid), 0);
    CHECK_EQ(tid, expected);
    if (!strstr(pvm_spawnerr(), why))
        check_failed(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", pvm_spawnerr(), why);
}

static void run_why(void)
{
    fails("/nonexistent/program", 0, NULL, PvmNoFile, "no program /nonexistent/program: No such file or directory");
    fails("/etc/passwd", 0, NULL, PvmNoFile, "no permission to execute it");
    fails("/etc", 0, NULL, PvmNoFile, "it is a folder");
    fails("nosuchprogram", 0, NULL, PvmNoFile, "no program nosuchprogram in ");
    fails("/bin/true", PvmTaskDirectory, "/nonexistent", PvmNoFile, "cannot enter working directory /nonexistent");
    if (!strstr(pvm_spawnerr(), host[0] == '.' ? ": " : host))
        check_failed(__FILE__, __LINE__, "\"%s\" does not name the host", pvm_spawnerr());
    int tid;
    char place[1024];
    CHECK_EQ(pvm_spawn("/bin/true", NULL, PvmTaskHost, "nosuchhost", 1, &tid), 0);
    CHECK_TEXT(pvm_spawnerr(), "no host is left that suits \"nosuchhost\"");
    snprintf(place, sizeof place, "%s:/nonexistent", host); /* as in PVM, another directory will do */
    CHECK_EQ(pvm_spawn("/bin/true", NULL, PvmTaskHost, place, 1, &tid), 1);
    CHECK_TEXT(pvm_spawnerr(), "");
}

static void master(int argc, char **argv)
{
    CHECK(argc > 1);
    int hosts = argc > 2 ? atoi(argv[argc - 1]) : 1;
    if (hosts > 1)
        check_hosts(hosts);
    host = hosts > 1 ? check_host_name(1) : ".";
    if (!strcmp(argv[1], "apart"))
        run_apart();
    else if (!strcmp(argv[1], "together"))
        run_together();
    else if (!strcmp(argv[1], "children"))
        run_children();
    else if (!strcmp(argv[1], "input"))
        run_input();
    else
        run_why();
}

static const struct check_role roles[] = {{"child", print_by_child}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
