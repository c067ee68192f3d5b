/*
 * server - the group server is killed: calls that wait for it end with an error, and later calls start a new one
 * without the old groups. Also pvm_gstat's output: server HOSTS PVM_GSTAT.
 */
#include <signal.h>
#include <sys/wait.h>
#include "team.h"

enum { MEMBERS = 4 };

extern int gs_getgstid(void);
extern struct timeval *pvmgs_tmout;

static void member(int argc, char **argv)
{
    int frozen = team_argument(argc, argv), data = 1, all[MEMBERS];
    int instance = team_join_kind("k", MEMBERS, frozen);
    pvm_setopt(PvmAutoErr, 0);
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, gs_getgstid());
    if (instance == 0) /* never enters the call */
        check_receive_int(pvm_parent(), TAG_TEAM_GO);
    else if (instance == 1)
        CHECK_EQ(pvm_barrier("k", MEMBERS - 1), PvmDSysErr);
    else if (instance == 2)
        CHECK_EQ(pvm_gather(all, &data, 1, PVM_INT, 1, "k", 2), PvmDSysErr);
    else
        CHECK_EQ(pvm_scatter(&data, all, 1, PVM_INT, 1, "k", 0), PvmDSysErr);
    if (instance != 0) {
        check_send_int(pvm_parent(), TAG_TEAM_RESULT, instance);
        check_receive_int(pvm_parent(), TAG_TEAM_GO);
    }
    int code = pvm_gsize("k");
    CHECK(code == PvmNoGroup || code >= 1); /* none, or the others have created it again */
    CHECK(pvm_joingroup("k") >= 0);
    CHECK_EQ(pvm_barrier("k", MEMBERS), 0);
    team_done();
}

static void check_death(int frozen, int hosts)
{
    struct team t;
    int server = 0;
    team_start(&t, "member", frozen, MEMBERS, hosts);
    for (int i = 0; i < MEMBERS; i++)
        server = check_receive_int(-1, TAG_TEAM_NOTE);
    check_sleep_ms(100);
    CHECK_EQ(pvm_sendsig(server, SIGKILL), 0);
    check_wait_exit(1, &server);
    check_sleep_ms(50);
    for (int i = 1; i < MEMBERS; i++)
        check_receive_int(-1, TAG_TEAM_RESULT);
    for (int i = 0; i < MEMBERS; i++)
        check_send_int(t.tids[i], TAG_TEAM_GO, 1);
    team_finish(&t);
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
    check_gstat(gstat);
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
