/*
 * pulse - a number goes round a task on each host, again and again, with some data; each must arrive once and in order,
 * and each host must answer pvm_mstat(). For scripts that disturb the network meanwhile.
 *
 *   pulse FILE HOST...
 *
 * FILE gets the latest round, "NUMBER START_MS END_MS " by the system's clock. No round begins while FILE.idle exists;
 * when FILE.end exists, the tasks end.
 */
#include <fcntl.h>
#include <time.h>
#include "tests/machine/runner/check.h"

enum { TAG_TEAM = 1, TAG_PULSE, BYTES_MAX = 200000, PAUSE_MS = 50, TEAM_MAX = 16, LAST = -1 };

static char data[BYTES_MAX];

static int bytes_of(int number)
{
    if (number == LAST)
        return 0;
    return number % 10 ? number * 7919 % 2000 : number * 7919 % BYTES_MAX;
}

static void pass(int to, int number)
{
    check_fill(data, (size_t)bytes_of(number), (unsigned)number);
    CHECK(pvm_initsend(PvmDataRaw) > 0);
    CHECK_EQ(pvm_pkint(&number, 1, 1), 0);
    CHECK_EQ(pvm_pkbyte(data, bytes_of(number), 1), 0);
    CHECK_EQ(pvm_send(to, TAG_PULSE), 0);
}

/* Waits without a limit: the script has one. */
static void take(int expected)
{
    int number;
    CHECK(pvm_recv(-1, TAG_PULSE) > 0);
    CHECK_EQ(pvm_upkint(&number, 1, 1), 0);
    CHECK(number == expected || number == LAST);
    if (number == LAST) {
        pvm_exit();
        exit(0);
    }
    CHECK_EQ(pvm_upkbyte(data, bytes_of(number), 1), 0);
    CHECK(check_same(data, (size_t)bytes_of(number), (unsigned)number));
}

static void member(int argc, char **argv)
{
    (void)argc, (void)argv;
    int next = check_receive_int(pvm_parent(), TAG_TEAM);
    for (int number = 0;; number++) {
        take(number);
        pass(next, number);
    }
}

static int exists(const char *file, const char *ending)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%s", file, ending);
    return !access(path, F_OK);
}

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void report(int fd, int number, long long start_ms)
{
    char line[64];
    int n = snprintf(line, sizeof line, "%9d %lld %lld \n", number, start_ms, now_ms());
    CHECK_EQ(pwrite(fd, line, (size_t)n, 0), n);
}

static void go_round(int n, char **hosts, const int *tids, int number)
{
    pass(tids[0], number);
    take(number);
    for (int i = 0; i < n; i++)
        CHECK_EQ(pvm_mstat(hosts[i]), PvmOk);
}

static void master(int argc, char **argv)
{
    int n = argc - 2, tids[TEAM_MAX], hosts;
    CHECK(n > 0 && n <= TEAM_MAX);
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(fd >= 0);
    for (int i = 0; i < n; i++)
        check_spawn("member", NULL, argv[2 + i], 1, &tids[i]);
    for (int i = 0; i < n; i++)
        check_send_int(tids[i], TAG_TEAM, i + 1 < n ? tids[i + 1] : pvm_mytid());
    for (int number = 0; !exists(argv[1], "end"); check_sleep_ms(PAUSE_MS)) {
        long long start_ms = now_ms();
        if (exists(argv[1], "idle"))
            continue;
        go_round(n, argv + 2, tids, number);
        report(fd, number++, start_ms);
    }
    CHECK_EQ(pvm_config(&hosts, NULL, NULL), 0);
    CHECK_EQ(hosts, n);
    for (int i = 0; i < n; i++)
        pass(tids[i], LAST);
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
