/*
 * spawn - where tasks start, with which arguments, folder and environment, and the errors of failed starts: spawn
 * [HOSTS].
 */
#include <errno.h>
#include <sys/stat.h>
#include "tests/machine/runner/check.h"

enum { TAG_REPORT = 1, TAG_SETTINGS };

/* Reports how it was started. */
static void reporter(int argc, char **argv)
{
    char folder[4096], *exported = getenv("CHECK_EXPORTED"), *hidden = getenv("CHECK_NOT_EXPORTED");
    CHECK(getcwd(folder, sizeof folder) != NULL);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_packf("%d", argc), 0);
    for (int i = 0; i < argc; i++)
        CHECK_EQ(pvm_pkstr(argv[i]), 0);
    CHECK_EQ(pvm_pkstr(folder), 0);
    CHECK_EQ(pvm_pkstr(exported ? exported : ""), 0);
    CHECK_EQ(pvm_pkstr(hidden ? hidden : ""), 0);
    CHECK_EQ(pvm_send(pvm_parent(), TAG_REPORT), 0);
}

/* Reports the settings that it found. */
static void settings(int argc, char **argv)
{
    (void)argc, (void)argv;
    const char *names[] = {"PVM_SHM_PENDING", "PVM_TCP_IF", "PVM_QUEUE_MAX"};
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(pvm_pkstr(getenv(names[i]) ? getenv(names[i]) : "not set"), 0);
    CHECK_EQ(pvm_send(pvm_parent(), TAG_SETTINGS), 0);
}

static void expect_text(const char *expected)
{
    char text[8192];
    CHECK_EQ(pvm_upkstr(text), 0);
    CHECK_TEXT(text, expected);
}

/* Arguments arrive as they are, whatever is in them. */
static void check_arguments(void)
{
    char long_one[4000];
    memset(long_one, 'L', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = '\0';
    char *argv[] = {"reporter", "", "two words", "\"quoted\" 'text' $HOME `id` \\ \n", long_one, "-n", NULL};
    int tid, n;
    CHECK_EQ(setenv("CHECK_EXPORTED", "a:b = c", 1), 0);
    CHECK_EQ(setenv("CHECK_NOT_EXPORTED", "secret", 1), 0);
    CHECK_EQ(pvm_export("CHECK_EXPORTED"), 0);
    CHECK_EQ(pvm_spawn((char *)check_program(), argv, PvmTaskDefault, NULL, 1, &tid), 1);
    check_receive(tid, TAG_REPORT);
    CHECK_EQ(pvm_upkint(&n, 1, 1), 0);
    CHECK_EQ(n, 6);
    for (int i = 0; i < n; i++)
        expect_text(argv[i]);
    expect_text(getenv("HOME"));
    expect_text("a:b = c");
    expect_text("");
    CHECK_EQ(pvm_unexport("CHECK_EXPORTED"), 0);
    check_wait_exit(1, &tid);
}

static void check_settings_of_child(const char *host, const char *shm_inline, const char *tcp_if)
{
    int tid;
    check_spawn("settings", NULL, host, 1, &tid);
    check_receive(tid, TAG_SETTINGS);
    expect_text(shm_inline);
    expect_text(tcp_if);
    expect_text("not set");
    check_wait_exit(1, &tid);
}

/* Transport settings are passed from parent to child, exported or not, on every host; other settings are not. */
static void check_carried(int hosts)
{
    const char *host = check_host_name(hosts - 1);
    CHECK_EQ(setenv("PVM_QUEUE_MAX", "1M", 1), 0);
    check_settings_of_child(host, "not set", "not set");
    CHECK_EQ(setenv("PVM_SHM_PENDING", "2M", 1), 0);
    CHECK_EQ(setenv("PVM_TCP_IF", "lo,127.0.0.1", 1), 0);
    check_settings_of_child(host, "2M", "lo,127.0.0.1");
    CHECK_EQ(pvm_export("PVM_TCP_IF"), 0);
    check_settings_of_child(host, "2M", "lo,127.0.0.1");
    CHECK_EQ(pvm_unexport("PVM_TCP_IF"), 0);
    CHECK_EQ(unsetenv("PVM_SHM_PENDING"), 0);
    check_settings_of_child(host, "not set", "lo,127.0.0.1");
    CHECK_EQ(unsetenv("PVM_TCP_IF"), 0);
    CHECK_EQ(unsetenv("PVM_QUEUE_MAX"), 0);
}

/* Spawns n reporters; returns how many run on the host with this tid. */
static int spawn_and_count(int flags, const char *where, int n, int host)
{
    int tids[16], there = 0;
    char *argv[] = {"reporter", NULL};
    CHECK_EQ(pvm_spawn((char *)check_program(), argv, flags, (char *)where, n, tids), n);
    for (int i = 0; i < n; i++) {
        there += pvm_tidtohost(tids[i]) == host;
        check_receive(tids[i], TAG_REPORT);
    }
    check_wait_exit(n, tids);
    return there;
}

static void check_places(int hosts)
{
    struct pvmhostinfo *list;
    int n;
    CHECK_EQ(pvm_config(&n, NULL, &list), 0);
    CHECK_EQ(n, hosts);
    int first = list[0].hi_tid, last = list[n - 1].hi_tid;
    char name[256], arch[64];
    snprintf(name, sizeof name, "%s", list[n - 1].hi_name);
    snprintf(arch, sizeof arch, "%s", list[0].hi_arch);
    CHECK_EQ(spawn_and_count(PvmTaskHost, name, 3, last), 3);
    CHECK_EQ(spawn_and_count(PvmTaskHost, ".", 2, first), 2);
    CHECK_EQ(spawn_and_count(PvmTaskDefault, "", 2 * hosts, last), 2); /* dealt evenly */
    CHECK_EQ(spawn_and_count(PvmTaskArch, arch, 2 * hosts, last), 2);
    if (hosts > 1) {
        CHECK_EQ(spawn_and_count(PvmTaskHost | PvmHostCompl, ".", 3, first), 0);
        CHECK_EQ(spawn_and_count(PvmTaskHost | PvmHostCompl, name, 2, last), 0);
    }
}

static void check_folder(const char *host)
{
    char where[600], folder[512];
    snprintf(folder, sizeof folder, "%s/spawn", getenv("PVM_TMP"));
    CHECK(mkdir(folder, 0700) == 0 || errno == EEXIST);
    snprintf(where, sizeof where, "%s:%s", host, folder);
    int tid, n;
    char *argv[] = {"reporter", NULL}, role[64];
    CHECK_EQ(pvm_spawn((char *)check_program(), argv, PvmTaskHost, where, 1, &tid), 1);
    check_receive(tid, TAG_REPORT);
    CHECK_EQ(pvm_upkint(&n, 1, 1), 0);
    CHECK_EQ(pvm_upkstr(role), 0);
    expect_text(folder);
    check_wait_exit(1, &tid);
    CHECK_EQ(rmdir(folder), 0);
}

static void check_errors(void)
{
    int tids[3] = {1, 1, 1};
    CHECK_EQ(pvm_spawn("/no/such/program", NULL, PvmTaskDefault, NULL, 2, tids), 0);
    CHECK_EQ(tids[0], PvmNoFile);
    CHECK_EQ(tids[1], PvmNoFile);
    CHECK_EQ(pvm_spawn("no-such-program", NULL, PvmTaskDefault, NULL, 1, tids), 0);
    CHECK_EQ(tids[0], PvmNoFile);
    CHECK_EQ(pvm_spawn("/etc/passwd", NULL, PvmTaskDefault, NULL, 1, tids), 0); /* not a program */
    CHECK(tids[0] < 0);
    CHECK_EQ(pvm_spawn((char *)check_program(), NULL, PvmTaskHost, "no-such-host", 2, tids), 0);
    CHECK_EQ(tids[0], PvmNoHost);
    CHECK_EQ(tids[1], PvmNoHost);
    CHECK_EQ(pvm_spawn((char *)check_program(), NULL, PvmTaskArch, "NOARCH", 1, tids), 0);
    CHECK_EQ(tids[0], PvmNoHost);
    CHECK_EQ(pvm_spawn((char *)check_program(), NULL, PvmTaskDefault, NULL, 0, tids), PvmBadParam);
    CHECK_EQ(pvm_spawn((char *)check_program(), NULL, PvmTaskDefault, NULL, -3, tids), PvmBadParam);
    CHECK_EQ(pvm_spawn(NULL, NULL, PvmTaskDefault, NULL, 1, tids), PvmBadParam);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1;
    check_hosts(hosts);
    pvm_setopt(PvmAutoErr, 0);
    check_arguments();
    check_carried(hosts);
    check_places(hosts);
    check_folder(check_host_name(hosts - 1));
    check_errors();
}

static const struct check_role roles[] = {{"reporter", reporter}, {"settings", settings}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
