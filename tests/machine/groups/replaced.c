/*
 * replaced - a member is killed while its direct links stay up, as after an outage, when TCP waits before it repeats
 * what was lost. Whoever knows of the end can start another task, which takes the dead one's place at once.
 *
 *   replaced HOSTS; PVM_TRANSPORT is tcp
 */
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "team.h"

enum {
    MEMBERS = 2,
    CALLS = 300,    /* after which there is a link */
    FDS_MAX = 1024, /* descriptors that a task may have open */
    CHILD_S = 60,   /* the child ends by itself if the test fails */
    TAG_DEAD = TAG_TEAM_RESULT + 1
};

/* What the daemon watches is closed, so that it sees the end; links of the transport tcp are not. */
static void close_all_but_links(void)
{
    for (int fd = 0; fd < FDS_MAX; fd++) {
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 || address.ss_family == AF_UNIX)
            close(fd);
    }
}

/* Enters barriers until it has a link to the server; then a child of it keeps the link. In a child made by fork() the
 * library would close it. */
static void victim(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK_EQ(team_join("r", MEMBERS), 1);
    for (int i = 0; i < CALLS; i++)
        CHECK_EQ(pvm_barrier("r", MEMBERS), 0);
    long child = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
    CHECK(child >= 0);
    if (child == 0) {
        close_all_but_links();
        alarm(CHILD_S);
        for (;;)
            pause();
    }
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, (int)child);
    pause();
}

static void successor(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, pvm_joingroup("r"));
    CHECK_EQ(pvm_barrier("r", MEMBERS), 0);
    team_done();
}

static void master(int argc, char **argv)
{
    struct team team;
    int hosts = team_hosts(argc, argv), tid;

    pvm_setopt(PvmRoute, PvmDontRoute); /* a link to the victim would delay our notice, too */
    CHECK_EQ(pvm_joingroup("r"), 0);
    check_spawn("victim", NULL, hosts > 1 ? check_host_name(1) : ".", 1, &tid);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_DEAD, 1, &tid), 0);
    for (int i = 0; i <= CALLS; i++)
        CHECK_EQ(pvm_barrier("r", MEMBERS), 0);
    pid_t child = check_receive_int(tid, TAG_TEAM_NOTE);
    CHECK_EQ(pvm_sendsig(tid, SIGKILL), 0);
    CHECK_EQ(check_receive_int(-1, TAG_DEAD), tid);
    team_start(&team, "successor", 0, 1, 1);
    CHECK_EQ(check_receive_int(team.tids[0], TAG_TEAM_NOTE), 1);
    CHECK_EQ(pvm_barrier("r", MEMBERS), 0);
    team_finish(&team);
    kill(child, SIGKILL);
}

static const struct check_role roles[] = {{"victim", victim}, {"successor", successor}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
