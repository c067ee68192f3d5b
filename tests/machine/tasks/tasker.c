/* tasker - a task that starts processes instead of the daemon, correctly and wrongly. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include "tests/machine/runner/check.h"
#include "pvmproto.h"

enum { TAG_READY = 1, TAG_MODE, TAG_SEEN, TAG_EXIT, TAG_REPORT };

/* What the tasker does with the next task. */
enum mode { GOOD, FAIL, TWICE, FOREIGN, SHORT, SILENT, DIE, GIVE_UP };

/* ---- the tasker ---- */

static int daemon_tid, tasker_tid;

static void say_exit(int tid, int status)
{
    int values[6] = {tid, status, 0, 0, 0, 0};
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(values, 6, 1), 0);
    CHECK_EQ(pvm_send(daemon_tid, SM_TASKX), 0);
}

struct order {
    int tid, flags, argc, variables, numbers[3];
    char path[4096], *argv[32], *environment[256];
};

static char *unpack_text(void)
{
    char text[8192];
    CHECK_EQ(pvm_upkstr(text), 0);
    return strdup(text);
}

/* Each field must be there, and nothing behind them. */
static void read_order(struct order *o)
{
    char more;
    CHECK_EQ(pvm_upkint(&o->tid, 1, 1), 0);
    CHECK_EQ(pvm_upkint(&o->flags, 1, 1), 0);
    CHECK_EQ(pvm_upkstr(o->path), 0);
    CHECK_EQ(pvm_upkint(&o->argc, 1, 1), 0);
    for (int i = 0; i < o->argc; i++)
        o->argv[i] = unpack_text();
    o->argv[o->argc] = NULL;
    CHECK_EQ(pvm_upkint(&o->variables, 1, 1), 0);
    CHECK(o->variables < 255);
    for (int i = 0; i < o->variables; i++)
        o->environment[i] = unpack_text();
    CHECK_EQ(pvm_upkint(o->numbers, 3, 1), 0);
    pvm_setopt(PvmAutoErr, 0);
    CHECK_EQ(pvm_upkbyte(&more, 1, 1), PvmNoData);
    pvm_setopt(PvmAutoErr, 1);
}

static void free_order(struct order *o)
{
    while (o->argc)
        free(o->argv[--o->argc]);
    while (o->variables)
        free(o->environment[--o->variables]);
}

static int run(const struct order *o)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < o->variables; i++)
            putenv(o->environment[i]);
        execv(o->path, o->argv);
        _exit(127);
    }
    CHECK(pid > 0);
    while (waitpid(pid, &status, 0) < 0)
        CHECK_EQ(errno, EINTR);
    return status;
}

static void do_task(enum mode mode, int master)
{
    struct order o = {0};
    struct pvmminfo header;
    pvm_getminfo(check_receive(-1, SM_STTASK), &header);
    daemon_tid = header.src;
    CHECK_EQ(header.ctx, PvmBaseContext);
    read_order(&o);
    check_send_int(master, TAG_SEEN, o.tid);
    switch (mode) {
    case GOOD:
    case TWICE:
        CHECK_TEXT(o.argv[0], o.path);
        CHECK(o.numbers[0] >= 0 && o.numbers[0] < o.numbers[2] && o.numbers[1] <= o.numbers[2]);
        say_exit(o.tid, run(&o));
        if (mode == TWICE)
            say_exit(o.tid, 0);
        break;
    case FAIL:
        say_exit(o.tid, 127 << 8);
        break;
    case FOREIGN: /* tasks that are not its own: itself, its parent, a nonexistent one; then its own */
        say_exit(tasker_tid, 0);
        say_exit(master, 0);
        say_exit(0x3ffff, 0);
        say_exit(-1, 0);
        say_exit(o.tid, 0);
        break;
    case SHORT:
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        CHECK_EQ(pvm_send(daemon_tid, SM_TASKX), 0);
        CHECK_EQ(pvm_pkstr("what is this?"), 0);
        CHECK_EQ(pvm_send(daemon_tid, SM_STHOSTACK), 0);
        CHECK_EQ(pvm_send(daemon_tid, SM_EXEC), 0);
        CHECK_EQ(pvm_send(daemon_tid, SM_LAST + 7), 0);
        say_exit(o.tid, 0);
        break;
    case DIE:
        raise(SIGKILL);
        break;
    case SILENT:
    case GIVE_UP:
        break;
    }
    free_order(&o);
}

static void tasker(int argc, char **argv)
{
    (void)argc, (void)argv;
    int master = pvm_parent(), mode;
    tasker_tid = pvm_mytid();
    pvm_setopt(PvmResvTids, 1);
    CHECK_EQ(pvm_reg_tasker(), 0);
    check_send_int(master, TAG_READY, 0);
    while ((mode = check_receive_int(master, TAG_MODE)) >= 0) {
        if (mode == GIVE_UP)
            CHECK_EQ(pvm_reg_tasker(), 0);
        else
            do_task(mode, master);
        check_send_int(master, TAG_READY, 0);
    }
}

/* ---- what is started ---- */

static void child(int argc, char **argv)
{
    int *tids;
    CHECK_EQ(argc, 2);
    CHECK_TEXT(argv[1], "two words");
    CHECK_EQ(pvm_siblings(&tids), 1);
    CHECK_EQ(tids[0], pvm_mytid());
    CHECK_TEXT(getenv("CHECK_EXPORTED") ? getenv("CHECK_EXPORTED") : "none", "a value");
    check_send_int(pvm_parent(), TAG_REPORT, pvm_mytid());
}

/* ---- the master ---- */

static int start_tasker(void)
{
    int tid;
    check_spawn("tasker", NULL, NULL, 1, &tid);
    check_receive_int(tid, TAG_READY);
    return tid;
}

/* Starts a task that the tasker handles in the given way, and requests a notice of its end. */
static int start_child(int tasker, enum mode mode)
{
    char *argv[] = {"child", "two words", NULL};
    int tid;
    check_send_int(tasker, TAG_MODE, mode);
    CHECK_EQ(pvm_spawn((char *)check_program(), argv, PvmTaskDefault, NULL, 1, &tid), 1);
    CHECK_EQ(check_receive_int(tasker, TAG_SEEN), tid);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
    return tid;
}

static void expect_exit(int tid)
{
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tid);
    CHECK_EQ(pvm_pstat(tid), PvmNoTask);
}

static int flags_of(int tid)
{
    struct pvmtaskinfo *tasks;
    int n;
    CHECK_EQ(pvm_tasks(tid, &n, &tasks), 0);
    CHECK_EQ(n, 1);
    return tasks[0].ti_flag;
}

static void check_good(int tasker, enum mode mode)
{
    int tid = start_child(tasker, mode);
    CHECK_EQ(check_receive_int(tid, TAG_REPORT), tid);
    expect_exit(tid);
    check_receive_int(tasker, TAG_READY);
}

static void check_bad(int tasker, enum mode mode)
{
    int tid = start_child(tasker, mode);
    expect_exit(tid);
    check_receive_int(tasker, TAG_READY);
    CHECK_EQ(pvm_pstat(tasker), PvmOk);
}

/* A task whose end is never reported: it is listed, and can be killed. */
static void check_silent(int tasker)
{
    int tid = start_child(tasker, SILENT);
    check_receive_int(tasker, TAG_READY);
    CHECK_EQ(pvm_pstat(tid), PvmOk);
    CHECK_EQ(flags_of(tid), 0);
    CHECK_EQ(pvm_kill(tid), 0);
    expect_exit(tid);
}

static void check_death(void)
{
    int tasker = start_tasker();
    int first = start_child(tasker, SILENT), second, got;
    check_receive_int(tasker, TAG_READY);
    second = start_child(tasker, DIE);
    got = check_receive_int(-1, TAG_EXIT);
    CHECK(got == first || got == second);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), got == first ? second : first);
    check_wait_exit(1, &tasker);
}

/* Tasks it has started stay its own; the daemon starts the next ones. */
static void check_giving_up(void)
{
    char *argv[] = {"child", "two words", NULL};
    int tasker = start_tasker(), theirs = start_child(tasker, SILENT), ours;
    check_receive_int(tasker, TAG_READY);
    check_send_int(tasker, TAG_MODE, GIVE_UP);
    check_receive_int(tasker, TAG_READY);
    CHECK_EQ(pvm_spawn((char *)check_program(), argv, PvmTaskDefault, NULL, 1, &ours), 1);
    CHECK_EQ(check_receive_int(ours, TAG_REPORT), ours);
    CHECK_EQ(pvm_pstat(theirs), PvmOk);
    check_send_int(tasker, TAG_MODE, -1);
    expect_exit(theirs);
    check_wait_exit(1, &tasker);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK_EQ(setenv("CHECK_EXPORTED", "a value", 1), 0);
    CHECK_EQ(pvm_export("CHECK_EXPORTED"), 0);
    int tasker = start_tasker();
    CHECK_EQ(flags_of(tasker) & 0x400, 0x400);
    pvm_setopt(PvmAutoErr, 0);
    CHECK_EQ(pvm_reg_tasker(), PvmAlready);
    pvm_setopt(PvmAutoErr, 1);
    check_good(tasker, GOOD);
    check_good(tasker, TWICE);
    check_bad(tasker, FAIL);
    check_bad(tasker, FOREIGN);
    check_bad(tasker, SHORT);
    check_silent(tasker);
    check_send_int(tasker, TAG_MODE, -1);
    check_wait_exit(1, &tasker);
    check_death();
    check_giving_up();
    CHECK_EQ(pvm_reg_tasker(), 0); /* no task has the duty any more */
    CHECK_EQ(pvm_reg_tasker(), 0);
}

static const struct check_role roles[] = {{"tasker", tasker}, {"child", child}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
