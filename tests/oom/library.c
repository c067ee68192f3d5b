/*
 * library - fails each allocation of libpvm3 once: the call returns an error or does without the memory, and the
 * process continues when memory is back; it must never end. library PRELOAD runs all cases, each by `library run CASE`
 * as the program under test.
 */
#include <err.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "pvmtev.h"
#include "sweep.h"
#include "task.h"

enum { LARGE_BYTES = 300000, EXIT_NOT_BACK = 3, EXIT_USAGE = 2 };

static char large[LARGE_BYTES];

/* ---- buffers ---- */

static int pack_all(void)
{
    char byte = 1;
    short s = 2;
    int i = 3;
    long l = 4;
    float f[2] = {5};
    double d[2] = {6};
    TRY(pvm_pkbyte(&byte, 1, 1) == 0 && pvm_pkshort(&s, 1, 1) == 0 && pvm_pkint(&i, 1, 1) == 0);
    TRY(pvm_pklong(&l, 1, 1) == 0 && pvm_pkfloat(f, 1, 1) == 0 && pvm_pkdouble(d, 1, 1) == 0);
    TRY(pvm_pkcplx(f, 1, 1) == 0 && pvm_pkdcplx(d, 1, 1) == 0 && pvm_pkstr("text") == 0);
    TRY(pvm_pkushort((unsigned short *)&s, 1, 1) == 0 && pvm_pkuint((unsigned *)&i, 1, 1) == 0);
    TRY(pvm_pkulong((unsigned long *)&l, 1, 1) == 0 && pvm_packf("%s %d", "text", i) == 0);
    TRY(pvm_pkbyte(large, LARGE_BYTES, 1) == 0);
    return 0;
}

static int send_to_self(int encoding)
{
    int tid = pvm_mytid(), length;
    TRY(pvm_initsend(encoding) > 0);
    TRY(encoding == PvmDataInPlace ? pvm_pkbyte(large, LARGE_BYTES, 1) == 0 && pvm_pkbyte(large, 9, 1) == 0
                                   : !pack_all());
    TRY(pvm_send(tid, TAG_DATA) == 0);
    TRY(task_receive(tid, TAG_DATA));
    TRY(pvm_bufinfo(pvm_getrbuf(), &length, NULL, NULL) == 0 && length >= LARGE_BYTES);
    return 0;
}

static int buffers(void)
{
    struct pvmminfo info;
    int mid, old;
    char text[16];
    TRY(task_enrol());
    TRY(!send_to_self(PvmDataDefault));
    TRY(!send_to_self(PvmDataRaw));
    TRY(!send_to_self(PvmDataInPlace));
    TRY((mid = pvm_mkbuf(PvmDataDefault)) > 0);
    TRY((old = pvm_setsbuf(mid)) >= 0);
    TRY(pvm_pkstr("inner") == 0);
    TRY(pvm_setsbuf(old) == mid && pvm_initsend(PvmDataDefault) > 0);
    TRY(pvm_pkmesg(mid) == 0 && pvm_pkmesgbody(mid) == 0);
    TRY(pvm_getminfo(mid, &info) == 0 && pvm_setminfo(mid, &info) == 0);
    TRY(pvm_freebuf(mid) == 0);
    TRY(pvm_send(pvm_mytid(), TAG_DATA) == 0 && task_receive(-1, TAG_DATA));
    TRY((mid = pvm_upkmesg()) > 0);
    TRY((old = pvm_setrbuf(mid)) > 0 && pvm_upkstr(text) == 0 && !strcmp(text, "inner"));
    TRY(pvm_setrbuf(old) == mid && pvm_freebuf(mid) == 0);
    pvm_exit();
    return 0;
}

/* ---- receiving ---- */

static int taken;

static int take(int mid)
{
    taken++;
    return mid > 0;
}

static int match(int mid, int tid, int tag)
{
    (void)tid;
    int bytes, there;
    return pvm_bufinfo(mid, &bytes, &there, NULL) == 0 && there == tag;
}

static int receiving(void)
{
    int tid, number = 0, context, handler, from, tag, length, *fds;
    struct timeval none = {0, 0};
    TRY(task_enrol());
    tid = pvm_mytid();
    for (int i = 0; i < 80; i++) /* more messages than a linear search of the inbox examines */
        TRY(pvm_psend(tid, 100 + i, &i, 1, PVM_INT) == 0);
    TRY(pvm_probe(tid, 179) > 0);
    TRY(pvm_precv(tid, 179, &number, 1, PVM_INT, &from, &tag, &length) == 0 && number == 79);
    TRY(pvm_nrecv(-1, 178) > 0 && pvm_trecv(tid, 177, &none) > 0 && pvm_recv(tid, -1) > 0);
    int (*old)(int, int, int) = pvm_recvf(match);
    TRY(pvm_recv(-1, 150) > 0);
    pvm_recvf(old);
    TRY((context = pvm_newcontext()) > 0);
    TRY(pvm_setcontext(context) >= 0 && pvm_setcontext(0) == context && pvm_freecontext(context) == 0);
    TRY((handler = pvm_addmhf(tid, 300, pvm_getcontext(), take)) >= 0);
    taken = 0;
    TRY(pvm_psend(tid, 300, &number, 1, PVM_INT) == 0);
    pvm_nrecv(-1, 301);
    TRY(taken == 1 && pvm_delmhf(handler) == 0);
    TRY(pvm_getfds(&fds) > 0);
    pvm_exit();
    return 0;
}

/* ---- the daemon's services ---- */

static int questions(void)
{
    struct pvmhostinfo *hosts;
    struct pvmtaskinfo *tasks;
    struct timeval clock, delta;
    int n, arches, argument[] = {7}, answer[64];
    TRY(task_enrol());
    TRY(pvm_config(&n, &arches, &hosts) == 0);
    TRY(pvm_tasks(0, &n, &tasks) == 0);
    TRY(pvm_mstat(hosts[0].hi_name) == PvmOk && pvm_pstat(pvm_mytid()) == PvmOk);
    TRY(pvm_hostsync(pvm_tidtohost(pvm_mytid()), &clock, &delta) == 0);
    TRY(pvm_archcode(hosts[0].hi_arch) > 0);
    TRY(pvm_tickle(1, argument, &n, answer) == 0);
    TRY(pvm_export("OOM_VALUE") >= 0 && pvm_export("PATH") >= 0 && pvm_unexport("OOM_VALUE") >= 0);
    TRY(pvm_unexport("PATH") >= 0);
    pvm_exit();
    return 0;
}

static int mailbox(void)
{
    struct pvmmboxinfo *info;
    int n, *tids, value = 5, index, request;
    TRY(task_enrol());
    TRY(pvm_initsend(PvmDataDefault) > 0 && pvm_pkint(&value, 1, 1) == 0);
    TRY((index = pvm_putinfo("own", pvm_getsbuf(), PvmMboxMultiInstance)) >= 0);
    TRY(pvm_recvinfo("own", index, PvmMboxDefault) > 0);
    TRY(pvm_getmboxinfo("*", &n, &info) == 0);
    TRY(pvm_getnoresets(&tids, &n) == 0);
    TRY((request = pvm_insert("own table", -1, 4)) >= 0 && pvm_lookup("own table", request, &n) >= 0);
    TRY(pvm_delete("own table", request) >= 0);
    TRY(pvm_delinfo("own", index, PvmMboxDefault) == 0);
    pvm_exit();
    return 0;
}

static int spawning(void)
{
    int tids[3], *siblings, n;
    TRY(task_enrol());
    FILE *sink = fopen("/dev/null", "w");
    TRY(sink && pvm_catchout(sink) == 0);
    TRY(task_spawn(NULL, 3, tids));
    TRY(pvm_notify(PvmTaskExit, TAG_NOTE, 3, tids) == 0);
    TRY(pvm_siblings(&siblings) >= 0);
    TRY(pvm_initsend(PvmDataDefault) > 0 && pvm_pkbyte(large, LARGE_BYTES, 1) == 0);
    TRY(pvm_mcast(tids, 3, TAG_DATA) == 0);
    for (n = 0; n < 3; n++)
        TRY(task_receive(tids[n], TAG_DATA));
    TRY(pvm_sendsig(tids[0], SIGUSR1) == 0 && pvm_kill(tids[1]) == 0);
    task_end(1, tids + 2);
    for (n = 0; n < 3; n++)
        TRY(task_receive(-1, TAG_NOTE));
    TRY(pvm_notify(PvmHostAdd | PvmNotifyCancel, TAG_HOST, -1, NULL) <= 0);
    TRY(pvm_catchout(NULL) == 0);
    fclose(sink);
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
    TEV_MASK_SET(mask, TEV_MYTID);
    TRY(pvm_settmask(PvmTaskSelf, mask) == 0 && pvm_settmask(PvmTaskChild, mask) == 0);
    TRY(pvm_setopt(PvmTraceTid, pvm_mytid()) >= 0 && pvm_setopt(PvmTraceCode, 77) >= 0);
    TRY(task_spawn(NULL, 1, &tid));
    TRY(task_receive(-1, 77));
    task_end(1, &tid);
    pvm_setopt(PvmTraceTid, 0);
    pvm_exit();
    return 0;
}

static int hosts(void)
{
    char *name = "127.0.0.2";
    int status = 0, tid;
    TRY(task_enrol());
    pvm_delhosts(&name, 1, &status); /* if it exists */
    TRY(pvm_notify(PvmHostAdd, TAG_HOST, -1, NULL) == 0);
    TRY(pvm_addhosts(&name, 1, &status) == 1 && status > 0);
    TRY(task_receive(-1, TAG_HOST));
    TRY(task_spawn(name, 1, &tid));
    TRY(pvm_notify(PvmTaskExit, TAG_NOTE, 1, &tid) == 0);
    TRY(pvm_psend(tid, TAG_DATA, large, LARGE_BYTES, PVM_BYTE) == 0 && task_receive(tid, TAG_DATA));
    TRY(pvm_delhosts(&name, 1, &status) == 1);
    TRY(task_receive(-1, TAG_NOTE));
    pvm_exit();
    return 0;
}

/* ---- direct routes ---- */

/* Messages of several kinds over the transport that PVM_TRANSPORT names. */
static int direct(void)
{
    int tids[2];
    static const int encodings[] = {PvmDataRaw, PvmDataInPlace, PvmDataDefault};
    TRY(task_enrol());
    TRY(pvm_setopt(PvmRoute, PvmRouteDirect) >= 0);
    TRY(task_spawn(NULL, 2, tids));
    for (int round = 0; round < 6; round++) {
        TRY(pvm_initsend(encodings[round % 3]) > 0);
        TRY(pvm_pkbyte(large, round < 3 ? 100 : LARGE_BYTES, 1) == 0);
        TRY(pvm_send(tids[0], TAG_DATA) == 0 && task_receive(tids[0], TAG_DATA));
        TRY(pvm_mcast(tids, 2, TAG_DATA) == 0 && task_receive(tids[0], TAG_DATA) && task_receive(tids[1], TAG_DATA));
    }
    task_end(2, tids);
    pvm_exit();
    return 0;
}

static const struct {
    const char *name, *transport;
    int (*run)(void);
} cases[] = {
    {"buffers", "", buffers}, {"receiving", "", receiving}, {"questions", "", questions},
    {"mailbox", "", mailbox}, {"spawning", "", spawning},   {"traces", "", traces},
    {"hosts", "", hosts},     {"daemon", "daemon", direct}, {"shm", "shm", direct},
    {"tcp", "tcp", direct},
};

enum { CASES = sizeof cases / sizeof *cases };

/* A call that fails once works afterwards, for a new task at the latest. */
static int run(const char *name)
{
    for (int i = 0; i < CASES; i++) {
        if (strcmp(cases[i].name, name) != 0)
            continue;
        if (!cases[i].run())
            return 0;
        task_leave();
        task_be_patient();
        return cases[i].run() ? EXIT_NOT_BACK : 0;
    }
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "echo"))
        return task_echo();
    if (argc == 3 && !strcmp(argv[1], "run"))
        return run(argv[2]);
    if (argc < 2)
        errx(EXIT_USAGE, "usage: library PRELOAD [GONE_MS [CASE]]");
    sweep_begin(argv[1], "library", argc > 2 ? atoi(argv[2]) : 0);
    for (int i = 0; i < CASES; i++) {
        char *arguments[] = {task_program(), "run", (char *)cases[i].name, NULL};
        setenv("PVM_TRANSPORT", *cases[i].transport ? cases[i].transport : "auto", 1);
        if (argc < 4 || strstr(argv[3], cases[i].name))
            sweep_program(cases[i].name, arguments, 0);
    }
    return sweep_end("library");
}
