#include "launch.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "gserver.h"
#include "proto.h"
#include "pvm3.h"

/* The server in this library's own installation. */
#ifndef DPVM_PVMGS_PATH
#define DPVM_PVMGS_PATH "/usr/local/bin/pvmgs"
#endif

enum { PAUSE_MAX_MS = 20, START_LIMIT_MS = 20000, STARTS_MAX = 20 };

static void pause_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&t, NULL);
}

/* The tid of the server in the mailbox, or 0: not one that has ended. */
static int find_living(void)
{
    int tid = pvmg_gserver_find();

    return pvmg_gserver_is_ended(tid) ? 0 : tid;
}

/* The mailbox takes a new server when it has heard of the end of the old one. */
static void await_vacancy(void)
{
    for (int waited_ms = 0, pause = 1; waited_ms < START_LIMIT_MS && pvmg_gserver_is_ended(pvmg_gserver_find());
         waited_ms += pause)
        pause_ms(pause = pause < PAUSE_MAX_MS ? pause + 1 : PAUSE_MAX_MS);
}

/* Waits until the server `child`, or another one, is in the mailbox; 0 when `child` ended first or time is up. */
static int await_server(int child)
{
    int tid = 0;

    for (int waited_ms = 0, pause = 1; waited_ms < START_LIMIT_MS && !tid; waited_ms += pause) {
        int ended = pvm_pstat(child) != PvmOk;

        tid = find_living();
        if (ended)
            break;
        if (!tid)
            pause_ms(pause = pause < PAUSE_MAX_MS ? pause + 1 : PAUSE_MAX_MS);
    }
    return tid;
}

/* Spawns one task without output collection: a collector of our output would wait for the server's end. */
static int spawn(const char *program, int flags)
{
    int output = pvm_setopt(PvmOutputTid, 0), trace = pvm_setopt(PvmTraceTid, 0);
    int tid = 0, started;

    started = pvm_spawn((char *)program, NULL, flags, flags & PvmTaskHost ? "." : "", 1, &tid);
    pvm_setopt(PvmOutputTid, output);
    pvm_setopt(PvmTraceTid, trace);
    return started < 0 ? started : tid;
}

/* Spawns folder/rest if it is an executable; else PvmNoFile. */
static int spawn_beside(const char *folder, const char *rest)
{
    char path[PATH_MAX], whole[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, rest) >= (int)sizeof(path) || !realpath(path, whole))
        return PvmNoFile;
    return access(whole, X_OK) == 0 ? spawn(whole, PvmTaskHost) : PvmNoFile;
}

/* The folder of this library, or of the program that it is linked into; false when unknown. */
static bool own_folder(char folder[PATH_MAX])
{
    char whole[PATH_MAX];
    Dl_info info;
    char *slash;

    if (!dladdr((void *)own_folder, &info) || !info.dli_fname || !realpath(info.dli_fname, whole))
        return false;
    slash = strrchr(whole, '/');
    if (!slash)
        return false;
    *slash = '\0';
    strcpy(folder, whole);
    return true;
}

/* Prefers the server of this library's installation: one in the user's path may have another protocol version. */
static int spawn_any(void)
{
    static const char *const places[] = {"pvmgs", "../bin/pvmgs", "../../bin/pvmgs"};
    char folder[PATH_MAX];
    int tid = PvmNoFile;

    if (own_folder(folder))
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && tid == PvmNoFile; i++)
            tid = spawn_beside(folder, places[i]);
    if (tid == PvmNoFile)
        tid = spawn_beside("/", DPVM_PVMGS_PATH);
    if (tid == PvmNoFile)
        tid = spawn("pvmgs", PvmTaskHost);
    return tid == PvmNoFile ? spawn("pvmgs", PvmTaskDefault) : tid;
}

/* The tid of a server that runs, 0 if the one started here has ended already, or an error. */
static int start_once(int *child)
{
    *child = spawn_any();
    if (*child >= 0)
        return await_server(*child);

    const char *text = -*child < pvm_nerr ? pvm_errlist[-*child] : "unknown error";
    fprintf(stderr,
            "libgpvm: cannot start the group server pvmgs: %s. Install it in $PVM_ROOT/bin/$PVM_ARCH, in ../bin "
            "beside this library, or in a directory of the host's ep= path.\n",
            text);
    return *child;
}

/* A server may be killed, or lose its host, before this task hears of it. */
static int start(void)
{
    int child = 0, tid = 0;

    for (int i = 0; i < STARTS_MAX && tid == 0; i++) {
        tid = start_once(&child);
        if (tid == 0)
            pause_ms(PAUSE_MAX_MS);
    }
    if (tid)
        return tid;
    fprintf(stderr, "libgpvm: the group server pvmgs (t%x) did not start; see the daemon's log.\n", child);
    return PvmDSysErr;
}

/* Takes a mailbox entry that only one task can own; it disappears when its owner ends. */
static int take_lock(void)
{
    int mid = pvm_initsend(PvmDataDefault);

    return mid < 0 ? mid : pvm_putinfo(PVMG_GROUP_START_CLASS, mid, PvmMboxDefault);
}

/* Called with the lock held. The server may have started between our last look and the lock. */
static int find_or_start(void)
{
    await_vacancy();
    int tid = find_living();

    if (!tid)
        tid = start();
    pvm_delinfo(PVMG_GROUP_START_CLASS, 0, PvmMboxDefault);
    return tid;
}

int pvmg_launch_server(void)
{
    for (int waited_ms = 0; waited_ms < 2 * START_LIMIT_MS; waited_ms += PAUSE_MAX_MS) {
        int tid, code = take_lock();

        if (code >= 0)
            return find_or_start();
        if (code != PvmDenied)
            return code;
        pause_ms(PAUSE_MAX_MS);
        tid = find_living();
        if (tid)
            return tid;
    }
    fprintf(stderr, "libgpvm: another task is starting the group server but does not finish.\n");
    return PvmDSysErr;
}
