/*
 * idle - waiting tasks and idle daemons use no CPU time, and the daemon of a single host does not wake at all: idle
 * [HOSTS].
 */
#include "tests/machine/runner/check.h"

enum { TAG_READY = 1, TAG_GO, TASKS = 4, WATCH_MS = 3000, CPU_MS = 30 };

/* Waits in one of the possible ways. */
static void waiter(int argc, char **argv)
{
    (void)argc;
    check_send_int(pvm_parent(), TAG_READY, 0);
    struct timeval hour = {3600, 0};
    if (strcmp(argv[1], "recv") == 0)
        pvm_recv(-1, TAG_GO);
    else if (strcmp(argv[1], "trecv") == 0)
        pvm_trecv(-1, TAG_GO, &hour);
    else if (strcmp(argv[1], "precv") == 0)
        pvm_precv(-1, TAG_GO, &hour, 1, PVM_INT, NULL, NULL, NULL);
    else
        pvm_recvinfo("no such entry yet", 0, PvmMboxWaitForInfo);
}

/* How often a process has slept so far. */
static long sleeps_of(pid_t pid)
{
    char path[64], line[256];
    long n = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "voluntary_ctxt_switches: %ld", &n);
    if (file)
        fclose(file);
    return n;
}

static void master(int argc, char **argv)
{
    static const char *const ways[TASKS] = {"recv", "trecv", "precv", "mailbox"};
    int hosts = argc > 1 ? atoi(argv[1]) : 1, tids[TASKS];
    pid_t watched[2 * TASKS];
    long before[2 * TASKS];
    check_hosts(hosts);
    for (int i = 0; i < TASKS; i++) {
        check_spawn("waiter", ways[i], check_host_name(i % hosts), 1, &tids[i]);
        check_receive_int(tids[i], TAG_READY);
        watched[2 * i] = check_pid_of(tids[i]);
        watched[2 * i + 1] = check_daemon_of(tids[i]);
    }
    check_sleep_ms(1500 * check_slowness()); /* until the daemon has returned the memory of its start, after 1 s */
    for (int i = 0; i < 2 * TASKS; i++)
        before[i] = check_cpu_ms(watched[i]);
    long sleeps = sleeps_of(watched[1]);
    check_sleep_ms(WATCH_MS);
    if (hosts == 1) {
        CHECK(sleeps > 0);
        CHECK_EQ(sleeps_of(watched[1]), sleeps);
    }
    for (int i = 0; i < 2 * TASKS; i++) {
        long used = check_cpu_ms(watched[i]) - before[i];
        if (i % 2 == 0 || i / 2 < hosts)
            printf("%s: %ld ms of CPU in %d ms\n", i % 2 ? "a daemon" : ways[i / 2], used, WATCH_MS);
        CHECK(before[i] >= 0 && used <= CPU_MS * check_slowness());
    }
    for (int i = 0; i < TASKS; i++)
        CHECK_EQ(pvm_kill(tids[i]), 0);
    check_wait_exit(TASKS, tids);
}

static const struct check_role roles[] = {{"waiter", waiter}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
