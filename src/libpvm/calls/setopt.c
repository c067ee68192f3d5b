/* setopt.c - pvm_setopt, pvm_getopt, pvm_export and trace masks: a table of values with their limits. */
#include "setopt.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/config.h"
#include "core/error.h"
#include "core/message/proto.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "mbox.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/request.h"
#include "libpvm/base/options.h"
#include "enrol.h"
#include "libpvm/trace/trace.h"

enum rule {
    ANY,       /* any value within the limits */
    TID,       /* none, ourselves, the present value, or our own destination */
    SELF_TID,  /* our own destination: the daemon must know it, and children inherit it */
    SELF_CODE, /* the code of such a destination, useless without one */
    FIXED,     /* cannot be set */
    NO_RESET,  /* kept in the mailbox, where `reset` finds it */
};

struct option {
    int *value;
    int minimum, maximum;
    enum rule rule;
    int *tid; /* SELF_CODE: the destination; TID: our own destination */
};

#define FREE(variable) .value = &(variable), .minimum = INT_MIN, .maximum = INT_MAX

static const struct option options[] = {
    [PvmRoute] = {.value = &pvmi_options.route, .minimum = PvmDontRoute, .maximum = PvmRouteDirect},
    [PvmDebugMask] = {FREE(pvmdebmask)},
    [PvmAutoErr] = {FREE(pvmi_options.auto_err)},
    [PvmOutputTid] = {FREE(pvmctrc.outtid), .rule = TID, .tid = &pvmi_self_trace.outtid},
    [PvmOutputCode] = {FREE(pvmctrc.outtag)},
    [PvmOutputContext] = {FREE(pvmctrc.outctx)},
    [PvmTraceTid] = {FREE(pvmctrc.trctid), .rule = TID, .tid = &pvmi_self_trace.trctid},
    [PvmTraceCode] = {FREE(pvmctrc.trctag)},
    [PvmTraceContext] = {FREE(pvmctrc.trcctx)},
    [PvmTraceBuffer] = {FREE(pvmctrc.trcbuf)},
    [PvmTraceOptions] = {.value = &pvmctrc.trcopt, .minimum = PvmTraceFull, .maximum = PvmTraceCount},
    [PvmFragSize] = {.value = &pvmi_options.frag_size, .minimum = 52, .maximum = 1048576},
    [PvmResvTids] = {FREE(pvmi_options.resv_tids)},
    [PvmSelfOutputTid] = {FREE(pvmi_self_trace.outtid), .rule = SELF_TID},
    [PvmSelfOutputCode] = {FREE(pvmi_self_trace.outtag), .rule = SELF_CODE, .tid = &pvmi_self_trace.outtid},
    [PvmSelfOutputContext] = {FREE(pvmi_self_trace.outctx), .rule = FIXED},
    [PvmSelfTraceTid] = {FREE(pvmi_self_trace.trctid), .rule = SELF_TID},
    [PvmSelfTraceCode] = {FREE(pvmi_self_trace.trctag), .rule = SELF_CODE, .tid = &pvmi_self_trace.trctid},
    [PvmSelfTraceContext] = {FREE(pvmi_self_trace.trcctx), .rule = FIXED},
    [PvmSelfTraceBuffer] = {FREE(pvmi_self_trace.trcbuf)},
    [PvmSelfTraceOptions] = {.value = &pvmi_self_trace.trcopt, .minimum = PvmTraceFull, .maximum = PvmTraceCount},
    [PvmShowTids] = {FREE(pvmi_options.show_tids)},
    [PvmPollType] = {.rule = FIXED}, /* of shared-memory machines */
    [PvmPollTime] = {.rule = FIXED},
    [PvmNoReset] = {FREE(pvmi_options.no_reset), .rule = NO_RESET},
};

#define OPTION_COUNT (int)(sizeof options / sizeof options[0])

/* NULL for an unknown option. */
static const struct option *find(int what)
{
    return what > 0 && what < OPTION_COUNT && (options[what].value || options[what].rule) ? &options[what] : NULL;
}

/* ---- what the daemon must know ---- */

static int no_reset_index = -1; /* index of our mailbox entry */

/* Waits for the answer when a trace destination is set: so the daemon stamps newtask before our first event. */
static int tell_daemon(int what, int value)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_i32(&body, what);
    pvmc_buf_put_i32(&body, value);
    return what == PvmSelfTraceTid && value ? pvmi_request(PVMC_TM_SETOPT, &body, NULL)
                                            : pvmi_request_one_way(PVMC_TM_SETOPT, &body);
}

static int announce_no_reset(bool on)
{
    int rc = pvmi_task_need();
    if (!rc)
        rc = tell_daemon(PvmNoReset, on);
    if (!rc && on)
        rc = no_reset_index = pvmi_mbox_announce(PVMNORESETCLASS, PvmMboxMultiInstance);
    else if (!rc && no_reset_index >= 0)
        rc = pvmi_mbox_remove(PVMNORESETCLASS, no_reset_index, 0);
    return rc < 0 ? rc : 0;
}

void pvmi_setopt_announce(void)
{
    if (pvmi_options.no_reset)
        announce_no_reset(true);
}

/* ---- setting ---- */

static int check(const struct option *o, int value)
{
    if (o->rule == FIXED)
        return PVMC_EUNSUPPORTED;
    if (value < o->minimum || value > o->maximum)
        return PVMC_EPARAM;
    if (o->rule != TID || !value || value == *o->value || (o->tid && value == *o->tid))
        return 0;
    int rc = pvmi_task_need();
    return rc ? rc : value == (int)pvmi_task.tid ? 0 : PVMC_EPARAM;
}

/* Tells the daemon; if that succeeds, changes our children's settings as well. */
static int apply_self(const struct option *o, int what, int value)
{
    int rc = pvmi_task_need();
    if (!rc)
        rc = tell_daemon(what, value);
    if (rc)
        return rc;
    *o->value = value;
    if (what == PvmSelfOutputTid || what == PvmSelfOutputCode) {
        pvmctrc.outtid = pvmi_self_trace.outtid;
        pvmctrc.outtag = pvmi_self_trace.outtag;
    } else {
        pvmctrc.trctid = pvmi_self_trace.trctid;
        pvmctrc.trctag = pvmi_self_trace.trctag;
    }
    return 0;
}

static int apply(const struct option *o, int what, int value)
{
    int rc = 0;
    if (o->rule == SELF_CODE && !*o->tid)
        return 0;
    if (o->rule == SELF_TID || o->rule == SELF_CODE)
        rc = apply_self(o, what, value);
    else if (o->rule == NO_RESET && !value != !*o->value)
        rc = announce_no_reset(value);
    if (!rc)
        *o->value = value;
    pvmi_trace_update();
    return rc;
}

static int set(int what, int value, int *old)
{
    const struct option *o = find(what);
    if (!o)
        return PVMC_EPARAM;
    if (value == -1 && !pvmi_task.tid && !*o->value && (o->rule == TID || o->rule == SELF_TID))
        return 0; /* ourselves, but not enrolled: stays none. Consoles do so before they start the daemon */
    int rc = check(o, value);
    if (rc)
        return rc;
    *old = *o->value;
    return apply(o, what, value);
}

/* Old values may be negative, so only refusals are reported. */
int pvm_setopt(int what, int val)
{
    int old = 0;
    PVMI_BEGIN(TEV_SETOPT, PVMI_INT(OPT, what), PVMI_INT(OPV, val));
    int refused = set(what, val, &old), rc = refused ? pvmi_return("pvm_setopt", refused) : old;
    PVMI_END(TEV_SETOPT, PVMI_INT(OPV, rc));
    return rc;
}

int pvm_getopt(int what)
{
    PVMI_BEGIN(TEV_GETOPT, PVMI_INT(OPT, what));
    const struct option *o = find(what);
    int rc = o && o->value ? *o->value : pvmi_return("pvm_getopt", PVMC_EPARAM);
    PVMI_END(TEV_GETOPT, PVMI_INT(OPV, rc));
    return rc;
}

/* ---- inheritance ---- */

static void read_trace_environment(void)
{
    const char *mask = pvmc_config_text(PVMC_SETTING_TRACE_MASK);
    TEV_MASK_INIT(pvmi_self_trace.tmask);
    if (strlen(mask) + 1 == sizeof pvmi_self_trace.tmask)
        memcpy(pvmi_self_trace.tmask, mask, sizeof pvmi_self_trace.tmask);
    memcpy(pvmctrc.tmask, pvmi_self_trace.tmask, sizeof pvmctrc.tmask);
    pvmi_trace_expect(pvmi_enrol);
    pvmctrc.trcbuf = pvmi_self_trace.trcbuf = (int)pvmc_config_integer(PVMC_SETTING_TRACE_BUFFER);
    pvmctrc.trcopt = pvmi_self_trace.trcopt = (int)pvmc_config_integer(PVMC_SETTING_TRACE_OPTIONS);
}

__attribute__((constructor)) static void read_environment(void)
{
    pvmdebmask = (int)pvmc_config_integer(PVMC_SETTING_TASK_DEBUG);
    read_trace_environment();
}

void pvmi_setopt_inherit(struct pvmc_buf *answer)
{
    struct Pvmtracer *self = &pvmi_self_trace;
    self->outtid = pvmc_buf_get_i32(answer);
    self->outctx = pvmc_buf_get_i32(answer);
    self->outtag = pvmc_buf_get_i32(answer);
    self->trctid = pvmc_buf_get_i32(answer);
    self->trcctx = pvmc_buf_get_i32(answer);
    self->trctag = pvmc_buf_get_i32(answer);
    if (!pvmctrc.outtid) {
        pvmctrc.outtid = self->outtid;
        pvmctrc.outctx = self->outctx;
        pvmctrc.outtag = self->outtag;
    }
    if (!pvmctrc.trctid) {
        pvmctrc.trctid = self->trctid;
        pvmctrc.trcctx = self->trcctx;
        pvmctrc.trctag = self->trctag;
    }
}

/* The tid comes last: with it the daemon begins to use all three. */
int pvmi_setopt_trace_to(int tid, int context, int tag)
{
    int rc = tell_daemon(PvmSelfTraceContext, context);
    if (!rc)
        rc = tell_daemon(PvmSelfTraceCode, tag);
    if (!rc)
        rc = tell_daemon(PvmSelfTraceTid, tid);
    if (rc)
        return rc;
    pvmi_self_trace.trctid = pvmctrc.trctid = tid;
    pvmi_self_trace.trcctx = pvmctrc.trcctx = context;
    pvmi_self_trace.trctag = pvmctrc.trctag = tag;
    pvmi_trace_update();
    return 0;
}

int pvmi_setopt_output_to(int tid, int context, int tag)
{
    int rc = tell_daemon(PvmSelfOutputContext, context);
    if (!rc)
        rc = tell_daemon(PvmSelfOutputCode, tag);
    if (!rc)
        rc = tell_daemon(PvmSelfOutputTid, tid);
    if (rc)
        return rc;
    pvmi_self_trace.outtid = pvmctrc.outtid = tid;
    pvmi_self_trace.outctx = pvmctrc.outctx = context;
    pvmi_self_trace.outtag = pvmctrc.outtag = tag;
    return 0;
}

static void drop_destinations(struct Pvmtracer *t)
{
    t->outtid = t->outctx = t->outtag = t->trctid = t->trcctx = t->trctag = 0;
}

void pvmi_setopt_forget(void)
{
    drop_destinations(&pvmi_self_trace);
    drop_destinations(&pvmctrc);
    no_reset_index = -1;
}

/* ---- trace masks ---- */

static char *mask_of(int who)
{
    return who == PvmTaskSelf ? pvmi_self_trace.tmask : who == PvmTaskChild ? pvmctrc.tmask : NULL;
}

int pvm_gettmask(int who, Pvmtmask mask)
{
    PVMI_BEGIN(TEV_GETTMASK, PVMI_INT(TMW, who));
    const char *from = mask_of(who);
    if (from && mask)
        memcpy(mask, from, TEV_MASK_LENGTH);
    int rc = pvmi_return("pvm_gettmask", from && mask ? 0 : PVMC_EPARAM);
    PVMI_END(TEV_GETTMASK, PVMI_INT(CC, rc), PVMI_STRING(TM, rc ? "" : mask));
    return rc;
}

static int set_mask(int who, const char *mask)
{
    char *to = mask_of(who);
    if (!to || !mask)
        return PVMC_EPARAM;
    memcpy(to, mask, TEV_MASK_LENGTH - 1);
    to[TEV_MASK_LENGTH - 1] = '\0';
    pvmi_options.mask_chosen[who] = true;
    pvmi_trace_update();
    return 0;
}

int pvm_settmask(int who, Pvmtmask mask)
{
    PVMI_BEGIN(TEV_SETTMASK, PVMI_INT(TMW, who), PVMI_STRING(TM, mask));
    int rc = pvmi_return("pvm_settmask", set_mask(who, mask));
    PVMI_END(TEV_SETTMASK, PVMI_INT(CC, rc));
    return rc;
}

/* ---- PVM_EXPORT ---- */

/* The place of `name` in a colon-separated list, or NULL. */
static char *find_in_list(char *list, const char *name)
{
    size_t length = strlen(name);
    for (char *at = list; at; at = strchr(at, ':'), at = at ? at + 1 : NULL)
        if (!strncmp(at, name, length) && (at[length] == ':' || !at[length]))
            return at;
    return NULL;
}

/* A copy of the variable with room for `more` bytes; NULL when out of memory. */
static char *copy_list(size_t more)
{
    const char *now = getenv("PVM_EXPORT");
    if (!now)
        now = "";
    char *copy = malloc(strlen(now) + more + 2);
    return copy ? strcpy(copy, now) : NULL;
}

static int set_list(const char *list)
{
    return setenv("PVM_EXPORT", list, 1) ? PVMC_ENOMEM : 0;
}

static int export_name(const char *name)
{
    if (!name || strpbrk(name, ":="))
        return PVMC_EPARAM;
    char *list = copy_list(strlen(name));
    if (!list)
        return PVMC_ENOMEM;
    int rc = 0;
    if (*name && !find_in_list(list, name)) {
        if (*list)
            strcat(list, ":");
        rc = set_list(strcat(list, name));
    }
    free(list);
    return rc;
}

static int unexport_name(const char *name)
{
    if (!name)
        return PVMC_EPARAM;
    char *list = copy_list(0);
    if (!list)
        return PVMC_ENOMEM;
    char *at = *name ? find_in_list(list, name) : NULL;
    int rc = 0;
    if (at) {
        char *behind = at + strlen(name);
        if (*behind)
            behind++;
        else if (at > list)
            at--;
        memmove(at, behind, strlen(behind) + 1);
        rc = set_list(list);
    }
    free(list);
    return rc;
}

int pvm_export(char *name)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvm_export", export_name(name));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}

int pvm_unexport(char *name)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvm_unexport", unexport_name(name));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}
