/* collect.c - see collect.h. */
#include "collect.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "core/hash.h"
#include "clock.h"
#include "message.h"
#include "record.h"
#include "tools/pvm-info/whole.h"

enum {
    LOOK_MS = 200,
    LATECOMER_MS = 100,
    LOCK_LIMIT_MS = 5000,
    EXPECTED_LIMIT_US = 3000000, /* how long to wait for silent tasks after all others have ended */
    FILE_BUFFER_BYTES = 1 << 18,
    NAME_BYTES = 1200
};

/* A spawned task that is silent (EXPECTED) may still send events, or may never be traced (pvmgs). */
enum state { EXPECTED, LIVING, ENDED };

struct known {
    int tid; /* of a task or a host */
    enum state state;
    bool named; /* for a task: its name is in the file */
    UT_hash_handle hh;
};

static struct {
    FILE *file;
    const char *path;
    char entry[NAME_BYTES]; /* name of the mailbox entry */
    int context, tid;
    struct known *tasks, *hosts;
    int count[ENDED + 1];  /* number of tasks by state */
    int64_t last_heard_us; /* time of the last message */
    int64_t events, lost;
    bool failed; /* the file cannot be written any more */
    struct message_layouts *layouts;
} collector;

static volatile sig_atomic_t told_to_end;

static void on_terminate(int signal)
{
    (void)signal;
    told_to_end = 1;
}

/* ---- the mailbox entry by which tasks find the collector ---- */

/* Writes the entry, with a fault for libpvm to report; "" if there is none. */
static int announce(const char *fault)
{
    int mid = pvm_initsend(PvmDataDefault), tag = COLLECT_TRACE;
    pvm_pkint(&collector.context, 1, 1);
    pvm_pkint(&tag, 1, 1);
    pvm_pkstr((char *)fault);
    return pvm_putinfo(collector.entry, mid, PvmMboxDefault);
}

/* ---- the file ---- */

static void give_up(int error)
{
    char fault[NAME_BYTES + 256];
    collector.failed = true;
    snprintf(fault, sizeof fault, "cannot write %s: %s; the trace ends after %" PRId64 " events", collector.path,
             strerror(error), collector.events);
    fprintf(stderr, "pvm-trace: %s\n", fault);
    announce(fault);
}

/* Flushes all lines to the file. */
static void flush(void)
{
    errno = 0;
    if (!collector.failed && (fflush(collector.file) || ferror(collector.file)))
        give_up(errno);
}

/* Opens and locks the file; NULL with the reason in why[size]. */
static FILE *open_file(const char *path, char *why, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0) {
        snprintf(why, size, "cannot write %s: %s", path, strerror(errno));
        return NULL;
    }
    for (int waited_ms = 0; flock(fd, LOCK_EX | LOCK_NB); waited_ms += LATECOMER_MS) {
        if (errno == EWOULDBLOCK && waited_ms < LOCK_LIMIT_MS) { /* the previous run may be ending */
            usleep(LATECOMER_MS * 1000);
            continue;
        }
        snprintf(why, size, "%s is being written by the trace of another program", path);
        close(fd);
        return NULL;
    }
    FILE *f = ftruncate(fd, 0) && errno != EINVAL ? NULL : fdopen(fd, "w"); /* EINVAL: not a regular file */
    if (!f) {
        snprintf(why, size, "cannot write %s: %s", path, strerror(errno));
        close(fd);
        return NULL;
    }
    setvbuf(f, NULL, _IOFBF, FILE_BUFFER_BYTES);
    return f;
}

/* ---- hosts ---- */

static struct known *find(struct known *table, int tid)
{
    struct known *k;
    HASH_FIND_INT(table, &tid, k);
    return k;
}

static struct known *new_known(int tid)
{
    struct known *k = calloc(1, sizeof *k);
    if (k)
        k->tid = tid;
    return k;
}

static void meet_host(int host)
{
    int count = 0, formats;
    struct pvmhostinfo *hosts = NULL;
    if (find(collector.hosts, host))
        return;
    struct known *k = new_known(host);
    if (!k)
        return;
    if (!PVMC_HASH_ADD(hh, collector.hosts, tid, k)) {
        free(k);
        return;
    }
    if (pvm_config(&count, &formats, &hosts) < 0)
        return;
    for (int i = 0; i < count; i++) {
        if (hosts[i].hi_tid != host)
            continue;
        char *name = strdup(hosts[i].hi_name), *arch = strdup(hosts[i].hi_arch);
        if (name && arch)
            record_host(collector.file, host, name, arch,
                        host == pvm_tidtohost(collector.tid) ? 0 : clock_offset_us(host));
        free(name);
        free(arch);
        return;
    }
}

/* ---- tasks ---- */

/* Records a task with the daemon's data; false when it has already ended. */
static bool record_by_machine(int tid)
{
    int count = 0;
    struct pvmtaskinfo *tasks = NULL;
    if (pvm_tasks(tid, &count, &tasks) < 0 || count != 1)
        return false;
    record_task(collector.file, tid, tasks[0].ti_ptid, tasks[0].ti_host, tasks[0].ti_a_out);
    return true;
}

/* Records a task with the data of its TEV_NEWTASK event. */
static bool record_by_birth(int tid, const struct event *birth)
{
    const struct field *name = event_field(birth, TEV_DID_TN);
    if (!name || name->kind != FIELD_TEXT)
        return false;
    record_task(collector.file, tid, (int)event_number(birth, TEV_DID_PT, PvmNoParent), pvm_tidtohost(tid), name->text);
    return true;
}

static void move_task(struct known *k, enum state to)
{
    collector.count[k->state]--;
    collector.count[to]++;
    k->state = to;
}

static struct known *new_task(int tid, enum state state)
{
    struct known *k = new_known(tid);
    if (!k)
        return NULL;
    if (!PVMC_HASH_ADD(hh, collector.tasks, tid, k)) {
        free(k);
        return NULL;
    }
    k->state = state;
    collector.count[state]++;
    meet_host(pvm_tidtohost(tid));
    return k;
}

/*
 * Adds a task of the program; LIVING if it is known to be traced. `birth` is its TEV_NEWTASK event or NULL. The event
 * may arrive after events of other tasks have named this one, and even after its end.
 */
static void meet_task(int tid, enum state state, const struct event *birth)
{
    struct known *k = find(collector.tasks, tid);
    bool is_new = !k;
    if (k && k->state == EXPECTED)
        move_task(k, state);
    if (tid <= 0 || tid == collector.tid || (is_new && !(k = new_task(tid, state))))
        return;
    if (!k->named)
        k->named = record_by_birth(tid, birth) || (is_new && record_by_machine(tid));
    if (is_new && pvm_notify(PvmTaskExit, COLLECT_ENDED, 1, &tid) < 0)
        move_task(k, ENDED);
}

static void task_ended(int tid)
{
    struct known *k = find(collector.tasks, tid);
    if (k)
        move_task(k, ENDED);
}

/* ---- events ---- */

static void take_event(const struct event *e, void *arg)
{
    (void)arg;
    meet_task(e->tid, LIVING, e->what == TEV_NEWTASK ? e : NULL);
    const struct field *children = e->what == TEV_SPAWN ? event_field(e, TEV_DID_STL) : NULL;
    for (int i = 0; children && children->kind == FIELD_NUMBERS && i < children->count; i++)
        meet_task((int)children->numbers[i], EXPECTED, NULL);
    if (collector.failed)
        return;
    record_event(collector.file, e);
    collector.events++;
}

static void handle_message(int mid)
{
    int tag, sender, tid;
    pvm_bufinfo(mid, NULL, &tag, &sender);
    if (tag == COLLECT_TRACE && message_read(collector.layouts, sender, take_event, NULL))
        collector.lost++;
    else if (tag == COLLECT_ENDED && pvm_upkint(&tid, 1, 1) >= 0)
        task_ended(tid);
    else if (tag == COLLECT_DETACH)
        task_ended(sender);
}

/* Handles the next message; false when none arrives within the time. */
static bool serve_one(int limit_ms)
{
    struct timeval t = {limit_ms / 1000, limit_ms % 1000 * 1000};
    int mid = pvm_nrecv(-1, -1);
    if (!mid) {
        flush(); /* when idle, so that readers see all events and a killed collector loses few */
        mid = pvm_trecv(-1, -1, &t);
    }
    if (mid < 0)
        told_to_end = 1; /* the daemon has ended */
    if (mid > 0) {
        collector.last_heard_us = clock_now_us();
        handle_message(mid);
    }
    return mid > 0;
}

/* Whether an EXPECTED task may still send events. */
static bool somebody_is_expected(void)
{
    return collector.count[EXPECTED] > 0 && clock_now_us() - collector.last_heard_us < EXPECTED_LIMIT_US;
}

/* No traced task is left. Withdraws the mailbox entry, so that a program that starts now gets its own collector. */
static void say_farewell(void)
{
    pvm_delinfo(collector.entry, 0, PvmMboxDefault);
    while (!told_to_end && !collector.count[LIVING] && (serve_one(LATECOMER_MS) || somebody_is_expected()))
        ;
    if (collector.count[LIVING] && !told_to_end)
        announce("");
}

static void serve(void)
{
    while (!told_to_end && collector.count[LIVING]) {
        serve_one(LOOK_MS);
        if (!collector.count[LIVING])
            say_farewell();
    }
    while (serve_one(0)) /* told to end: handle what has arrived */
        ;
}

/* ---- the whole run ---- */

static void answer_parent(int context, int code, const char *text)
{
    int old = pvm_setcontext(context);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&code, 1, 1);
    pvm_pkint(&collector.context, 1, 1);
    pvm_pkstr((char *)text);
    pvm_send(pvm_parent(), COLLECT_TRACE);
    pvm_setcontext(old);
}

/* PvmOk, or a PvmXxx code with the reason in why[size]. */
static int start(const char *path, char *why, size_t size)
{
    collector.path = path;
    snprintf(collector.entry, sizeof collector.entry, "pvm-trace:%s", path);
    collector.layouts = message_layouts_new();
    collector.file = collector.layouts ? open_file(path, why, size) : NULL;
    if (!collector.file)
        return PvmSysErr;
    collector.context = pvm_newcontext();
    pvm_setcontext(collector.context);
    int code = announce("");
    if (code < 0)
        snprintf(why, size, "another collector in this virtual machine is writing %s", path);
    return code < 0 ? code : PvmOk;
}

static void forget(struct known **table)
{
    struct known *k, *next;
    HASH_ITER (hh, *table, k, next) {
        HASH_DEL(*table, k);
        free(k);
    }
}

static void end(void)
{
    if (!collector.failed)
        record_end(collector.file, collector.events, collector.lost);
    flush();
    if (collector.file)
        fclose(collector.file);
    if (collector.layouts)
        message_layouts_free(collector.layouts);
    forget(&collector.tasks);
    forget(&collector.hosts);
}

int collect(const char *path, int context)
{
    char why[NAME_BYTES + 256] = "out of memory";
    struct sigaction action = {.sa_handler = on_terminate};
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    pvm_setopt(PvmRoute, PvmDontRoute);
    collector.tid = pvm_mytid();
    if (collector.tid < 0)
        return 1;
    pvm_setopt(PvmAutoErr, 0);
    whole_begin();
    int code = start(path, why, sizeof why);
    answer_parent(context, code, code < 0 ? why : "");
    if (code < 0) {
        collector.failed = true;
    } else {
        record_begin(collector.file, clock_now_us());
        meet_host(pvm_tidtohost(collector.tid));
        meet_task(pvm_parent(), LIVING, NULL);
        serve();
    }
    end();
    pvm_exit();
    return collector.failed;
}
