/*
 * start - pvm_start_pvmd starts a daemon with a hostfile, waits for its hosts, and refuses to start a second one;
 * pvm_halt ends all. The daemon stays in our session, because Linux may share processors between sessions first, but
 * has no terminal, and survives the end of ours.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include "tests/machine/runner/check.h"

static const int background[] = {SIGINT, SIGQUIT, SIGHUP, SIGTSTP}; /* what shells and nohup let their jobs ignore */

static void write_hostfile(char *path, size_t size)
{
    snprintf(path, size, "%s/hostfile", getenv("PVM_TMP"));
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fprintf(file, "# three hosts, one of them for later\n* sp=700\n127.0.0.2 so=local ip=127.0.0.22\n127.0.0.3 sp=800\n"
                  "& 127.0.0.4 sp=900\n");
    CHECK(fclose(file) == 0);
}

static void check_hosts_of_file(void)
{
    struct pvmhostinfo *hosts;
    int n, status, seen = 0;
    char *later = "127.0.0.4";
    CHECK_EQ(pvm_config(&n, NULL, &hosts), 0);
    CHECK_EQ(n, 3);
    for (int i = 1; i < n; i++) {
        CHECK_EQ(hosts[i].hi_speed, strcmp(hosts[i].hi_name, "127.0.0.2") == 0 ? 700 : 800);
        seen |= strcmp(hosts[i].hi_name, "127.0.0.2") == 0 ? 1 : 2;
    }
    CHECK_EQ(seen, 3);
    CHECK_EQ(pvm_addhosts(&later, 1, &status), 1);
    CHECK_EQ(pvm_config(&n, NULL, &hosts), 0);
    CHECK_EQ(hosts[n - 1].hi_speed, 900);
}

static void wait_for_end(pid_t daemon)
{
    double end = check_now() + check_limit_s();
    while (check_alive(daemon) && check_now() < end)
        check_sleep_ms(10);
    CHECK(!check_alive(daemon));
}

/* Gives us a terminal: we lead a session without one. Returns the descriptor that ends it when closed. */
static int get_terminal(void)
{
    int line, ours = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(ours >= 0 && !grantpt(ours) && !unlockpt(ours));
    CHECK((line = open(ptsname(ours), O_RDWR | O_NOCTTY)) >= 0);
    CHECK_EQ(getsid(0), getpid());
    CHECK_EQ(ioctl(line, TIOCSCTTY, 0), 0);
    CHECK_EQ(close(line), 0);
    return ours;
}

/*
 * Whatever signals the daemon was started to ignore, its tasks can be stopped from the keyboard. argv[1], if any, is
 * the address that the daemon was told to listen on.
 */
static void child(int argc, char **argv)
{
    const char *ip = getenv("PVM_IP");
    CHECK_TEXT(ip ? ip : "", argc > 1 ? argv[1] : "");
    for (unsigned i = 0; i < sizeof background / sizeof background[0]; i++) {
        struct sigaction action;
        CHECK_EQ(sigaction(background[i], NULL, &action), 0);
        CHECK(action.sa_handler == SIG_DFL);
    }
    CHECK(open("/dev/tty", O_RDWR) < 0);
    check_send_int(pvm_parent(), 1, getsid(0));
    pvm_recv(-1, -1);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    char path[4096], *arguments[] = {path};
    int tid, terminal = get_terminal();
    write_hostfile(path, sizeof path);
    pvm_setopt(PvmAutoErr, 0);
    CHECK_EQ(pvm_mytid(), PvmSysErr);
    for (unsigned i = 0; i < sizeof background / sizeof background[0]; i++)
        signal(background[i], SIG_IGN);
    CHECK_EQ(pvm_start_pvmd(1, arguments, 1), 0);
    CHECK_EQ(pvm_start_pvmd(1, arguments, 1), PvmDupHost);
    CHECK(pvm_mytid() > 0);
    check_hosts_of_file();
    check_spawn("child", "127.0.0.22", "127.0.0.2", 1, &tid);
    CHECK(check_receive_int(tid, 1) != getsid(0));
    CHECK_EQ(close(terminal), 0);
    check_spawn("child", NULL, ".", 1, &tid);
    CHECK_EQ(check_receive_int(tid, 1), getsid(0));
    pid_t daemon = check_daemon_of(tid);
    signal(SIGTERM, SIG_IGN); /* pvm_halt() would end us, too */
    CHECK_EQ(pvm_halt(), 0);
    wait_for_end(daemon);
    CHECK_EQ(pvm_recv(-1, -1), PvmSysErr);
    CHECK_EQ(remove(path), 0);
}

static const struct check_role roles[] = {{"child", child}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
