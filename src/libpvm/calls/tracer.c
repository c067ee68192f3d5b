/*
 * tracer.c - see tracer.h. The entry, as PVM has it: ints tid, trace context, trace tag, output context, output tag;
 * the trace mask as a string; ints buffer, options.
 */
#include "tracer.h"
#include <string.h>
#include "core/error.h"
#include "pvm3.h"
#include "libpvm/base/compat.h"
#include "mbox.h"
#include "setopt.h"
#include "libpvm/base/task.h"

#define PLACES 5 /* numbers before the mask */

struct pvmc_message *pvmi_tracer_entry(const struct Pvmtracer *t)
{
    int places[PLACES] = {t->trctid, t->trcctx, t->trctag, t->outctx, t->outtag}, how[] = {t->trcbuf, t->trcopt};
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    int rc = m ? pvmc_message_pack(m, PVM_INT, places, PLACES, 1) : PVMC_ENOMEM;
    if (!rc)
        rc = pvmc_message_pack_string(m, t->tmask);
    if (!rc)
        rc = pvmc_message_pack(m, PVM_INT, how, 2, 1);
    if (!rc)
        return m;
    pvmc_message_unref(m);
    return NULL;
}

static int read_entry(struct pvmc_message *m, struct Pvmtracer *t)
{
    int places[PLACES], how[2];
    int rc = pvmc_message_unpack(m, PVM_INT, places, PLACES, 1);
    if (!rc)
        rc = pvmc_message_unpack_string(m, t->tmask, sizeof t->tmask);
    if (!rc)
        rc = pvmc_message_unpack(m, PVM_INT, how, 2, 1);
    if (rc)
        return rc;
    t->trctid = t->outtid = places[0];
    t->trcctx = places[1];
    t->trctag = places[2];
    t->outctx = places[3];
    t->outtag = places[4];
    t->trcbuf = how[0];
    t->trcopt = how[1];
    return 0;
}

/* A mask of another length comes from another PVM. */
static void follow(const struct Pvmtracer *t)
{
    if (t->trctid == (int)pvmi_task.tid || strlen(t->tmask) + 1 != sizeof t->tmask)
        return;
    memcpy(pvmi_self_trace.tmask, t->tmask, sizeof t->tmask);
    memcpy(pvmctrc.tmask, t->tmask, sizeof t->tmask);
    pvmi_self_trace.trcbuf = pvmctrc.trcbuf = t->trcbuf;
    pvmi_self_trace.trcopt = pvmctrc.trcopt = t->trcopt;
    pvmi_setopt_trace_to(t->trctid, t->trcctx, t->trctag);
    pvmi_setopt_output_to(t->outtid, t->outctx, t->outtag);
}

void pvmi_tracer_attach(void)
{
    struct pvmc_message *m;
    struct Pvmtracer tracer = {0};
    if (pvmi_task.spawned || pvmi_self_trace.trctid || pvmi_mbox_get(PVMTRACERCLASS, 0, PvmMboxFirstAvail, &m) < 0)
        return;
    if (!read_entry(m, &tracer))
        follow(&tracer);
    pvmc_message_unref(m);
}
