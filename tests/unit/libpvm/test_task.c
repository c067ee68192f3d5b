/* test_task.c - libpvm against a fake daemon: enrolment, frames in and out, flow control, and a daemon that misbehaves.
 */
#include "tests/unit/unit.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "dpvm.h"
#include "fake_daemon.h"
#include "pvm3.h"

#define OTHER 0x40100 /* a task that only the fake daemon's tricks use */

extern int pvmbeatask(void), pvmendtask(void);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* ---- captured standard error ---- */

static FILE *caught;
static int real_stderr;

static void catch_stderr(void)
{
    caught = tmpfile();
    real_stderr = dup(2);
    fflush(stderr);
    dup2(fileno(caught), 2);
}

static const char *release_stderr(void)
{
    static char text[8192];
    fflush(stderr);
    dup2(real_stderr, 2);
    close(real_stderr);
    rewind(caught);
    size_t n = fread(text, 1, sizeof text - 1, caught);
    text[n] = '\0';
    fclose(caught);
    return text;
}

static void check_has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part), "\"%s\" does not say \"%s\"", text, part);
}

/* Runs a second task in a forked process; its exit code must be 0. */
static pid_t second_task(void (*run)(int first), int first)
{
    pid_t pid = fork();
    if (!pid) {
        run(first);
        pvm_exit();
        _exit(0);
    }
    return pid;
}

static void join(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

/* ---- enrolment ---- */

START_TEST(enrols_and_leaves)
{
    fake_daemon_start();
    pvm_setopt(PvmAutoErr, 0);
    ck_assert_int_eq(pvm_mytid(), 0x40001);
    ck_assert_int_eq(pvm_mytid(), 0x40001);
    ck_assert_int_eq(pvm_parent(), PvmNoParent);
    int *siblings;
    ck_assert_int_eq(pvm_siblings(&siblings), 1);
    ck_assert_int_eq(siblings[0], 0x40001);
    ck_assert_int_eq(pvm_exit(), 0);
    ck_assert_int_eq(pvm_mytid(), 0x40002);
    ck_assert_int_eq(pvm_exit(), 0);
    ck_assert_int_eq(pvmendtask(), 0);
    ck_assert_int_eq(pvmbeatask(), 0);
    ck_assert_int_eq(pvm_mytid(), 0x40003);
    ck_assert_int_eq(pvmendtask(), 0);
    fake_daemon_stop();
}
END_TEST

START_TEST(says_at_once_that_no_daemon_runs)
{
    setenv("PVM_TMP", "/tmp/no-such-folder", 1);
    double start = now();
    catch_stderr();
    int rc = pvm_mytid();
    const char *text = release_stderr();
    ck_assert_int_eq(rc, PvmSysErr);
    ck_assert(now() - start < 0.5);
    check_has(text, "/tmp/no-such-folder/pvmd.");
    check_has(text, "pvmd3");
    check_has(text, ": pvm_mytid(): Can't contact local daemon\n");
    ck_assert(!strncmp(text, "libpvm [pid", 11));
}
END_TEST

/* As the first call of a program. */
START_TEST(does_not_start_a_second_daemon)
{
    fake_daemon_start();
    pvm_setopt(PvmAutoErr, 0);
    ck_assert_int_eq(pvm_start_pvmd(0, NULL, 1), PvmDupHost);
    ck_assert_int_eq(pvm_mytid(), 0x40001);
    ck_assert_int_eq(pvm_start_pvmd(0, NULL, 1), PvmDupHost);
    ck_assert_int_eq(pvm_exit(), 0);
    fake_daemon_stop();
}
END_TEST

START_TEST(tells_a_stale_socket)
{
    fake_daemon_start();
    pvm_setopt(PvmAutoErr, 0);
    ck_assert_int_gt(pvm_mytid(), 0);
    fake_daemon_do(FAKE_DIE, 0);
    pvm_exit();
    pvm_setopt(PvmAutoErr, 1);
    double start = now();
    catch_stderr();
    int rc = pvm_mytid();
    const char *text = release_stderr();
    ck_assert_int_eq(rc, PvmSysErr);
    ck_assert(now() - start < 0.5);
    check_has(text, "nobody listens on");
    check_has(text, "socket");
    fake_daemon_stop();
}
END_TEST

START_TEST(refuses_unsafe_files)
{
    char path[128];
    fake_daemon_start();
    snprintf(path, sizeof path, "%s/pvmd.%u", getenv("PVM_TMP"), (unsigned)getuid());
    ck_assert_int_eq(chmod(path, 0622), 0);
    catch_stderr();
    int rc = pvm_mytid();
    const char *text = release_stderr();
    ck_assert_int_eq(rc, PvmSysErr);
    check_has(text, path);
    check_has(text, "can be written by others");
    check_has(text, "chmod 600");
    chmod(path, 0600);
    snprintf(path, sizeof path, "%s/socket", getenv("PVM_TMP"));
    ck_assert_int_eq(chmod(path, 0666), 0);
    catch_stderr();
    rc = pvm_mytid();
    text = release_stderr();
    ck_assert_int_eq(rc, PvmSysErr);
    check_has(text, path);
    chmod(path, 0600);
    ck_assert_int_gt(pvm_mytid(), 0);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

START_TEST(uses_PVMSOCK)
{
    char path[128];
    fake_daemon_start();
    snprintf(path, sizeof path, "%s/socket", getenv("PVM_TMP"));
    setenv("PVMSOCK", path, 1);
    setenv("PVM_TMP", "/tmp/no-such-folder", 1);
    ck_assert_int_eq(pvm_mytid(), 0x40001);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

static void child_enrols(int first)
{
    if (pvm_mytid() == first)
        _exit(1);
    if (pvm_initsend(PvmDataDefault) < 0 || pvm_pkint(&first, 1, 1) || pvm_send(first, 5))
        _exit(2);
}

START_TEST(a_forked_child_is_a_task_of_its_own)
{
    fake_daemon_start();
    int me = pvm_mytid(), value = 0, source;
    pid_t pid = second_task(child_enrols, me);
    int mid = pvm_recv(-1, 5);
    ck_assert_int_gt(mid, 0);
    pvm_upkint(&value, 1, 1);
    ck_assert_int_eq(value, me);
    pvm_bufinfo(mid, NULL, NULL, &source);
    ck_assert_int_ne(source, me);
    join(pid);
    ck_assert_int_eq(pvm_mytid(), me);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

START_TEST(waits_for_siblings)
{
    fake_daemon_start();
    setenv("PVMEPID", "123", 1);
    int me = pvm_mytid(), *siblings;
    ck_assert_ptr_null(getenv("PVMEPID"));
    ck_assert_int_eq(fake_daemon_do(FAKE_SIBLINGS, OTHER), 0);
    ck_assert_int_eq(pvm_siblings(&siblings), 2);
    ck_assert_int_eq(siblings[0], OTHER);
    ck_assert_int_eq(siblings[1], me);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

/* ---- messages ---- */

#define BIG 3000000

static void echo_big(int first)
{
    static char data[BIG];
    int n = BIG;
    for (int i = 0; i < 3; i++) {
        memset(data, 'b' + i, n);
        pvm_initsend(i == 2 ? PvmDataInPlace : PvmDataDefault);
        pvm_pkbyte(data, n, 1);
        if (pvm_send(first, 20 + i))
            _exit(1);
    }
    for (int i = 0; i < 3; i++) {
        pvm_recv(first, 20 + i);
        pvm_upkbyte(data, n, 1);
        if (data[0] != 'A' + i || data[n - 1] != 'A' + i)
            _exit(2);
    }
}

START_TEST(two_tasks_that_send_at_once_do_not_block_each_other)
{
    static char data[BIG];
    fake_daemon_start();
    int me = pvm_mytid();
    pid_t pid = second_task(echo_big, me);
    int mid = pvm_recv(-1, 20), other;
    pvm_bufinfo(mid, NULL, NULL, &other);
    pvm_upkbyte(data, BIG, 1);
    ck_assert_int_eq(data[BIG - 1], 'b');
    for (int i = 0; i < 3; i++) {
        memset(data, 'A' + i, BIG);
        pvm_psend(other, 20 + i, data, BIG, PVM_BYTE);
    }
    for (int i = 1; i < 3; i++) {
        pvm_recv(other, 20 + i);
        pvm_upkbyte(data, BIG, 1);
        ck_assert_int_eq(data[BIG - 1], 'b' + i);
    }
    join(pid);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

START_TEST(a_held_sender_waits_and_receives)
{
    fake_daemon_start();
    ck_assert_int_gt(pvm_mytid(), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_HOLD, OTHER), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_WHOLE, OTHER + 1), 0);
    pvm_initsend(PvmDataDefault);
    double start = now();
    ck_assert_int_eq(pvm_send(OTHER + 1, 1), 0); /* others are not held */
    ck_assert(now() - start < 0.3);
    ck_assert_int_eq(pvm_send(OTHER, 1), 0);
    ck_assert(now() - start > 0.3);
    ck_assert_int_gt(pvm_nrecv(OTHER + 1, 78), 0);
    start = now();
    ck_assert_int_eq(fake_daemon_do(FAKE_HOLD, 0x40000), 0); /* all tasks of the host */
    ck_assert_int_eq(pvm_send(OTHER + 2, 1), 0);
    ck_assert(now() - start > 0.3);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

static void answer(int to, int tag)
{
    if (pvm_initsend(PvmDataDefault) < 0 || pvm_send(to, tag))
        _exit(1);
}

static void read_until_given_up(int first)
{
    int number, rc;
    pvm_setopt(PvmAutoErr, 0);
    pvm_setopt(PvmRoute, PvmDontRoute);
    answer(first, 20);
    if (pvm_recv(first, 21) <= 0 || pvm_upkint(&number, 1, 1))
        _exit(2);
    answer(first, 22);
    while (!(rc = pvm_upkint(&number, 1, 1)))
        ;
    if (rc != PvmNoTask)
        _exit(3);
    answer(first, 23);
}

/* The sender waits for the receiver, which waits for the rest. */
START_TEST(what_is_given_up_during_a_hold_is_taken_back_afterwards)
{
    static int numbers[5000];
    fake_daemon_start();
    pvm_setopt(PvmRoute, PvmDontRoute);
    pid_t pid = second_task(read_until_given_up, pvm_mytid());
    int other;
    pvm_bufinfo(pvm_recv(-1, 20), NULL, NULL, &other);
    int mid = pvm_initsendto(PvmDataDefault, other, 21);
    ck_assert_int_gt(mid, 0);
    ck_assert_int_eq(pvm_pkint(numbers, 5000, 1), 0);
    ck_assert_int_gt(pvm_recv(other, 22), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_HOLD, other), 0);
    ck_assert_int_eq(pvm_freebuf(mid), 0);
    ck_assert_int_gt(pvm_recv(other, 23), 0);
    join(pid);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

START_TEST(a_lost_host_releases_and_voids)
{
    int away = 0x80001;
    fake_daemon_start();
    ck_assert_int_gt(pvm_mytid(), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_BEGIN, away), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_HOLD, 0x80000), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_GONE, 0x80000), 0);
    double start = now();
    pvm_initsend(PvmDataDefault);
    ck_assert_int_eq(pvm_send(away, 1), 0);
    ck_assert(now() - start < 0.3);
    ck_assert_int_eq(pvm_probe(-1, -1), 0);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

START_TEST(an_aborted_message_is_dropped)
{
    fake_daemon_start();
    ck_assert_int_gt(pvm_mytid(), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_BEGIN, OTHER), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_ABORT, OTHER), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_WHOLE, OTHER), 0);
    int value = 0;
    ck_assert_int_eq(pvm_nrecv(-1, 77), 0);
    ck_assert_int_gt(pvm_nrecv(OTHER, 78), 0);
    ck_assert_int_eq(pvm_upkint(&value, 1, 1), 0);
    ck_assert_int_eq(value, OTHER);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

START_TEST(a_tid_may_come_back_for_a_new_task)
{
    fake_daemon_start();
    ck_assert_int_gt(pvm_mytid(), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(fake_daemon_do(FAKE_WHOLE, OTHER), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_BEGIN, OTHER), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_RENEW, OTHER), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(fake_daemon_do(FAKE_WHOLE, OTHER), 0);
    for (int i = 0; i < 6; i++)
        ck_assert_int_gt(pvm_nrecv(OTHER, 78), 0);
    ck_assert_int_eq(pvm_nrecv(-1, -1), 0);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

/*
 * A violation is reported once and ends the pair of tasks, not the connection: other tasks, and a new owner of the tid,
 * are still accepted.
 */
static void check_violation(enum fake_trick trick, const char *complaint)
{
    fake_daemon_start();
    int me = pvm_mytid();
    catch_stderr();
    ck_assert_int_eq(fake_daemon_do(FAKE_WHOLE, OTHER), PvmOk);
    ck_assert_int_gt(pvm_nrecv(OTHER, 78), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(fake_daemon_do(trick, OTHER), PvmOk);
    ck_assert_int_eq(fake_daemon_do(FAKE_WHOLE, OTHER), PvmOk);
    ck_assert_int_eq(fake_daemon_do(FAKE_WHOLE, OTHER + 1), PvmOk);
    ck_assert_int_gt(pvm_nrecv(OTHER + 1, 78), 0);
    ck_assert_int_eq(pvm_nrecv(-1, -1), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_RENEW, OTHER), PvmOk);
    ck_assert_int_eq(fake_daemon_do(FAKE_WHOLE, OTHER), PvmOk);
    ck_assert_int_gt(pvm_nrecv(OTHER, 78), 0);
    const char *text = release_stderr();
    check_has(text, complaint);
    ck_assert_ptr_null(strstr(strstr(text, complaint) + 1, complaint));
    ck_assert_int_eq(pvm_mytid(), me);
    ck_assert_int_eq(pvm_exit(), PvmOk);
    fake_daemon_stop();
}

START_TEST(a_gap_breaks_the_pair_alone)
{
    check_violation(FAKE_GAP, "has number 6, expected 1");
}
END_TEST

START_TEST(a_wrong_offset_breaks_the_pair_alone)
{
    check_violation(FAKE_WRONG_OFFSET, "has offset 50, expected 100");
}
END_TEST

START_TEST(a_daemon_that_dies_fails_all_calls)
{
    fake_daemon_start();
    pvm_setopt(PvmAutoErr, 0);
    int me = pvm_mytid();
    ck_assert_int_eq(fake_daemon_do(FAKE_DIE, 0), PvmSysErr);
    double start = now();
    ck_assert_int_eq(pvm_recv(-1, -1), PvmSysErr);
    ck_assert_int_eq(pvm_nrecv(-1, -1), PvmSysErr);
    ck_assert_int_eq(pvm_tasks(0, NULL, NULL), PvmSysErr);
    pvm_initsend(PvmDataDefault);
    ck_assert_int_eq(pvm_send(OTHER, 1), PvmSysErr);
    ck_assert_int_eq(pvm_mytid(), me);
    ck_assert_int_eq(pvm_errno, PvmSysErr);
    ck_assert_int_eq(pvm_exit(), PvmSysErr);
    ck_assert(now() - start < 0.5);
    fake_daemon_stop();
}
END_TEST

START_TEST(a_malformed_answer_is_an_error)
{
    fake_daemon_start();
    ck_assert_int_gt(pvm_mytid(), 0);
    catch_stderr();
    int rc = fake_daemon_do(FAKE_SHORT_ANSWER, 0);
    const char *text = release_stderr();
    ck_assert_int_eq(rc, PvmBadMsg);
    check_has(text, "does not have the format");
    ck_assert_int_eq(pvm_exit(), 0);
    fake_daemon_stop();
}
END_TEST

/* The answer to an offer that the task has withdrawn is no news: it neither warns nor offers again. */
START_TEST(an_offer_is_refused_while_the_task_leaves)
{
    fake_daemon_start();
    setenv("PVM_TRANSPORT", "tcp", 1);
    ck_assert_int_gt(pvm_mytid(), 0);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    ck_assert_int_eq(fake_daemon_do(FAKE_LATE_REFUSAL, OTHER), 0);
    pvm_initsend(PvmDataDefault);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pvm_send(OTHER, 1), 0);
    catch_stderr();
    ck_assert_int_eq(pvm_exit(), 0);
    ck_assert_str_eq(release_stderr(), "");
    fake_daemon_stop();
}
END_TEST

/* ---- output ---- */

START_TEST(output_of_children_is_written_by_lines)
{
    FILE *f = tmpfile();
    char text[512];
    fake_daemon_start();
    ck_assert_int_gt(pvm_mytid(), 0);
    ck_assert_int_eq(pvm_catchout(f), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_OUTPUT, 0x40123), 0);
    ck_assert_int_eq(fake_daemon_do(FAKE_OUTPUT_END, 0x40123), 0);
    ck_assert_int_eq(pvm_exit(), 0);
    rewind(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    ck_assert_str_eq(text, "[t40123] BEGIN\n[t40123] first line\n[t40123] second line\n[t40123] \n"
                           "[t40123] unfinished\n[t40123] EOF\n");
    fclose(f);
    fake_daemon_stop();
}
END_TEST

START_TEST(output_is_plain_without_PvmShowTids)
{
    FILE *f = tmpfile();
    char text[512];
    fake_daemon_start();
    ck_assert_int_gt(pvm_mytid(), 0);
    pvm_setopt(PvmShowTids, 0);
    ck_assert_int_eq(pvm_catchout(f), 0);
    fake_daemon_do(FAKE_OUTPUT, 0x40123);
    fake_daemon_do(FAKE_OUTPUT_END, 0x40123);
    ck_assert_int_eq(pvm_exit(), 0);
    rewind(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    ck_assert_str_eq(text, "first line\nsecond line\n\nunfinished");
    fclose(f);
    fake_daemon_stop();
}
END_TEST

START_TEST(exit_waits_for_output)
{
    FILE *f = tmpfile();
    fake_daemon_start();
    int me = pvm_mytid();
    ck_assert_int_eq(pvm_catchout(f), 0);
    fake_daemon_do(FAKE_OUTPUT, 0x40123);
    catch_stderr();
    pid_t killer = fork();
    if (!killer) { /* only the daemon's death ends the output */
        usleep(300000);
        kill(fake_daemon_pid, SIGKILL);
        _exit(0);
    }
    double start = now();
    int rc = pvm_exit();
    const char *text = release_stderr();
    ck_assert_int_eq(rc, PvmSysErr);
    ck_assert(now() - start > 0.25);
    char expected[64];
    snprintf(expected, sizeof expected, "libpvm [t%x]: child task(s) still running.  waiting...\n", me);
    check_has(text, expected);
    waitpid(killer, NULL, 0);
    fclose(f);
    fake_daemon_stop();
}
END_TEST

/* ---- handlers ---- */

static int handled, handled_context, handled_value;

static int handler(int mid)
{
    handled++;
    handled_context = pvm_getcontext();
    ck_assert_int_eq(pvm_getrbuf(), mid);
    ck_assert_int_eq(pvm_getsbuf(), 0);
    if (pvm_upkint(&handled_value, 1, 1))
        handled_value = -1;
    pvm_packf("%+%d", PvmDataDefault, handled);
    pvm_send(OTHER, 3);
    pvm_freebuf(pvm_setsbuf(0));
    return 0;
}

START_TEST(handlers_take_their_messages)
{
    fake_daemon_start();
    pvm_setopt(PvmAutoErr, 0);
    int me = pvm_mytid(), id = pvm_addmhf(-1, 60, -1, handler), value = 42;
    ck_assert_int_gt(id, 0);
    ck_assert_int_eq(pvm_addmhf(me, 60, 0, handler), PvmExists);
    ck_assert_int_eq(pvm_addmhf(-1, -1, -1, handler), PvmExists);
    ck_assert_int_gt(pvm_addmhf(-1, 61, 0, handler), 0);
    int sbuf = pvm_initsend(PvmDataDefault);
    pvm_pkint(&value, 1, 1);
    pvm_setcontext(9);
    pvm_send(me, 60);
    pvm_setcontext(0);
    ck_assert_int_eq(pvm_nrecv(-1, 60), 0);
    ck_assert_int_eq(handled, 1);
    ck_assert_int_eq(handled_context, 9);
    ck_assert_int_eq(handled_value, 42);
    ck_assert_int_eq(pvm_getsbuf(), sbuf);
    ck_assert_int_eq(pvm_getcontext(), 0);
    ck_assert_int_eq(pvm_delmhf(id), 0);
    ck_assert_int_eq(pvm_delmhf(id), PvmNotFound);
    ck_assert_int_eq(pvm_delmhf(-1), PvmBadParam);
    pvm_send(me, 60);
    ck_assert_int_gt(pvm_nrecv(-1, 60), 0);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

static int chain(int mid)
{
    (void)mid;
    handled++;
    pvm_packf("%+%d", PvmDataDefault, handled);
    pvm_send(pvm_mytid(), 62); /* for ever */
    pvm_freebuf(pvm_setsbuf(0));
    return 0;
}

START_TEST(a_handler_that_calls_itself_does_not_take_over)
{
    fake_daemon_start();
    int me = pvm_mytid();
    pvm_addmhf(-1, 62, 0, chain);
    pvm_initsend(PvmDataDefault);
    pvm_send(me, 62);
    for (int i = 0; i < 10; i++)
        pvm_nrecv(-1, 1);
    ck_assert_int_gt(handled, 5);
    ck_assert_int_lt(handled, 30);
    pvm_exit();
    fake_daemon_stop();
}
END_TEST

static int exit_seen;

static int see_exit(int mid)
{
    (void)mid;
    pvm_upkint(&exit_seen, 1, 1);
    return 0;
}

START_TEST(own_exit_is_reported_to_a_handler)
{
    fake_daemon_start();
    int me = pvm_mytid();
    pvm_addmhf(-1, 70, 0, see_exit);
    ck_assert_int_eq(pvm_notify(PvmTaskExit, 70, 1, &me), 0);
    pvm_exit();
    ck_assert_int_eq(exit_seen, me);
    fake_daemon_stop();
}
END_TEST

UNIT_MAIN("task", enrols_and_leaves, says_at_once_that_no_daemon_runs, does_not_start_a_second_daemon,
          tells_a_stale_socket, refuses_unsafe_files, uses_PVMSOCK, a_forked_child_is_a_task_of_its_own,
          waits_for_siblings, two_tasks_that_send_at_once_do_not_block_each_other, a_held_sender_waits_and_receives,
          what_is_given_up_during_a_hold_is_taken_back_afterwards, a_lost_host_releases_and_voids,
          an_aborted_message_is_dropped, a_tid_may_come_back_for_a_new_task, a_gap_breaks_the_pair_alone,
          a_wrong_offset_breaks_the_pair_alone, a_daemon_that_dies_fails_all_calls, a_malformed_answer_is_an_error,
          an_offer_is_refused_while_the_task_leaves, output_of_children_is_written_by_lines,
          output_is_plain_without_PvmShowTids, exit_waits_for_output, handlers_take_their_messages,
          a_handler_that_calls_itself_does_not_take_over, own_exit_is_reported_to_a_handler)
