/*
 * daemon - fails each allocation of pvmd3 once: at its start, and while it serves tasks, other hosts and strangers.
 * daemon PRELOAD PVMD [GONE_MS]
 */
#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pvmtev.h"
#include "sweep.h"
#include "task.h"

enum { LARGE_BYTES = 3000000 };

static char pvmd_path[4096], wrapper_path[4096], socket_path[108];

/* ---- scenarios ---- */

static int questions(void)
{
    struct pvmhostinfo *hosts;
    struct pvmtaskinfo *tasks;
    struct timeval clock, delta;
    int n, arches, argument[] = {7}, answer[16], context;
    TRY(task_enrol());
    TRY(pvm_config(&n, &arches, &hosts) == 0);
    TRY(pvm_tasks(0, &n, &tasks) == 0);
    TRY(pvm_mstat(hosts[0].hi_name) == PvmOk);
    TRY(pvm_pstat(pvm_mytid()) == PvmOk);
    TRY(pvm_hostsync(pvm_tidtohost(pvm_mytid()), &clock, &delta) == 0);
    TRY(pvm_tickle(1, argument, &n, answer) == 0);
    TRY((context = pvm_newcontext()) > 0);
    TRY(pvm_freecontext(context) == 0);
    pvm_exit();
    return 0;
}

static int tasks(void)
{
    int tids[3], *siblings, n;
    TRY(task_enrol());
    FILE *sink = fopen("/dev/null", "w");
    pvm_catchout(sink);
    TRY(task_spawn(NULL, 3, tids));
    TRY(pvm_notify(PvmTaskExit, TAG_NOTE, 3, tids) == 0);
    TRY(pvm_siblings(&siblings) >= 0);
    TRY(pvm_initsend(PvmDataDefault) > 0);
    TRY(pvm_mcast(tids, 3, TAG_DATA) == 0);
    for (n = 0; n < 3; n++)
        TRY(task_receive(tids[n], TAG_DATA));
    TRY(pvm_sendsig(tids[0], SIGUSR1) == 0);
    TRY(pvm_kill(tids[1]) == 0);
    task_end(1, tids + 2);
    for (n = 0; n < 3; n++)
        TRY(task_receive(-1, TAG_NOTE));
    TRY(pvm_spawn("/no/such/program", NULL, PvmTaskDefault, NULL, 1, tids) == 0);
    pvm_exit();
    return 0;
}

static char large[LARGE_BYTES];

static int messages(void)
{
    int tid;
    TRY(task_enrol());
    pvm_setopt(PvmRoute, PvmDontRoute);
    TRY(task_spawn(NULL, 1, &tid));
    TRY(pvm_initsend(PvmDataRaw) > 0);
    TRY(pvm_pkbyte(large, LARGE_BYTES, 1) == 0);
    TRY(pvm_send(tid, TAG_DATA) == 0);
    TRY(pvm_send(tid, TAG_DATA) == 0);
    TRY(task_receive(tid, TAG_DATA));
    TRY(task_receive(tid, TAG_DATA));
    task_end(1, &tid);
    pvm_exit();
    return 0;
}

static int mailbox(void)
{
    struct pvmmboxinfo *info;
    int n, value = 5, index;
    TRY(task_enrol());
    TRY(pvm_initsend(PvmDataDefault) > 0);
    TRY(pvm_pkint(&value, 1, 1) == 0);
    TRY((index = pvm_putinfo("box", pvm_getsbuf(), PvmMboxMultiInstance)) >= 0);
    TRY(pvm_putinfo("box", pvm_getsbuf(), PvmMboxMultiInstance) >= 0);
    TRY(pvm_recvinfo("box", index, PvmMboxDefault) > 0);
    TRY(pvm_getmboxinfo("*", &n, &info) == 0);
    TRY(pvm_insert("table", -1, 4) >= 0);
    TRY(pvm_lookup("table", 0, &n) >= 0);
    TRY(pvm_delete("table", 0) >= 0);
    TRY(pvm_delinfo("box", index, PvmMboxDefault) == 0);
    pvm_exit();
    return 0;
}

/* The mailbox entry for which a task with this tid waits; each pass has its own. */
static char *entry_for(int tid)
{
    static char name[32];
    snprintf(name, sizeof name, "for %x", tid);
    return name;
}

/* Creates the entry, even if it loses its connection several times. */
static int putter(int parent)
{
    usleep(10000);
    for (int tries = 0; tries < 100; tries++) {
        if (task_enrol() && pvm_initsend(PvmDataDefault) > 0 &&
            pvm_putinfo(entry_for(parent), pvm_getsbuf(), PvmMboxPersistent | PvmMboxOverWritable) >= 0)
            break;
        pvm_exit();
        usleep(10000);
    }
    pvm_exit();
    return 0;
}

static int waiting(void)
{
    char own[16], *argv[] = {"putter", own, NULL};
    int tid;
    TRY(task_enrol());
    snprintf(own, sizeof own, "%d", pvm_mytid());
    TRY(pvm_spawn(task_program(), argv, PvmTaskDefault, NULL, 1, &tid) == 1);
    TRY(pvm_recvinfo(entry_for(pvm_mytid()), 0, PvmMboxWaitForInfo) > 0);
    TRY(pvm_delinfo(entry_for(pvm_mytid()), 0, PvmMboxDefault) == 0);
    pvm_exit();
    return 0;
}

static int traces(void)
{
    Pvmtmask mask;
    int tid;
    TRY(task_enrol());
    TEV_MASK_INIT(mask);
    TEV_MASK_SET(mask, TEV_SEND);
    TRY(pvm_settmask(PvmTaskChild, mask) == 0);
    pvm_setopt(PvmTraceTid, pvm_mytid());
    pvm_setopt(PvmTraceCode, 77);
    pvm_setopt(PvmOutputTid, pvm_mytid());
    pvm_setopt(PvmOutputCode, 78);
    TRY(task_spawn(NULL, 1, &tid));
    TRY(task_receive(-1, 77));
    TRY(task_receive(-1, 78));
    task_end(1, &tid);
    pvm_exit();
    return 0;
}

static int strangers(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, socket_path);
    for (int i = 0; i < 2; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        TRY(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
        if (i)
            TRY(send(fd, large, 500, MSG_NOSIGNAL) == 500);
        close(fd);
    }
    TRY(task_enrol());
    pvm_exit();
    return 0;
}

/* The host of the previous pass, which has lost its task, may still be joining. */
static bool add_host(char *line, char *name, int *status)
{
    for (int tries = 0; tries < 400; tries++) {
        if (pvm_addhosts(&line, 1, status) == 1)
            return *status > 0;
        if (*status != PvmDupHost)
            return false;
        pvm_delhosts(&name, 1, status);
        usleep(10000);
    }
    return false;
}

static int hosts(void)
{
    char line[5000], *name = "127.0.0.2";
    int status = 0, tid = 0, other;
    snprintf(line, sizeof line, "127.0.0.2 dx=%s", wrapper_path);
    TRY(task_enrol());
    TRY(pvm_notify(PvmHostAdd, TAG_NOTE, -1, NULL) == 0);
    TRY(add_host(line, name, &status));
    TRY(task_receive(-1, TAG_NOTE));
    TRY(task_spawn(name, 1, &tid));
    TRY(task_spawn(".", 1, &other));
    TRY(pvm_notify(PvmTaskExit, TAG_NOTE, 1, &tid) == 0);
    TRY(pvm_notify(PvmHostDelete, TAG_HOST, 1, &status) == 0);
    TRY(pvm_initsend(PvmDataRaw) > 0);
    TRY(pvm_pkbyte(large, 200000, 1) == 0);
    TRY(pvm_mcast((int[]){tid, other}, 2, TAG_DATA) == 0);
    TRY(task_receive(tid, TAG_DATA));
    TRY(task_receive(other, TAG_DATA));
    task_end(1, &other);
    TRY(pvm_delhosts(&name, 1, &status) == 1);
    TRY(task_receive(-1, TAG_NOTE));
    TRY(task_receive(-1, TAG_HOST));
    pvm_exit();
    return 0;
}

static const struct sweep_scenario scenarios[] = {
    {"questions", questions}, {"tasks", tasks},   {"messages", messages},   {"mailbox", mailbox},
    {"waiting", waiting},     {"traces", traces}, {"strangers", strangers}, {"hosts", hosts},
};

/* ---- the daemon ---- */

/* Reads the line that a daemon prints when it is ready; false: it has ended without one. */
static bool read_line(int fd)
{
    size_t length = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (length < sizeof socket_path - 1 && poll(&p, 1, 20000) > 0 && read(fd, &socket_path[length], 1) == 1)
        if (socket_path[length++] == '\n') {
            socket_path[length - 1] = '\0';
            return true;
        }
    return false;
}

static pid_t try_start(bool *ready)
{
    int line[2];
    char *argv[] = {pvmd_path, NULL};
    if (pipe(line) < 0)
        err(2, "pipe");
    pid_t pid = sweep_start(argv, line[1]);
    close(line[1]);
    *ready = read_line(line[0]);
    close(line[0]);
    return pid;
}

static pid_t start_daemon(void)
{
    bool ready;
    pid_t pid = try_start(&ready);
    if (!ready)
        errx(2, "the daemon does not start");
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

/* A daemon from start to end; it may refuse to start. */
static void sweep_life(void)
{
    bool fired = true, ready;
    while (fired) {
        sweep_arm();
        pid_t daemon = try_start(&ready);
        if (ready)
            kill(daemon, SIGTERM);
        sweep_wait_end("life", daemon, 15);
        fired = sweep_disarm();
    }
}

/* Launches the daemon of the second host. It is tested, too, except for leaks: checking them at its end takes long. */
static void write_wrapper(const char *preload)
{
    snprintf(wrapper_path, sizeof wrapper_path, "%s/pvmd", getenv("PVM_TMP"));
    FILE *file = fopen(wrapper_path, "w");
    if (!file ||
        fprintf(file, "#!/bin/sh\nLD_PRELOAD=%.*s exec %s \"$@\"\n", (int)strcspn(preload, ":"), preload, pvmd_path) <
            0 ||
        fclose(file) || chmod(wrapper_path, 0700) < 0)
        err(2, "%s", wrapper_path);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return task_echo();
    if (argc == 3 && !strcmp(argv[1], "putter"))
        return putter(atoi(argv[2]));
    if (argc < 3)
        errx(2, "usage: daemon PRELOAD PVMD [GONE_MS [SCENARIO]]");
    snprintf(pvmd_path, sizeof pvmd_path, "%s", argv[2]);
    sweep_begin(argv[1], "pvmd3", argc > 3 ? atoi(argv[3]) : 0);
    write_wrapper(argv[1]);
    pid_t daemon = start_daemon();
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (argc < 5 || strstr(argv[4], scenarios[i].name))
            sweep_scenario(&scenarios[i], &daemon, start_daemon);
    halt();
    sweep_wait_end("end", daemon, 0);
    if (argc < 5 || strstr(argv[4], "life"))
        sweep_life();
    remove(wrapper_path);
    return sweep_end("daemon");
}
