/*
 * machine - the results of pvm_config, pvm_tasks and the like, and adding and deleting hosts with all errors: machine
 * [HOSTS].
 */
#include "dpvm.h"
#include "tests/machine/runner/check.h"

enum { TAG_GO = 1 };

static void child(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_receive_int(-1, TAG_GO);
}

static void check_config(int hosts)
{
    int nhost, narch;
    struct pvmhostinfo *list;
    CHECK_EQ(pvm_config(&nhost, &narch, &list), 0);
    CHECK_EQ(nhost, hosts);
    CHECK_EQ(narch, 1);
    CHECK_EQ(list[0].hi_tid, 0x40000);
    for (int i = 0; i < nhost; i++) {
        CHECK(list[i].hi_name[0] && list[i].hi_speed == 1000);
        CHECK_TEXT(list[i].hi_arch, list[0].hi_arch);
        CHECK_EQ(pvm_archcode(list[i].hi_arch), list[i].hi_dsig);
        CHECK_EQ(pvm_mstat(list[i].hi_name), PvmOk);
    }
    CHECK_EQ(pvm_config(NULL, NULL, NULL), 0);
    CHECK_EQ(pvm_mstat("."), PvmOk);
    CHECK_EQ(pvm_mstat("no-such-host"), PvmNoHost);
    CHECK_EQ(pvm_mstat(""), PvmBadParam);
    CHECK_EQ(pvm_archcode("NOARCH"), PvmNotFound);
}

static void check_tasks(int hosts)
{
    struct pvmtaskinfo *list;
    int tids[2], n;
    check_spawn("child", NULL, ".", 1, &tids[0]);
    check_spawn("child", NULL, check_host_name(hosts - 1), 1, &tids[1]);
    CHECK_EQ(pvm_tasks(0, &n, &list), 0);
    CHECK_EQ(n, 3);
    CHECK_EQ(pvm_tasks(pvm_tidtohost(tids[1]), &n, &list), 0);
    CHECK_EQ(n, hosts > 1 ? 1 : 3);
    CHECK_EQ(pvm_tasks(tids[1], &n, &list), 0);
    CHECK_EQ(n, 1);
    CHECK_EQ(list[0].ti_tid, tids[1]);
    CHECK_EQ(list[0].ti_ptid, pvm_mytid());
    CHECK_EQ(list[0].ti_host, pvm_tidtohost(tids[1]));
    CHECK_TEXT(list[0].ti_a_out, check_program());
    CHECK_EQ(list[0].ti_flag & 2, 2);
    CHECK(check_alive(list[0].ti_pid));
    CHECK_EQ(pvm_tasks(pvm_mytid(), &n, &list), 0);
    CHECK_EQ(n, 1);
    CHECK_EQ(list[0].ti_ptid, 0);
    CHECK_EQ(list[0].ti_pid, getpid());
    CHECK_EQ(pvm_tasks(0x3ffc0000, &n, &list), PvmNoHost);
    for (int i = 0; i < 2; i++)
        check_send_int(tids[i], TAG_GO, 0);
    check_wait_exit(2, tids);
    CHECK_EQ(pvm_tasks(0, &n, NULL), 0);
    CHECK_EQ(n, 1);
}

static void check_clock(int host)
{
    struct timeval clock, delta;
    CHECK_EQ(pvm_hostsync(host, &clock, &delta), 0);
    CHECK(clock.tv_sec > 1000000000);
    CHECK(delta.tv_sec == 0 || delta.tv_sec == -1); /* the same machine */
    CHECK_EQ(pvm_hostsync(0x3ffc0000, &clock, &delta), PvmNoHost);
}

static void check_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        check_failed(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", text, part);
}

static void check_adding(int hosts)
{
    char *names[] = {"127.0.0.11", "127.0.0.12", "127.0.0.11", "no-such-host.invalid"};
    int status[4] = {0}, before, after;
    CHECK_EQ(pvm_config(&before, NULL, NULL), 0);
    CHECK_EQ(before, hosts);
    CHECK_EQ(pvm_addhosts(names, 4, status), 2); /* some may fail, the others are added */
    CHECK(status[0] > 0 && status[1] > 0);
    CHECK_EQ(status[2], PvmDupHost);
    CHECK_EQ(status[3], PvmNoHost);
    CHECK_TEXT(pvm_addhosterr(0), "");
    CHECK_TEXT(pvm_addhosterr(1), "");
    check_says(pvm_addhosterr(2), "has a host of this name");
    check_says(pvm_addhosterr(3), "no-such-host.invalid");
    CHECK_TEXT(pvm_addhosterr(-1), "");
    CHECK_TEXT(pvm_addhosterr(4), "");
    CHECK_EQ(pvm_config(&after, NULL, NULL), 0);
    CHECK_EQ(after, before + 2);
    CHECK_EQ(pvm_addhosts(names, 1, status), 0);
    CHECK_EQ(status[0], PvmDupHost);
    CHECK_TEXT(pvm_addhosterr(3), ""); /* the call before this one had a fourth host */
    CHECK_EQ(pvm_addhosts(names, 0, status), PvmBadParam);
    CHECK_TEXT(pvm_addhosterr(0), "");

    char *gone[] = {"127.0.0.11", "no-such-host.invalid", "127.0.0.12"};
    CHECK_EQ(pvm_delhosts(gone, 3, status), 2);
    CHECK_EQ(status[0], 0);
    CHECK_EQ(status[1], PvmNoHost);
    CHECK_EQ(status[2], 0);
    char *own = (char *)check_host_name(0);
    CHECK_EQ(pvm_delhosts(&own, 1, status), 0);
    CHECK_EQ(status[0], PvmBadParam); /* the master stays */
    CHECK_EQ(pvm_mstat("127.0.0.11"), PvmNoHost);
    CHECK_EQ(pvm_config(&after, NULL, NULL), 0);
    CHECK_EQ(after, before);
}

/* Options may follow a host's name. */
static void check_options_of_host(void)
{
    char *name = "127.0.0.13 sp=2500 sl=77 wd=/", *plain = "127.0.0.13";
    int status, n, slots = pvm_hostslots(0);
    struct pvmhostinfo *list;
    CHECK(slots > 0);
    CHECK_EQ(pvm_addhosts(&name, 1, &status), 1);
    CHECK_EQ(pvm_config(&n, NULL, &list), 0);
    CHECK_TEXT(list[n - 1].hi_name, plain);
    CHECK_EQ(list[n - 1].hi_speed, 2500);
    CHECK_EQ(list[n - 1].hi_tid, status);
    CHECK_EQ(pvm_hostslots(status), 77);
    CHECK_EQ(pvm_hostslots(0), slots + 77);
    int tid = status;
    CHECK_EQ(pvm_delhosts(&plain, 1, &status), 1);
    CHECK_EQ(pvm_hostslots(tid), PvmNoHost);
    CHECK_EQ(pvm_hostslots(-1), PvmBadParam);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1;
    pvm_setopt(PvmAutoErr, 0);
    check_hosts(hosts);
    check_config(hosts);
    check_tasks(hosts);
    check_clock(pvm_tidtohost(pvm_mytid()));
    if (hosts > 1) {
        struct pvmhostinfo *list;
        CHECK_EQ(pvm_config(NULL, NULL, &list), 0);
        check_clock(list[1].hi_tid);
        check_adding(hosts);
        check_options_of_host();
    }
}

static const struct check_role roles[] = {{"child", child}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
