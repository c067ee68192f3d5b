/*
 * server - the group server is killed: calls that wait go on, and a new server has the groups. Also a server that does
 * not answer, forged records, and pvm_gstat's output: server HOSTS PVM_GSTAT.
 */
#include <signal.h>
#include <sys/wait.h>
#include "team.h"

enum { MEMBERS = 4 };

extern int gs_getgstid(void);
extern struct timeval *pvmgs_tmout;

/* The server is killed when one member waits in the gather and two in the barrier after it. */
static void member(int argc, char **argv)
{
    int frozen = team_argument(argc, argv), data = 1, all[MEMBERS];
    int instance = team_join_kind("k", MEMBERS, frozen), server = gs_getgstid();
    pvm_setopt(PvmAutoErr, 0);
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, server);
    if (instance == 0)
        check_receive_int(pvm_parent(), TAG_TEAM_GO);
    CHECK_EQ(pvm_gather(all, &instance, 1, PVM_INT, 1, "k", 2), 0);
    for (int i = 0; instance == 2 && i < MEMBERS; i++)
        CHECK_EQ(all[i], i);
    CHECK_EQ(pvm_barrier("k", MEMBERS), 0);
    CHECK_EQ(pvm_scatter(&data, all, 1, PVM_INT, 1, "k", 2), 0);
    CHECK_EQ(data, instance);
    CHECK_EQ(pvm_gsize("k"), MEMBERS);
    CHECK_EQ(pvm_getinst("k", pvm_mytid()), instance);
    CHECK_EQ(pvm_joingroup("k"), frozen ? PvmNotInGroup : PvmDupGroup);
    CHECK(gs_getgstid() > 0 && gs_getgstid() != server);
    CHECK_EQ(pvm_barrier("k", MEMBERS), 0);
    CHECK_EQ(pvm_lvgroup("k"), 0);
    team_done();
}

/* The dead one's groups have records, and no group leaves one. */
static int count_records(void)
{
    struct pvmmboxinfo *classes;
    int n = 0;
    CHECK_EQ(pvm_getmboxinfo("pvmgs:*", &n, &classes), 0);
    return n;
}

static void check_death(int frozen, int hosts)
{
    struct team t;
    int server = 0;
    team_start(&t, "member", frozen, MEMBERS, hosts);
    for (int i = 0; i < MEMBERS; i++)
        server = check_receive_int(-1, TAG_TEAM_NOTE);
    check_sleep_ms(100);
    CHECK_EQ(count_records(), 1);
    CHECK_EQ(pvm_sendsig(server, SIGKILL), 0);
    check_wait_exit(1, &server);
    check_sleep_ms(50);
    check_send_int(pvm_gettid("k", 0), TAG_TEAM_GO, 1);
    team_finish(&t);
    CHECK_EQ(pvm_gsize("k"), PvmNoGroup);
    CHECK_EQ(count_records(), 0);
}

/* What is no record of a group does no harm. */
static void check_forgery(void)
{
    int server = gs_getgstid(), values[40] = {7, 1, 5, 1};
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "pvmgs:%d", 1000 + i);
        int mid = pvm_initsend(PvmDataDefault);
        values[0] = i == 0 ? 39 : i == 1 ? 1 << 30 : -1;
        values[2] = 1000 + i;
        CHECK_EQ(pvm_pkint(values, 40, 1), 0);
        CHECK_EQ(pvm_putinfo(name, mid, PvmMboxPersistent | PvmMboxOverWritable), 0);
    }
    CHECK_EQ(count_records(), 3);
    CHECK_EQ(pvm_sendsig(server, SIGKILL), 0);
    check_wait_exit(1, &server);
    CHECK_EQ(pvm_gsize("none"), PvmNoGroup);
    CHECK_EQ(count_records(), 0);
}

/* A server that does not answer: the call returns after its time limit. */
static void check_silence(void)
{
    struct timeval limit = {0, 200000};
    int server = gs_getgstid();
    CHECK(server > 0);
    CHECK_EQ(pvm_sendsig(server, SIGSTOP), 0);
    check_sleep_ms(100);
    pvmgs_tmout = &limit;
    CHECK_EQ(pvm_gsize("none"), PvmDSysErr);
    pvmgs_tmout = NULL;
    CHECK_EQ(pvm_sendsig(server, SIGCONT), 0);
    CHECK_EQ(pvm_gsize("none"), PvmNoGroup);
}

/* Runs pvm_gstat and returns its output; static storage. */
static const char *run_gstat(const char *program, const char *argument)
{
    static char text[4096];
    char command[1100];
    snprintf(command, sizeof command, "%s %s", program, argument);
    FILE *pipe = popen(command, "r");
    CHECK(pipe != NULL);
    size_t n = fread(text, 1, sizeof text - 1, pipe);
    text[n] = '\0';
    CHECK_EQ(pclose(pipe), 0);
    return text;
}

static void check_gstat(const char *program)
{
    char expected[300];
    CHECK_EQ(pvm_joingroup("one"), 0);
    CHECK_EQ(pvm_joingroup("two"), 0);
    snprintf(expected, sizeof expected, "group: one, size: 1,  barrier_count -1, barrier_reached 0\ntids:\n0 0x%x\t\n",
             (unsigned)pvm_mytid());
    CHECK_TEXT(run_gstat(program, "one"), expected);
    CHECK(strstr(run_gstat(program, ""), "group: two") != NULL);
    CHECK_EQ(pvm_lvgroup("one"), 0);
    CHECK_EQ(pvm_lvgroup("two"), 0);
    CHECK_TEXT(run_gstat(program, ""), "no groups exist\n");
}

static void master(int argc, char **argv)
{
    CHECK(argc > 2);
    const char *gstat = argv[argc - 1];
    int hosts = team_hosts(argc - 1, argv);
    pvm_setopt(PvmAutoErr, 0);
    CHECK_TEXT(run_gstat(gstat, ""), "no groups exist\n"); /* and does not start a server */
    CHECK_EQ(pvm_recvinfo("pvmgs", 0, 0), PvmNotFound);
    for (int frozen = 0; frozen <= 1; frozen++)
        check_death(frozen, hosts);
    check_silence();
    check_forgery();
    check_gstat(gstat);
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
