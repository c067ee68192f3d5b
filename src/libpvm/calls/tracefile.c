/* tracefile.c - see tracefile.h. Uses public calls only: it is what a careful program would do in its first lines. */
#include "tracefile.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "../core/config.h"
#include "../core/error.h"
#include "../core/log.h"
#include "compat.h"
#include "options.h"
#include "program.h"
#include "task.h"

enum { PAUSE_MS = 20, START_LIMIT_MS = 20000, TEXT_BYTES = 2048, TAG_ENDED = 2, PATH_LIMIT = 1000 };

struct collector {
    int tid, context, tag;
    char fault[TEXT_BYTES]; /* why it cannot write, or "" */
};

static bool joined;                    /* this process has had a collector: a second one would begin the file anew */
static char path[PATH_LIMIT + 1];      /* of the file */
static char entry[PATH_LIMIT + 32];    /* of the collector, in the mailbox */
static char starting[PATH_LIMIT + 40]; /* taken by who starts it */

/* ---- messages, beside the program's own ---- */

struct aside {
    int send, receive, context, auto_err;
};

static struct aside step_aside(void)
{
    struct aside a = {.send = pvm_setsbuf(0), .receive = pvm_setrbuf(0), .context = pvmmyctx};
    a.auto_err = pvmi_options.auto_err;
    pvmi_options.auto_err = PVMI_AUTOERR_SILENT;
    return a;
}

static void step_back(const struct aside *a)
{
    int buffers[] = {pvm_setsbuf(a->send), pvm_setrbuf(a->receive)};
    for (int i = 0; i < 2; i++)
        if (buffers[i] > 0)
            pvm_freebuf(buffers[i]);
    pvmmyctx = a->context;
    pvmi_options.auto_err = a->auto_err;
}

static int unpack_text(char *text)
{
    int bytes = 0;
    pvm_bufinfo(pvm_getrbuf(), &bytes, NULL, NULL);
    return bytes > TEXT_BYTES ? PvmOverflow : pvm_upkstr(text);
}

/* ---- finding it ---- */

/* Fills in the collector of our file; false when there is none. */
static bool find(struct collector *c)
{
    struct pvmminfo about;
    int mid = pvm_recvinfo(entry, 0, PvmMboxDefault);
    if (mid < 0 || pvm_getminfo(mid, &about) < 0)
        return false;
    c->tid = about.src;
    return pvm_upkint(&c->context, 1, 1) >= 0 && pvm_upkint(&c->tag, 1, 1) >= 0 && unpack_text(c->fault) >= 0;
}

/* ---- starting it ---- */

static int spawn(const char *program, int context)
{
    char number[16], *argv[] = {"collect", path, number, NULL};
    int output = pvm_setopt(PvmOutputTid, 0), tid = 0;
    snprintf(number, sizeof number, "%d", context);
    int rc = pvm_spawn((char *)program, argv, PvmTaskHost, ".", 1, &tid);
    pvm_setopt(PvmOutputTid, output);
    return rc < 0 ? rc : tid;
}

/* What it says about its start, or that it has ended. A code, and why in text. */
static int await_answer(int child, char *text)
{
    struct timeval limit = {START_LIMIT_MS / 1000, 0};
    int tag = 0, code = PvmDSysErr, context;
    strcpy(text, "the collector did not come up; the daemon's log may say why");
    pvm_notify(PvmTaskExit, TAG_ENDED, 1, &child);
    int mid = pvm_trecv(-1, -1, &limit);
    if (mid <= 0)
        pvm_kill(child); /* perhaps it waits for a reader of a pipe */
    if (mid <= 0 || pvm_bufinfo(mid, NULL, &tag, NULL) < 0 || tag == TAG_ENDED)
        return PvmDSysErr;
    if (pvm_upkint(&code, 1, 1) < 0 || pvm_upkint(&context, 1, 1) < 0 || unpack_text(text) < 0)
        return PvmBadMsg;
    pvm_notify(PvmTaskExit | PvmNotifyCancel, TAG_ENDED, 1, &child);
    return code;
}

/* Holding the entry `starting`. */
static int start(char *why)
{
    char found[PATH_MAX], program[PATH_MAX];
    if (pvmi_program_find("pvm-trace", found, sizeof found) || !realpath(found, program)) {
        strcpy(why, "found no pvm-trace in PVM_ROOT's bin, nor beside this program, nor in PATH");
        return PvmNoFile;
    }
    int context = pvm_newcontext(), old = pvm_setcontext(context);
    int child = spawn(program, context), rc = child;
    if (child < 0)
        snprintf(why, TEXT_BYTES, "cannot start %s: %s", program, pvmi_error_text(child));
    else
        rc = await_answer(child, why);
    while (child > 0 && pvm_nrecv(-1, -1) > 0) /* the notice that was cancelled */
        ;
    pvm_setcontext(old);
    pvm_freecontext(context);
    return rc;
}

/* Takes the entry that only one task can have; it vanishes with its owner. */
static int take_lock(void)
{
    int mid = pvm_initsend(PvmDataDefault);
    return mid < 0 ? mid : pvm_putinfo(starting, mid, PvmMboxDefault);
}

static int find_or_start(struct collector *c, char *why)
{
    strcpy(why, "the collector that another task starts did not come up");
    for (int waited_ms = 0; waited_ms < 2 * START_LIMIT_MS; waited_ms += PAUSE_MS) {
        if (find(c))
            return 0;
        if (joined)
            return PvmNotFound; /* ended with the program; this task has come back */
        int lock = take_lock();
        if (lock >= 0) {
            int rc = find(c) ? 0 : start(why);
            pvm_delinfo(starting, 0, PvmMboxDefault);
            return rc < 0 ? rc : find(c) ? 0 : PvmNotFound;
        }
        if (lock != PvmDenied) {
            snprintf(why, TEXT_BYTES, "the mailbox refuses: %s", pvmi_error_text(lock));
            return lock;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
    }
    return PvmDSysErr;
}

/* ---- settings ---- */

/* An absolute path, also for the tasks that we spawn. */
static int take_path(const char *setting)
{
    char folder[PATH_MAX] = "";
    if (*setting != '/' && !getcwd(folder, sizeof folder))
        return PVMI_ESYSTEM;
    int length = snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", setting);
    if (length >= (int)sizeof path)
        return PVMI_ELIMIT;
    snprintf(entry, sizeof entry, "pvm-trace:%s", path);
    snprintf(starting, sizeof starting, "pvm-trace starts:%s", path);
    return setenv("PVM_TRACE", path, 1) ? PVMI_ENOMEM : 0;
}

/* All of it, unless the user or the program has chosen. */
static void choose_events(void)
{
    struct Pvmtracer *tracers[] = {[PvmTaskSelf] = &pvmi_self_trace, [PvmTaskChild] = &pvmctrc};
    for (int who = PvmTaskSelf; who <= PvmTaskChild; who++) {
        bool chosen = pvmi_options.mask_chosen[who] || *pvmi_config_text(PVMI_SETTING_TRACE_MASK);
        for (int event = 0; event <= TEV_MAX && !chosen; event++)
            TEV_MASK_SET(tracers[who]->tmask, event);
        if (!tracers[who]->trcopt)
            tracers[who]->trcopt = PvmTraceFull;
    }
}

void pvmi_tracefile_enrolled(void)
{
    struct collector c = {0};
    char why[TEXT_BYTES] = "";
    const char *setting = pvmi_config_text(PVMI_SETTING_TRACE_FILE);
    if (!*setting || pvmi_task.spawned || pvmi_self_trace.trctid)
        return;
    if (take_path(setting)) {
        pvmi_log(PVMI_LOG_ERROR, "PVM_TRACE: a path of up to %d bytes is wanted; there is no trace", PATH_LIMIT);
        return;
    }
    struct aside a = step_aside();
    int rc = find_or_start(&c, why);
    step_back(&a);
    if (rc < 0 && !joined)
        pvmi_log(PVMI_LOG_ERROR, "PVM_TRACE: %s; there is no trace", why);
    if (rc < 0)
        return;
    joined = true;
    choose_events();
    rc = pvmi_options_trace_to(c.tid, c.context, c.tag);
    if (rc)
        pvmi_log(PVMI_LOG_ERROR, "PVM_TRACE: %s; there is no trace", pvmi_error_text(rc));
}

void pvmi_tracefile_leaving(void)
{
    struct collector c = {0};
    if (!joined)
        return;
    struct aside a = step_aside();
    bool found = find(&c);
    step_back(&a);
    if (found && *c.fault)
        pvmi_log(PVMI_LOG_WARNING, "PVM_TRACE: %s", c.fault);
}
