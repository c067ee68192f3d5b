/*
 * groups - fails each allocation once in the group server, or in libgpvm3 in a member's process. The members' calls
 * return an error or continue; the server must survive. groups PRELOAD server PVMGS, or groups PRELOAD library, which
 * runs `groups run` as the program under test. Halts the machine at the end.
 */
#include <err.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "sweep.h"
#include "task.h"

enum { MEMBERS = 2, COUNT = 500, EXIT_NOT_BACK = 3, EXIT_USAGE = 2, ANSWER_S = 5 };

extern struct timeval *pvmgs_tmout; /* time limit of a call for the server; variable of libgpvm3 */

/* ---- the members, each in its own process ---- */

static int join(char *group)
{
    TRY(task_enrol());
    pvmgs_tmout = &(struct timeval){ANSWER_S, 0};
    TRY(pvm_joingroup(group) >= 0);
    TRY(pvm_barrier(group, MEMBERS) == 0);
    return 0;
}

static int ask(char *group)
{
    int instance = pvm_getinst(group, pvm_mytid());
    TRY(instance >= 0 && pvm_gettid(group, instance) == pvm_mytid());
    TRY(pvm_gsize(group) == MEMBERS);
    return 0;
}

static int talk(char *group)
{
    static int mine[COUNT], all[MEMBERS * COUNT];
    TRY(pvm_initsend(PvmDataDefault) > 0 && pvm_pkint(mine, COUNT, 1) == 0);
    TRY(pvm_bcast(group, TAG_DATA) == 0 && task_receive(-1, TAG_DATA));
    TRY(pvm_freezegroup(group, MEMBERS) >= 0);
    TRY(pvm_reduce(PvmSum, mine, COUNT, PVM_INT, TAG_NOTE, group, 0) == 0);
    TRY(pvm_gather(all, mine, COUNT, PVM_INT, TAG_NOTE + 1, group, 0) == 0);
    TRY(pvm_scatter(mine, all, COUNT, PVM_INT, TAG_NOTE + 2, group, 0) == 0);
    return 0;
}

static int take_part(char *group)
{
    int line = join(group);
    line = line ? line : ask(group);
    line = line ? line : talk(group);
    if (!line && pvm_lvgroup(group) < 0)
        line = __LINE__;
    return line;
}

/* A partner of the other member. */
static int second(char *group)
{
    take_part(group);
    pvm_exit();
    return 0;
}

/* Both join a group of their own. */
static int meet(void)
{
    char group[32], *argv[] = {"second", group, NULL};
    int tid, line;
    TRY(task_enrol());
    snprintf(group, sizeof group, "group of %x", pvm_mytid());
    TRY(pvm_spawn(task_program(), argv, PvmTaskDefault, NULL, 1, &tid) == 1);
    line = take_part(group);
    if (line)
        pvm_kill(tid);
    pvm_exit();
    return line;
}

/* ---- the server ---- */

static char *server_path;

static bool has_server(void)
{
    return task_enrol() && pvm_recvinfo("pvmgs", 0, PvmMboxDefault) > 0;
}

static pid_t start_server(void)
{
    char *argv[] = {server_path, NULL};
    signal(SIGTERM, SIG_IGN); /* it must exit by itself when its daemon does */
    pid_t pid = sweep_start(argv, -1);
    signal(SIGTERM, SIG_DFL);
    for (int tries = 0; tries < 200 && !has_server(); tries++) {
        pvm_exit();
        usleep(50000);
    }
    pvm_exit();
    return pid;
}

static void halt(void)
{
    if (fork())
        return;
    signal(SIGTERM, SIG_IGN);
    if (task_enrol())
        pvm_halt();
    _exit(0);
}

static void sweep_server(void)
{
    static const struct sweep_scenario scenario = {"server", meet};
    pid_t server = start_server();
    sweep_scenario(&scenario, &server, start_server);
    halt();
    sweep_wait_end("server", server, 0);
}

/* ---- the library: a call that fails once works afterwards ---- */

static int run(void)
{
    if (!meet())
        return 0;
    task_leave();
    task_be_patient();
    return meet() ? EXIT_NOT_BACK : 0;
}

static void sweep_library(void)
{
    char *arguments[] = {task_program(), "run", NULL};
    sweep_program("library", arguments, 0);
    halt();
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "second"))
        return second(argv[2]);
    if (argc == 2 && !strcmp(argv[1], "run"))
        return run();
    if (argc < 3)
        errx(EXIT_USAGE, "usage: groups PRELOAD (server PVMGS | library)");
    bool server = !strcmp(argv[2], "server");
    server_path = argv[3];
    sweep_begin(argv[1], server ? "pvmgs" : "groups", 0);
    if (server)
        sweep_server();
    else
        sweep_library();
    return sweep_end(server ? "group server" : "group library");
}
