/* test_calls.c - the promises of dp.h for each call: errors of misuse, fork(2), statistics, and calls without a system
 * call. */
#include <dp.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"
#include "wire.h"

static int a, b;
static char *message;

static void expect_errno(int result, int number)
{
    int got = errno;
    ck_assert_int_eq(result, -1);
    ck_assert_msg(got == number, "%s, not %s", strerror(got), strerror(number));
}

START_TEST(descriptors_that_are_no_endpoints)
{
    dpmmap_t pool = {.messages = 0};
    dpaddress_t address;
    dpstats_t statistics;
    int nid, dpid;
    for (int i = 0; i < 3; i++) {
        int fd = (int[]){-1, 0, 1 << 30}[i];
        expect_errno(dp_target(fd, 1, 1), EBADF);
        expect_errno(dp_write(fd, "", 0), EBADF);
        expect_errno(dp_read(fd, &message), EBADF);
        expect_errno(dp_read_from(fd, &message, &nid, &dpid), EBADF);
        expect_errno(dp_try(fd, &message), EBADF);
        expect_errno(dp_mmap(fd, &pool), EBADF);
        expect_errno(dp_fsync(fd, 0), EBADF);
        expect_errno(dp_mode(fd, DP_RAW), EBADF);
        expect_errno(dp_spin(fd, 1), EBADF);
        expect_errno(dp_work(fd), EBADF);
        expect_errno(dp_flush(fd, 0), EBADF);
        expect_errno(dp_address(fd, &address), EBADF);
        expect_errno(dp_stats(fd, &statistics), EBADF);
        expect_errno(dp_close(fd), EBADF);
    }
}
END_TEST

START_TEST(opening)
{
    wire_make(1500);
    expect_errno(dp_open(0), EINVAL);
    expect_errno(dp_open(DP_DPID_MAX + 1), EINVAL);
    expect_errno(dp_open_on("lo", 1), ENODEV);
    expect_errno(dp_open_on("none", 1), ENODEV);
    a = dp_open(DP_DPID_MAX);
    ck_assert_int_ge(a, 0);
    expect_errno(dp_open(DP_DPID_MAX), EADDRINUSE);
    ck_assert_int_eq(dp_close(a), 0);
    expect_errno(dp_close(a), EBADF);
    setenv("DP_INTERFACE", "v1", 1);
    setenv("DP_NID", "77", 1);
    setenv("DP_ETHERTYPE", "0x88b6", 1);
    a = dp_open(1);
    dpaddress_t own;
    ck_assert_int_eq(dp_address(a, &own), 0);
    ck_assert_int_eq(own.nid, 77);
    ck_assert_int_eq(own.dpid, 1);
    ck_assert_int_eq(own.ethertype, 0x88b6);
    ck_assert_int_eq(own.target_nid, 0);
    ck_assert_str_eq(own.interface, "v1");
    wire_run("ip link set v0 down; ip link set v1 down");
    expect_errno(dp_open(2), ENODEV);
}
END_TEST

START_TEST(without_the_right)
{
    wire_make(1500);
    setenv("PATH", "/nowhere", 1);
    ck_assert_int_eq(setgid(65534), 0);
    ck_assert_int_eq(setuid(65534), 0);
    expect_errno(dp_open(1), EACCES);
}
END_TEST

START_TEST(misuse)
{
    static char data[2000];
    dpmmap_t pool = {.messages = 1 << 20};
    wire_make(1500);
    a = dp_open_on("v0", 100);
    expect_errno(dp_write(a, data, 1), EDESTADDRREQ);
    expect_errno(dp_target(a, 0, 1), EINVAL);
    expect_errno(dp_target(a, DP_NID_MAX + 1, 1), EINVAL);
    expect_errno(dp_target(a, 1, 0), EINVAL);
    expect_errno(dp_target(a, 1, DP_DPID_MAX + 1), EINVAL);
    expect_errno(dp_mode(a, 3), EINVAL);
    expect_errno(dp_mmap(a, NULL), EINVAL);
    expect_errno(dp_mmap(a, &pool), EINVAL);
    expect_errno(dp_fsync(a, -1), EINVAL);
    expect_errno(dp_fsync(a, 1), EINVAL);
    expect_errno(dp_address(a, NULL), EINVAL);
    expect_errno(dp_stats(a, NULL), EINVAL);
    ck_assert_int_eq(dp_target(a, WIRE_NODE_1, 200), 0);
    expect_errno(dp_write(a, data, -1), EINVAL);
    expect_errno(dp_write(a, data, 1489), EMSGSIZE);
    expect_errno(dp_mode(a, DP_RELIABLE), EBUSY);
    expect_errno(dp_try(a, &message), EAGAIN);
    ck_assert_int_eq(fcntl(a, F_SETFL, O_NONBLOCK), 0);
    expect_errno(dp_read(a, &message), EAGAIN);
    wire_run("ip link set v0 down");
    expect_errno(dp_write(a, data, 1), ENETDOWN);
}
END_TEST

START_TEST(a_full_pool)
{
    wire_pair(1500, DP_RAW, &a, &b);
    ck_assert_int_eq(dp_write(a, "first", 5), 5); /* so the address is known */
    ck_assert_int_eq(dp_read(b, &message), 5);
    ck_assert_int_eq(dp_fsync(b, 1), 0);
    dpmmap_t pool = {.messages = 8};
    ck_assert_int_eq(dp_mmap(b, &pool), 0);
    ck_assert_uint_ge(pool.messages, 8);
    ck_assert_uint_eq(pool.message_bytes, 1488);
    for (unsigned i = 0; i < pool.messages + 5; i++)
        ck_assert_int_eq(dp_write(a, &i, sizeof i), sizeof i);
    for (unsigned i = 0; i < pool.messages; i++)
        ck_assert_int_eq(dp_read(b, &message), sizeof i);
    expect_errno(dp_read(b, &message), ENOBUFS);
    pool.messages = 16;
    expect_errno(dp_mmap(b, &pool), EBUSY);
    dpstats_t statistics;
    ck_assert_int_eq(dp_stats(b, &statistics), 0);
    ck_assert_uint_ge(statistics.dropped, 5);
    pool.messages = 0;
    ck_assert_int_eq(dp_mmap(b, &pool), 0);
    ck_assert_int_eq(dp_fsync(b, (int)pool.messages), 0);
    ck_assert_int_eq(dp_write(a, "on", 2), 2);
    ck_assert_int_eq(dp_read(b, &message), 2);
}
END_TEST

/* With 200 messages waiting, the only system call that the reader may make is exit_group(2). */
START_TEST(reading_makes_no_system_call)
{
    enum { ROUNDS = 200 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    int opened[2], sent[2], status;
    char byte;
    wire_make(1500);
    ck_assert(!pipe(opened) && !pipe(sent));
    pid_t reader = fork();
    if (!reader) {
        b = dp_open_on("v1", 200);
        if (write(opened[1], "", 1) != 1 || dp_read(b, &message) < 0 || dp_fsync(b, 1) ||
            write(opened[1], "", 1) != 1 || read(sent[0], &byte, 1) != 1 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
            syscall(SYS_exit_group, 2);
        for (int i = 0; i < ROUNDS; i++)
            if (dp_read(b, &message) != i || dp_fsync(b, 1))
                syscall(SYS_exit_group, 3);
        syscall(SYS_exit_group, 0);
    }
    ck_assert_int_eq(read(opened[0], &byte, 1), 1);
    a = dp_open_on("v0", 100);
    dp_target(a, WIRE_NODE_1, 200);
    ck_assert_int_eq(dp_write(a, "first", 5), 5); /* includes the address request */
    ck_assert_int_eq(read(opened[0], &byte, 1), 1);
    static char data[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        ck_assert_int_eq(dp_write(a, data, i), i);
    ck_assert_int_eq(write(sent[1], "", 1), 1);
    ck_assert_int_eq(waitpid(reader, &status, 0), reader);
    ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "status %#x", (unsigned)status);
}
END_TEST

START_TEST(a_child_has_no_endpoints)
{
    wire_pair(1500, _i ? DP_RELIABLE : DP_RAW, &a, &b);
    pid_t child = fork();
    if (!child) {
        int fine = dp_write(a, "x", 1) == -1 && errno == EBADF && fcntl(a, F_GETFD) == -1 && errno == EBADF;
        int own = dp_open_on("v0", 300);
        fine = fine && own >= 0 && !dp_target(own, WIRE_NODE_1, 200) && !dp_close(own);
        _exit(!fine);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
    ck_assert_int_eq(dp_write(a, "hello", 5), 5);
    while (dp_try(b, &message) != 5)
        dp_work(a);
    ck_assert_mem_eq(message, "hello", 5);
}
END_TEST

START_TEST(descriptors_run_out)
{
    struct rlimit limit, tight;
    wire_make(1500);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    tight = (struct rlimit){24, limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
    int i = 1;
    while (dp_open_on("v0", i) >= 0)
        i++;
    ck_assert_int_eq(errno, EMFILE);
    ck_assert_int_gt(i, 3);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0); /* the leak checker needs descriptors at exit */
}
END_TEST

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert(file && fputs(text, file) >= 0 && !fclose(file));
}

START_TEST(the_table_of_nodes)
{
    char path[] = "/tmp/test-nart.XXXXXX";
    close(mkstemp(path));
    wire_make(1500);
    setenv("DP_NART", path, 1);
    write_file(path, "5 02:00:00:00:00:01\n6 02:00:00:00:00:02 v1\n");
    a = dp_open_on("v0", 100);
    b = dp_open_on("v1", 200);
    dpaddress_t own;
    dp_address(a, &own);
    ck_assert_int_eq(own.nid, 5);
    dp_address(b, &own);
    ck_assert_int_eq(own.nid, 6);
    ck_assert_int_eq(dp_target(a, 6, 200), 0);
    ck_assert_int_eq(dp_write(a, "hello", 5), 5);
    ck_assert_int_eq(dp_read(b, &message), 5);
    dpstats_t statistics;
    dp_stats(a, &statistics);
    ck_assert_uint_eq(statistics.broadcasts, 0);
    write_file(path, "5 02:00:00:00:00:01\nx\n");
    expect_errno(dp_open(1), EPROTO);
    unlink(path);
    expect_errno(dp_open(1), EPROTO);
}
END_TEST

/* An address is asked for once, and messages reach the peer even before the answer arrives. */
START_TEST(addresses_are_learned)
{
    wire_pair(1500, DP_RAW, &a, &b);
    fcntl(b, F_SETFL, O_NONBLOCK);
    int got = 0;
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(dp_write(a, "x", 1), 1);
        for (; dp_read(b, &message) == 1; got++)
            dp_fsync(b, 1);
    }
    ck_assert_int_eq(got, 100);
    dpstats_t statistics;
    dp_stats(a, &statistics);
    ck_assert_uint_ge(statistics.broadcasts, 1);
    ck_assert_uint_le(statistics.broadcasts, 3);
}
END_TEST

int main(void)
{
    int missing = wire_missing();
    if (missing)
        return missing;
    Suite *suite = suite_create("dp_calls");
    TCase *all = tcase_create("calls");
    tcase_set_timeout(all, 60);
    const TTest *const tests[] = {descriptors_that_are_no_endpoints,
                                  opening,
                                  without_the_right,
                                  misuse,
                                  a_full_pool,
                                  reading_makes_no_system_call,

                                  descriptors_run_out,
                                  the_table_of_nodes,
                                  addresses_are_learned};
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        tcase_add_test(all, tests[i]);
    tcase_add_loop_test(all, a_child_has_no_endpoints, 0, 2);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
