/* send.c - pvm_send, pvm_mcast, pvm_psend. */
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/options.h"
#include "libpvm/base/perror.h"
#include "libpvm/calls/enrol.h"
#include "libpvm/engine/arrivals.h"
#include "libpvm/route/multicast.h"
#include "libpvm/route/send.h"
#include "libpvm/route/stream.h"
#include "libpvm/trace/trace.h"

#define PSEND_COPIED 16 /* items that pvm_psend() copies */

static bool may_receive(int tid)
{
    return pvmi_tid_names_task((pvmc_tid)tid) || (pvmi_options.resv_tids && tid);
}

static bool may_carry(int tag)
{
    return tag >= 0 || pvmi_options.resv_tids;
}

static void address(struct pvmc_message *m, pvmc_tid dst, int tag)
{
    m->src = pvmi_task.tid;
    m->dst = dst;
    m->tag = tag;
    m->ctx = (uint32_t)pvmmyctx;
}

/* The size for events. */
static int bytes_to_send(void)
{
    return pvmi_send_buffer.m ? (int)pvmc_message_bytes(pvmi_send_buffer.m) : -1;
}

/* `send` is pvmi_send_message() or pvmi_stream_send(). */
static inline __attribute__((always_inline)) int send_active(int tid, int tag, int (*send)(struct pvmc_message *m))
{
    struct pvmc_message *m = pvmi_send_buffer.m;
    if (!m)
        return PvmNoBuf;
    if (tid == PVM_TRACE_TID && tag == PVM_TRACE_CODE)
        return pvmi_trace_send_user(m);
    if (!may_receive(tid) || !may_carry(tag))
        return PVMC_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    address(m, (pvmc_tid)tid, tag);
    rc = send(m);
    pvmi_arrivals_pass();
    return rc;
}

static int send_now(int tid, int tag)
{
    return pvmi_return("pvm_send", send_active(tid, tag, pvmi_send_message));
}

static PVMI_COLD int send_stream(int tid, int tag)
{
    return pvmi_return("pvm_send", send_active(tid, tag, pvmi_stream_send));
}

static PVMI_COLD int watched_send(int tid, int tag)
{
    PVMI_BEGIN(TEV_SEND, PVMI_INT(MNB, bytes_to_send()), PVMI_INT(DST, tid), PVMI_INT(MC, tag),
               PVMI_INT(MCX, pvmmyctx));
    int rc = pvmi_stream_has(pvmi_send_buffer.m) ? send_stream(tid, tag) : send_now(tid, tag);
    PVMI_END(TEV_SEND, PVMI_INT(CC, rc));
    return rc;
}

int pvm_send(int tid, int tag)
{
    return pvmi_call_is_watched() ? watched_send(tid, tag) : send_now(tid, tag);
}

static int compare_tids(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* Drops duplicates and ourselves from tids; returns how many are left. */
static unsigned unique_others(int *tids, unsigned count)
{
    unsigned kept = 0;
    qsort(tids, count, sizeof *tids, compare_tids);
    for (unsigned i = 0; i < count; i++)
        if (tids[i] != (int)pvmi_task.tid && (!kept || tids[i] != tids[kept - 1]))
            tids[kept++] = tids[i];
    return kept;
}

static int send_to_many(struct pvmc_message *m, int *tids, int count, int tag)
{
    address(m, 0, tag);
    unsigned others = unique_others(tids, pvmi_multicast_at_once(m, tids, (unsigned)count));
    m->dst = others ? (pvmc_tid)tids[0] : 0;
    if (!others)
        return 0;
    return others == 1 ? pvmi_send_message(m) : pvmi_multicast(m, tids, others);
}

static int mcast_active(const int *tids, int count, int tag)
{
    struct pvmc_message *m = pvmi_send_buffer.m;
    if (!m)
        return PvmNoBuf;
    if (count < 0 || (count && !tids) || !may_carry(tag))
        return PVMC_EPARAM;
    for (int i = 0; i < count; i++)
        if (!pvmi_tid_names_task((pvmc_tid)tids[i]))
            return PVMC_EPARAM;
    int rc = pvmi_task_need();
    if (rc || !count)
        return rc;
    int *copy = malloc(count * sizeof *copy);
    if (!copy)
        return PVMC_ENOMEM;
    memcpy(copy, tids, count * sizeof *copy);
    pvmi_stream_cancel(m);
    rc = send_to_many(m, copy, count, tag);
    free(copy);
    pvmi_arrivals_pass();
    return rc;
}

int pvm_mcast(int *tids, int count, int tag)
{
    PVMI_BEGIN(TEV_MCAST, PVMI_INT(MNB, bytes_to_send()), PVMI_INT(MC, tag), PVMI_INT(MCX, pvmmyctx),
               PVMI_INTS(MDL, tids, tids && count > 0 ? count : 0));
    int rc = pvmi_return("pvm_mcast", mcast_active(tids, count, tag));
    PVMI_END(TEV_MCAST, PVMI_INT(CC, rc));
    return rc;
}

static int send_data(int tid, int tag, const void *data, int n, int type)
{
    if (type == PVM_STR)
        return PVMC_EUNSUPPORTED;
    if (!may_receive(tid) || !may_carry(tag))
        return PVMC_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    bool few = n >= 0 && n <= PSEND_COPIED; /* copying costs less than waiting until the data may change */
    struct pvmc_message *m = pvmc_message_new(few ? pvmc_dsig_own() : PVMC_ENC_INPLACE);
    if (!m)
        return PVMC_ENOMEM;
    rc = pvmc_message_pack(m, type, data, n, 1);
    if (!rc) {
        address(m, (pvmc_tid)tid, tag);
        rc = pvmi_send_message(m);
    }
    pvmc_message_unref(m);
    pvmi_arrivals_pass();
    return rc;
}

int pvm_psend(int tid, int tag, void *data, int n, int type)
{
    PVMI_BEGIN(TEV_PSEND, PVMI_INT(DST, tid), PVMI_INT(MC, tag), PVMI_INT(MCX, pvmmyctx), PVMI_LONG(PDA, data),
               PVMI_INT(PC, n), PVMI_INT(PDT, type));
    int rc = pvmi_return("pvm_psend", send_data(tid, tag, data, n, type));
    PVMI_END(TEV_PSEND, PVMI_INT(CC, rc));
    return rc;
}
