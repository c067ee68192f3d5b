/* register.c - tasks with a duty for the machine: resource manager, hoster, tasker, tracer. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "core/error.h"
#include "core/message/proto.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "mbox.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/request.h"
#include "enrol.h"
#include "tracer.h"

/* Asks the daemon for a duty, or to give it up. The daemon knows which other task has it. */
static int request_role(enum pvmc_register_role role, bool on)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u8(&body, role);
    pvmc_buf_put_u8(&body, on);
    rc = pvmi_request(PVMC_TM_REGISTER, &body, NULL);
    return rc < 0 ? rc : 0;
}

/* A duty and its mailbox entry, by which programs find the task that has it. */
struct duty {
    enum pvmc_register_role role;
    const char *name;                 /* mailbox class */
    pvmc_tid holder;                  /* our tid while this task has the duty; void after pvm_exit() */
    int index;                        /* of the entry */
    const struct pvmc_message *entry; /* NULL: our tid */
};

/* The machine has one tracer, and so one entry: PvmAlready if another task has it. */
static int announce(const struct duty *d)
{
    if (!d->entry)
        return pvmi_mbox_announce(d->name, PvmMboxMultiInstance);
    int rc = pvmi_mbox_put(d->name, PvmMboxDefault, d->entry);
    return rc == PvmDenied ? PvmAlready : rc;
}

static int take_duty(struct duty *d)
{
    int rc = request_role(d->role, true);
    if (rc)
        return rc;
    rc = announce(d);
    if (rc < 0) {
        request_role(d->role, false);
        return rc;
    }
    d->index = rc;
    d->holder = pvmi_task.tid;
    if (d->role == PVMC_ROLE_RM)
        pvmi_task.manager = 0; /* the previous one has handed it over */
    return 0;
}

static int give_up_duty(struct duty *d)
{
    d->holder = 0;
    int rc = request_role(d->role, false), removed = pvmi_mbox_remove(d->name, d->index, 0);
    return rc ? rc : removed < 0 ? removed : 0;
}

/* A second call undoes the first. */
static int toggle_duty(struct duty *d)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    return d->holder == pvmi_task.tid ? give_up_duty(d) : take_duty(d);
}

int pvm_reg_hoster(void)
{
    static struct duty hoster = {.role = PVMC_ROLE_HOSTER, .name = PVMHOSTERCLASS};
    PVMI_BEGIN(TEV_REG_HOSTER);
    int rc = pvmi_return("pvm_reg_hoster", toggle_duty(&hoster));
    PVMI_END(TEV_REG_HOSTER, PVMI_INT(CC, rc));
    return rc;
}

int pvm_reg_tasker(void)
{
    static struct duty tasker = {.role = PVMC_ROLE_TASKER, .name = PVMTASKERCLASS};
    PVMI_BEGIN(TEV_REG_TASKER);
    int rc = pvmi_return("pvm_reg_tasker", toggle_duty(&tasker));
    PVMI_END(TEV_REG_TASKER, PVMI_INT(CC, rc));
    return rc;
}

int pvm_reg_rm(struct pvmhostinfo **hosts)
{
    static struct duty manager = {.role = PVMC_ROLE_RM, .name = PVMRMCLASS};
    PVMI_BEGIN(TEV_REG_RM);
    int rc = pvmi_task_need();
    if (!rc && manager.holder != pvmi_task.tid)
        rc = take_duty(&manager);
    if (!rc && hosts) {
        int n;
        rc = pvm_config(&n, NULL, hosts);
    }
    rc = pvmi_return("pvm_reg_rm", rc);
    PVMI_END(TEV_REG_RM, PVMI_INT(CC, rc));
    return rc;
}

/* Sets where tasks spawned from now on send traces and output, and what they trace. */
static void set_destinations(const struct Pvmtracer *tracer)
{
    Pvmtmask mask;
    memcpy(mask, pvmctrc.tmask, sizeof mask);
    pvmctrc = *tracer;
    if (!*tracer->tmask)
        memcpy(pvmctrc.tmask, mask, sizeof mask);
}

static int toggle_tracer(const struct Pvmtracer *t)
{
    static struct duty tracer = {.role = PVMC_ROLE_TRACER, .name = PVMTRACERCLASS};
    int rc = pvmi_task_need();
    struct pvmc_message *entry = rc ? NULL : pvmi_tracer_entry(t);
    if (!entry)
        return rc ? rc : PVMC_ENOMEM;
    tracer.entry = entry;
    rc = toggle_duty(&tracer);
    pvmc_message_unref(entry);
    if (!rc && tracer.holder == pvmi_task.tid)
        set_destinations(t);
    return rc;
}

int pvm_reg_tracer(int tctx, int ttag, int octx, int otag, char *tmask, int tbuf, int topt)
{
    struct Pvmtracer tracer = {
        .trcctx = tctx, .trctag = ttag, .outctx = octx, .outtag = otag, .trcbuf = tbuf, .trcopt = topt};
    PVMI_BEGIN(TEV_REG_TRACER, PVMI_INT(TRC, tctx), PVMI_INT(TRT, ttag), PVMI_INT(TRX, octx), PVMI_INT(TRO, otag),
               PVMI_STRING(TRM, tmask), PVMI_INT(TRB, tbuf), PVMI_INT(TRL, topt));
    if (tmask)
        strncpy(tracer.tmask, tmask, sizeof tracer.tmask - 1);
    tracer.trctid = tracer.outtid = pvmi_task_need() ? 0 : (int)pvmi_task.tid;
    int rc = pvmi_return("pvm_reg_tracer", toggle_tracer(&tracer));
    PVMI_END(TEV_REG_TRACER, PVMI_INT(CC, rc));
    return rc;
}
