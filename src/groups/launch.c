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

/* Where this library's own installation has the server. */
#ifndef DPVM_PVMGS_PATH
#define DPVM_PVMGS_PATH "/usr/local/bin/pvmgs"
#endif

enum { PAUSE_MAX_MS = 20, START_LIMIT_MS = 20000 };

static void pause_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&t, NULL);
}

/* Waits until the server that was spawned as `child` or another one has its entry; 0 when it ended without. */
static int await_server(int child)
{
    int tid = 0;

    for (int waited_ms = 0, pause = 1; waited_ms < START_LIMIT_MS && !tid; waited_ms += pause) {
        int ended = pvm_pstat(child) != PvmOk;

        tid = pvmi_gserver_find();
        if (ended)
            break;
        if (!tid)
            pause_ms(pause = pause < PAUSE_MAX_MS ? pause + 1 : PAUSE_MAX_MS);
    }
    return tid;
}

/* pvm_spawn() of one task whose output is nobody's: whoever collects ours would wait for the server's end. */
static int spawn(const char *program, int flags)
{
    int output = pvm_setopt(PvmOutputTid, 0), trace = pvm_setopt(PvmTraceTid, 0);
    int tid = 0, started;

    started = pvm_spawn((char *)program, NULL, flags, flags & PvmTaskHost ? "." : "", 1, &tid);
    pvm_setopt(PvmOutputTid, output);
    pvm_setopt(PvmTraceTid, trace);
    return started < 0 ? started : tid;
}

/* Spawns folder/rest if that is a program here; PvmNoFile if not. */
static int spawn_beside(const char *folder, const char *rest)
{
    char path[PATH_MAX], whole[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, rest) >= (int)sizeof(path) || !realpath(path, whole))
        return PvmNoFile;
    return access(whole, X_OK) == 0 ? spawn(whole, PvmTaskHost) : PvmNoFile;
}

/* The folder of this library, or of the program that it is linked into. False when it is not known. */
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

/* The server that belongs to this library comes first: another one in the user's path may speak another language. */
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

static int start(void)
{
    int child = spawn_any(), tid;

    if (child < 0) {
        const char *text = -child < pvm_nerr ? pvm_errlist[-child] : "unknown error";

        fprintf(stderr,
                "libgpvm: cannot start the group server pvmgs: %s. It belongs into $PVM_ROOT/bin/$PVM_ARCH, beside "
                "this library in ../bin, or into a folder of the host's ep= path.\n",
                text);
        return child;
    }
    tid = await_server(child);
    if (tid)
        return tid;
    fprintf(stderr, "libgpvm: the group server pvmgs (t%x) did not come up; see the daemon's log.\n", child);
    return PvmDSysErr;
}

/* Takes the mailbox entry that only one task can have; it vanishes with its owner. */
static int take_lock(void)
{
    int mid = pvm_initsend(PvmDataDefault);

    return mid < 0 ? mid : pvm_putinfo(PVMI_GROUP_START_CLASS, mid, PvmMboxDefault);
}

/* While we hold the lock. The server may have come up between our last look and the lock. */
static int find_or_start(void)
{
    int tid = pvmi_gserver_find();

    if (!tid)
        tid = start();
    pvm_delinfo(PVMI_GROUP_START_CLASS, 0, PvmMboxDefault);
    return tid;
}

int pvmi_launch_server(void)
{
    for (int waited_ms = 0; waited_ms < 2 * START_LIMIT_MS; waited_ms += PAUSE_MAX_MS) {
        int tid, code = take_lock();

        if (code >= 0)
            return find_or_start();
        if (code != PvmDenied)
            return code;
        pause_ms(PAUSE_MAX_MS);
        tid = pvmi_gserver_find();
        if (tid)
            return tid;
    }
    fprintf(stderr, "libgpvm: another task holds the start of the group server and does not go on.\n");
    return PvmDSysErr;
}
