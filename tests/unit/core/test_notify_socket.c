/* test_notify_socket.c - what systemd reads at its socket, and that nothing is sent, or waits, without it. */
#include "core/notify_socket.h"
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include "tests/unit/unit.h"

static char folder[] = "/tmp/dpvm-notify.XXXXXX", path[64];

/* A socket as systemd's: abstract if the name begins with "@". */
static int listen_at(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
    memcpy(at.sun_path, name, strlen(name));
    if (*name == '@')
        at.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, length), 0);
    return fd;
}

static void expect(int fd, const char *text)
{
    char got[256] = "";
    ck_assert_int_ge(recv(fd, got, sizeof got - 1, MSG_DONTWAIT), 0);
    ck_assert_str_eq(got, text);
}

static void expect_nothing(int fd)
{
    char got[256];
    ck_assert_int_lt(recv(fd, got, sizeof got, MSG_DONTWAIT), 0);
}

static int set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/notify", folder);
    setenv("NOTIFY_SOCKET", path, 1);
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    return listen_at(path);
}

static void tear_down(int fd)
{
    close(fd);
    unlink(path);
    rmdir(folder);
}

START_TEST(text_arrives_as_one_datagram)
{
    int fd = set_up();
    pvmc_notify_socket_take();
    ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
    pvmc_notify_socket_send("READY=1\nSTATUS=well");
    expect(fd, "READY=1\nSTATUS=well");
    expect_nothing(fd);
    ck_assert_int_eq(pvmc_notify_socket_watchdog_us(), 0);
    tear_down(fd);
}
END_TEST

START_TEST(names_may_be_abstract)
{
    char name[64];
    snprintf(name, sizeof name, "@dpvm-notify-%d", (int)getpid());
    setenv("NOTIFY_SOCKET", name, 1);
    int fd = listen_at(name);
    pvmc_notify_socket_take();
    pvmc_notify_socket_send("STOPPING=1");
    expect(fd, "STOPPING=1");
    close(fd);
}
END_TEST

START_TEST(watchdog_is_for_one_process)
{
    char pid[32];
    int fd = set_up();
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("WATCHDOG_USEC", "30000000", 1);
    pvmc_notify_socket_take();
    ck_assert_int_eq(pvmc_notify_socket_watchdog_us(), 30000000);
    pvmc_notify_socket_give_back();
    setenv("WATCHDOG_PID", pid, 1);
    pvmc_notify_socket_take();
    ck_assert_ptr_null(getenv("WATCHDOG_PID"));
    ck_assert_int_eq(pvmc_notify_socket_watchdog_us(), 30000000);
    pvmc_notify_socket_give_back();
    ck_assert_str_eq(getenv("WATCHDOG_PID"), pid);
    ck_assert_str_eq(getenv("NOTIFY_SOCKET"), path);
    setenv("WATCHDOG_PID", "1", 1);
    pvmc_notify_socket_take();
    ck_assert_int_eq(pvmc_notify_socket_watchdog_us(), 0);
    tear_down(fd);
}
END_TEST

START_TEST(numbers_that_are_none_count_as_unset)
{
    static const char *const bad[] = {"", "-1", "0", "x", "1x", "99999999999999999999"};
    int fd = set_up();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("NOTIFY_SOCKET", path, 1);
        setenv("WATCHDOG_USEC", bad[i], 1);
        pvmc_notify_socket_take();
        ck_assert_int_eq(pvmc_notify_socket_watchdog_us(), 0);
    }
    tear_down(fd);
}
END_TEST

START_TEST(without_a_usable_socket_nothing_happens)
{
    char long_name[200];
    memset(long_name, 'x', sizeof long_name);
    long_name[0] = '/';
    long_name[sizeof long_name - 1] = '\0';
    const char *const bad[] = {"", "@", "relative", "/nowhere/notify", long_name};
    unsetenv("NOTIFY_SOCKET");
    pvmc_notify_socket_take();
    pvmc_notify_socket_send("READY=1");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("NOTIFY_SOCKET", bad[i], 1);
        pvmc_notify_socket_take();
        pvmc_notify_socket_send("READY=1");
    }
}
END_TEST

/* The child's watchdog is its parent's, and it does not know the socket. */
START_TEST(children_know_the_interval_only)
{
    int fd = set_up();
    setenv("WATCHDOG_USEC", "30000000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    pvmc_notify_socket_take();
    pvmc_notify_socket_pass_watchdog();
    ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
    unsetenv("WATCHDOG_PID");
    pvmc_notify_socket_give_back();
    unsetenv("WATCHDOG_PID");
    pvmc_notify_socket_take();
    pvmc_notify_socket_pass_watchdog();
    ck_assert_str_eq(getenv("WATCHDOG_USEC"), "30000000");
    ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
    ck_assert_ptr_null(getenv("WATCHDOG_PID"));
    pvmc_notify_socket_take();
    ck_assert_int_eq(pvmc_notify_socket_watchdog_us(), 30000000);
    tear_down(fd);
}
END_TEST

/* The queue of a reader that does not read fills up; then texts are lost. */
START_TEST(a_reader_that_does_not_read_stops_nobody)
{
    int fd = set_up();
    pvmc_notify_socket_take();
    for (int i = 0; i < 10000; i++)
        pvmc_notify_socket_send("WATCHDOG=1");
    expect(fd, "WATCHDOG=1");
    tear_down(fd);
}
END_TEST

UNIT_MAIN("notify_socket", text_arrives_as_one_datagram, names_may_be_abstract, watchdog_is_for_one_process,
          numbers_that_are_none_count_as_unset, without_a_usable_socket_nothing_happens,
          children_know_the_interval_only, a_reader_that_does_not_read_stops_nobody)
