/* tracefile.c - see tracefile.h. */
#include "tracefile.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/options.h"
#include "core/place/program.h"
#include "libpvm/base/task.h"
#include "libpvm/engine/arrivals.h"
#include "libpvm/engine/inbox.h"
#include "libpvm/engine/wait.h"
#include "mbox.h"
#include "setopt.h"

enum { PAUSE_MS = 20, START_LIMIT_MS = 20000, TEXT_BYTES = 2048, TAG_ENDED = 2, PATH_LIMIT = 1000 };

struct collector {
    int tid, context, tag;
    char fault[TEXT_BYTES]; /* why it cannot write, or "" */
};

static bool joined;                    /* this process has had a collector: a second one would overwrite the file */
static char path[PATH_LIMIT + 1];      /* of the file */
static char entry[PATH_LIMIT + 32];    /* of the collector, in the mailbox */
static char starting[PATH_LIMIT + 40]; /* its owner starts the collector */

/* ---- messages, apart from the program's own ---- */

struct aside {
    int context, auto_err;
};

static struct aside step_aside(void)
{
    struct aside a = {.context = pvmmyctx, .auto_err = pvmi_options.auto_err};
    pvmi_options.auto_err = PVMI_AUTOERR_SILENT;
    return a;
}

static void step_back(const struct aside *a)
{
    pvmmyctx = a->context;
    pvmi_options.auto_err = a->auto_err;
}

/* The first message in the current context that is whole, or NULL. */
static struct pvmi_waiting *find_message(void)
{
    struct pvmi_waiting *w = pvmi_inbox_after(0);
    while (w && (w->ctx != pvmmyctx || w->m->partial))
        w = w->next;
    return w;
}

/* pvmi_condition: there is one. */
static bool has_message(void *arg)
{
    (void)arg;
    return find_message();
}

/* The first message in the current context, with the caller's reference; NULL: none has arrived. */
static struct pvmc_message *take_message(void)
{
    int mid;
    pvmi_arrivals_take_in_all();
    struct pvmi_waiting *w = find_message();
    return w ? pvmi_inbox_take(w, &mid) : NULL;
}

static int unpack_int(struct pvmc_message *m, int *value)
{
    return pvmc_message_unpack(m, PVM_INT, value, 1, 1);
}

/* ---- finding it ---- */

/* Fills in the collector of our file; false when there is none. */
static bool find(struct collector *c)
{
    struct pvmc_message *m;
    if (pvmi_mbox_get(entry, 0, PvmMboxDefault, &m) < 0)
        return false;
    c->tid = (int)m->src;
    bool whole = !unpack_int(m, &c->context) && !unpack_int(m, &c->tag) &&
                 !pvmc_message_unpack_string(m, c->fault, sizeof c->fault);
    pvmc_message_unref(m);
    return whole;
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

/* Reads the collector's report on its start: its code, and the reason in text. */
static int read_answer(struct pvmc_message *m, char *text)
{
    int code = PvmDSysErr, context;
    if (unpack_int(m, &code) || unpack_int(m, &context) || pvmc_message_unpack_string(m, text, TEXT_BYTES))
        return PvmBadMsg;
    return code;
}

/* Waits for that report, or for the collector's end. A code, and the reason in text. */
static int await_answer(int child, char *text)
{
    strcpy(text, "the collector did not start; the daemon's log may say why");
    pvm_notify(PvmTaskExit, TAG_ENDED, 1, &child);
    if (!has_message(NULL))
        pvmi_wait_until(has_message, NULL, pvmc_clock_us() + START_LIMIT_MS * 1000);
    struct pvmc_message *m = take_message();
    if (!m)
        pvm_kill(child); /* it may wait for a reader of a pipe */
    if (!m || m->tag == TAG_ENDED) {
        pvmc_message_unref(m);
        return PvmDSysErr;
    }
    int code = read_answer(m, text);
    pvmc_message_unref(m);
    if (code != PvmBadMsg)
        pvm_notify(PvmTaskExit | PvmNotifyCancel, TAG_ENDED, 1, &child);
    return code;
}

static void drop_messages(void)
{
    struct pvmc_message *m;
    while ((m = take_message()))
        pvmc_message_unref(m);
}

/* Starts the collector; the caller owns the entry `starting`. */
static int start(char *why)
{
    char found[PATH_MAX], program[PATH_MAX];
    if (pvmc_program_find("pvm-trace", found, sizeof found) || !realpath(found, program)) {
        strcpy(why, "found no pvm-trace in PVM_ROOT's bin, nor beside this program, nor in PATH");
        return PvmNoFile;
    }
    int context = pvm_newcontext(), old = pvm_setcontext(context);
    int child = spawn(program, context), rc = child;
    if (child < 0)
        snprintf(why, TEXT_BYTES, "cannot start %s: %s", program, pvmc_error_text(child));
    else
        rc = await_answer(child, why);
    if (child > 0)
        drop_messages(); /* the cancelled notification */
    pvm_setcontext(old);
    pvm_freecontext(context);
    return rc;
}

/* Takes the entry that only one task can own; it vanishes with its owner. */
static int take_lock(void)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    int rc = m ? pvmi_mbox_put(starting, PvmMboxDefault, m) : PVMC_ENOMEM;
    pvmc_message_unref(m);
    return rc < 0 ? pvmc_error_public(rc) : rc;
}

static int find_or_start(struct collector *c, char *why)
{
    strcpy(why, "the collector that another task is starting did not start");
    for (int waited_ms = 0; waited_ms < 2 * START_LIMIT_MS; waited_ms += PAUSE_MS) {
        if (find(c))
            return 0;
        if (joined)
            return PvmNotFound; /* it ended with the program, and this task has enrolled again */
        int lock = take_lock();
        if (lock >= 0) {
            int rc = find(c) ? 0 : start(why);
            pvmi_mbox_remove(starting, 0, PvmMboxDefault);
            return rc < 0 ? rc : find(c) ? 0 : PvmNotFound;
        }
        if (lock != PvmDenied) {
            snprintf(why, TEXT_BYTES, "the mailbox refuses: %s", pvmc_error_text(lock));
            return lock;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
    }
    return PvmDSysErr;
}

/* ---- settings ---- */

/* Makes the path absolute, also for tasks that this one spawns. */
static int take_path(const char *setting)
{
    char folder[PATH_MAX] = "";
    if (*setting != '/' && !getcwd(folder, sizeof folder))
        return PVMC_ESYSTEM;
    int length = snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", setting);
    if (length >= (int)sizeof path)
        return PVMC_ELIMIT;
    snprintf(entry, sizeof entry, "pvm-trace:%s", path);
    snprintf(starting, sizeof starting, "pvm-trace starts:%s", path);
    return setenv("PVM_TRACE", path, 1) ? PVMC_ENOMEM : 0;
}

/* Traces all events, unless the user or the program has chosen. */
static void choose_events(void)
{
    struct Pvmtracer *tracers[] = {[PvmTaskSelf] = &pvmi_self_trace, [PvmTaskChild] = &pvmctrc};
    for (int who = PvmTaskSelf; who <= PvmTaskChild; who++) {
        bool chosen = pvmi_options.mask_chosen[who] || *pvmc_config_text(PVMC_SETTING_TRACE_MASK);
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
    const char *setting = pvmc_config_text(PVMC_SETTING_TRACE_FILE);
    if (!*setting || pvmi_task.spawned || pvmi_self_trace.trctid)
        return;
    if (take_path(setting)) {
        pvmc_log(PVMC_LOG_ERROR, "PVM_TRACE: the path must have at most %d bytes; there is no trace", PATH_LIMIT);
        return;
    }
    struct aside a = step_aside();
    int rc = find_or_start(&c, why);
    step_back(&a);
    if (rc < 0 && !joined)
        pvmc_log(PVMC_LOG_ERROR, "PVM_TRACE: %s; there is no trace", why);
    if (rc < 0)
        return;
    joined = true;
    choose_events();
    rc = pvmi_setopt_trace_to(c.tid, c.context, c.tag);
    if (rc)
        pvmc_log(PVMC_LOG_ERROR, "PVM_TRACE: %s; there is no trace", pvmc_error_text(rc));
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
        pvmc_log(PVMC_LOG_WARNING, "PVM_TRACE: %s", c.fault);
}
