/*
 * trace.c - packs trace events into messages of their own, as pvmtev(7) describes, and sends them to the trace
 * destination. Nothing here calls public functions, so tracing does not trace itself.
 */
#include "trace.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "pvm3.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/options.h"
#include "libpvm/route/route.h"
#include "libpvm/route/send.h"
#include "libpvm/base/task.h"

#define SENT_ENTRY 1 /* of Pvmtevinfo.desc_status: descriptions that the destination has */
#define SENT_EXIT  2

#define EVENT_OF(id) ((id) & ~(TEV_EVENT_ENTRY | TEV_EVENT_EXIT))
#define COUNT_OF(a)  (sizeof(a) / sizeof((a)[0]))

/* The destination of events: pvmi_self_trace's as long as it lives. */
static struct {
    pvmc_tid tid; /* 0: nowhere */
    uint32_t ctx;
    int tag;
} sink;

static struct pvmc_message *buffer; /* events that have not been sent yet; NULL: none */
static int (*enrol)(void);          /* for a task that traces from its first call on */
static bool bracketed;              /* the buffer holds several events between marks */

/* ---- whether to trace ---- */

static bool is_mask_empty(const char *mask)
{
    for (int event = TEV_FIRST; event <= TEV_MAX; event++)
        if (TEV_MASK_CHECK(mask, event))
            return false;
    return true;
}

static bool is_wanted(int event)
{
    return event >= TEV_FIRST && event <= TEV_MAX && TEV_MASK_CHECK(pvmi_self_trace.tmask, event);
}

static void begin_call(int event, const struct pvmi_datum *data, size_t bytes);
static void end_call(int event, const struct pvmi_datum *data, size_t bytes);

static void set_watch(bool on)
{
    static const struct pvmi_call_tracer tracer = {begin_call, end_call};
    pvmi_call_tracer = &tracer;
    if (on)
        __atomic_fetch_or(&pvmi_call_watch, PVMI_WATCH_TRACE, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(&pvmi_call_watch, ~(unsigned)PVMI_WATCH_TRACE, __ATOMIC_RELAXED);
}

static void flush(void);

/* The program ends without pvm_exit(). */
static void finish_at_exit(void)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    if (pvmi_task.state == PVMI_TASK_IN)
        pvmi_trace_finish();
    PVMI_END(PVMI_UNTRACED);
}

/* Changes the destination of events. A new destination has no descriptions yet, so all are sent again. */
static void change_sink(pvmc_tid tid)
{
    static bool known;
    if (!known && tid)
        known = !atexit(finish_at_exit);
    flush();
    for (int event = TEV_FIRST; event <= TEV_MAX; event++)
        pvmtevinfo[event].desc_status = 0;
    sink.tid = tid;
    if (tid)
        pvmi_route_watch_end(tid);
}

/* Never ourselves: each event that is received would cause another one. */
static pvmc_tid destination(void)
{
    pvmc_tid to = (pvmc_tid)pvmi_self_trace.trctid;
    return pvmi_task.state == PVMI_TASK_IN && pvmi_tid_names_task(to) && to != pvmi_task.tid ? to : 0;
}

void pvmi_trace_update(void)
{
    pvmc_tid to = destination();
    if (to != sink.tid)
        change_sink(to);
    sink.ctx = (uint32_t)pvmi_self_trace.trcctx;
    sink.tag = pvmi_self_trace.trctag;
    set_watch(to && !is_mask_empty(pvmi_self_trace.tmask));
}

void pvmi_trace_expect(int (*enrol_now)(void))
{
    enrol = enrol_now;
    if (pvmc_config_integer(PVMC_SETTING_COOKIE))
        set_watch(!is_mask_empty(pvmi_self_trace.tmask));
}

void pvmi_trace_lose(pvmc_tid tid)
{
    pvmc_tid to = (pvmc_tid)pvmi_self_trace.trctid;
    if (to != tid && pvmc_tid_host(to) != tid)
        return;
    sink.tid = 0;
    pvmi_self_trace.trctid = 0;
    pvmi_trace_forget();
}

void pvmi_trace_forget(void)
{
    pvmc_message_unref(buffer);
    buffer = NULL;
    sink.tid = 0;
    set_watch(false);
}

/* ---- sending ---- */

/* An error means that the machine is lost; the next call reports it. */
static int send_to_sink(struct pvmc_message *m)
{
    m->src = pvmi_task.tid;
    m->dst = sink.tid;
    m->ctx = sink.ctx;
    m->tag = sink.tag;
    return pvmi_send_message(m);
}

static int put_int(struct pvmc_message *m, int value)
{
    return pvmc_message_pack(m, PVM_INT, &value, 1, 1);
}

/* Sending may receive, and so find the destination gone; `buffer` is not touched meanwhile. */
static void flush(void)
{
    struct pvmc_message *m = buffer;
    buffer = NULL;
    if (m && sink.tid && (!bracketed || !put_int(m, TEV_MARK_EVENT_BUFFER_END)))
        send_to_sink(m);
    pvmc_message_unref(m);
}

static bool open_buffer(void)
{
    if (buffer)
        return true;
    bracketed = pvmi_self_trace.trcbuf > 0;
    buffer = pvmc_message_new(PVMC_ENC_DEFAULT);
    if (buffer && (!bracketed || !put_int(buffer, TEV_MARK_EVENT_BUFFER)))
        return true;
    pvmc_message_unref(buffer);
    buffer = NULL;
    return false;
}

/* ---- records ---- */

static const int value_types[] = {
    [TEV_DATA_BYTE] = PVM_BYTE,     [TEV_DATA_CPLX] = PVM_CPLX,     [TEV_DATA_DCPLX] = PVM_DCPLX,
    [TEV_DATA_DOUBLE] = PVM_DOUBLE, [TEV_DATA_FLOAT] = PVM_FLOAT,   [TEV_DATA_INT] = PVM_INT,
    [TEV_DATA_UINT] = PVM_UINT,     [TEV_DATA_LONG] = PVM_LONG,     [TEV_DATA_ULONG] = PVM_ULONG,
    [TEV_DATA_SHORT] = PVM_SHORT,   [TEV_DATA_USHORT] = PVM_USHORT,
};

static int put_strings(const struct pvmi_datum *d)
{
    int rc = 0;
    for (int i = 0; i < d->count && !rc; i++) {
        const char *text = d->type & TEV_DATA_ARRAY ? ((const char *const *)d->data)[i] : d->data;
        rc = pvmc_message_pack_string(buffer, text ? text : "");
    }
    return rc;
}

static int put_values(const struct pvmi_datum *d)
{
    int type = d->type & ~TEV_DATA_ARRAY, rc = 0;
    if (d->type & TEV_DATA_ARRAY)
        rc = put_int(buffer, d->count);
    if (rc)
        return rc;
    return type == TEV_DATA_STRING ? put_strings(d)
                                   : pvmc_message_pack(buffer, value_types[type], d->data, d->count, d->stride);
}

static int put_data(const struct pvmi_datum *data, size_t n, bool describe)
{
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        if (describe)
            rc = put_int(buffer, data[i].id);
        if (describe && !rc)
            rc = put_int(buffer, data[i].type);
        if (!rc)
            rc = put_values(&data[i]);
    }
    return rc;
}

/* Packs an event; with `describe`, its name and the name and type of each datum as well. */
static int put_record(int id, bool describe, const struct pvmi_datum *data, size_t n)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    const struct pvmi_datum head[] = {PVMI_INT(TS, (int)now.tv_sec), PVMI_INT(TU, (int)now.tv_usec),
                                      PVMI_INT(TID, (int)pvmi_task.tid)};
    int rc = put_int(buffer, describe ? TEV_MARK_EVENT_DESC : TEV_MARK_EVENT_RECORD);
    if (!rc)
        rc = put_int(buffer, id);
    if (!rc && describe)
        rc = pvmc_message_pack_string(buffer, pvmtevinfo[EVENT_OF(id)].name);
    if (!rc)
        rc = put_data(head, COUNT_OF(head), describe);
    if (!rc)
        rc = put_data(data, n, describe);
    return rc ? rc : put_int(buffer, describe ? TEV_MARK_EVENT_DESC_END : TEV_MARK_EVENT_RECORD_END);
}

static void record(int id, const struct pvmi_datum *data, size_t bytes)
{
    struct Pvmtevinfo *info = &pvmtevinfo[EVENT_OF(id)];
    int form = id & TEV_EVENT_EXIT ? SENT_EXIT : SENT_ENTRY;
    if (!sink.tid || !open_buffer())
        return;
    uint64_t start = buffer->length;
    if (put_record(id, !(info->desc_status & form), data, bytes / sizeof *data)) {
        pvmc_log_once(PVMC_LOG_WARNING, "no memory for trace events: some are missing");
        buffer->length = start;
        return;
    }
    info->desc_status |= form;
    if (buffer->length >= (uint64_t)(bracketed ? pvmi_self_trace.trcbuf : 0))
        flush();
}

/* ---- calls ---- */

/* Whether this process is a task, or becomes one. */
static bool is_enrolled(void)
{
    return pvmi_task.state == PVMI_TASK_IN || (pvmi_task.state == PVMI_TASK_OUT && enrol && !enrol());
}

static void begin_call(int event, const struct pvmi_datum *data, size_t bytes)
{
    if (!is_wanted(event) || !is_enrolled())
        return;
    if (pvmi_self_trace.trcopt == PvmTraceTime)
        gettimeofday(&pvmtevinfo[event].mark, NULL);
    if (pvmi_self_trace.trcopt == PvmTraceTime || pvmi_self_trace.trcopt == PvmTraceCount)
        pvmtevinfo[event].count++;
    else
        record(event | TEV_EVENT_ENTRY, data, bytes);
}

static void add_time(struct Pvmtevinfo *info)
{
    struct timeval now, spent;
    gettimeofday(&now, NULL);
    timersub(&now, &info->mark, &spent);
    timeradd(&info->total, &spent, &info->total);
}

static void end_call(int event, const struct pvmi_datum *data, size_t bytes)
{
    if (!is_wanted(event) || pvmi_task.state != PVMI_TASK_IN)
        return;
    if (pvmi_self_trace.trcopt == PvmTraceTime)
        add_time(&pvmtevinfo[event]);
    else if (pvmi_self_trace.trcopt != PvmTraceCount)
        record(event | TEV_EVENT_EXIT, data, bytes);
}

void pvmi_trace_late(int event, const struct pvmi_datum *data, size_t bytes)
{
    if (!sink.tid)
        return;
    begin_call(event, NULL, 0);
    end_call(event, data, bytes);
}

void pvmi_trace_handler(const struct pvmc_message *m, int mid, int src, int tag, int ctx)
{
    const struct pvmi_datum data[] = {PVMI_INT(RST, src),
                                      PVMI_INT(RMC, tag),
                                      PVMI_INT(RCX, ctx),
                                      PVMI_INT(MB, mid),
                                      PVMI_INT(MNB, (int)m->length),
                                      PVMI_INT(MC, m->tag),
                                      PVMI_INT(MCX, (int)m->ctx),
                                      PVMI_INT(SRC, (int)m->src)};
    begin_call(TEV_MHF_INVOKE, data, sizeof data);
}

/* ---- sums ---- */

/* Records one event with the number of calls, and with PvmTraceTime their time, of each traced function. */
static void record_sums(bool timed)
{
    const char *names[TEV_MAX + 1];
    int seconds[TEV_MAX + 1], microseconds[TEV_MAX + 1], counts[TEV_MAX + 1], n = 0;
    for (int event = TEV_FIRST; event <= TEV_MAX; event++) {
        struct Pvmtevinfo *info = &pvmtevinfo[event];
        if (!info->count)
            continue;
        names[n] = info->name;
        seconds[n] = (int)info->total.tv_sec;
        microseconds[n] = (int)info->total.tv_usec;
        counts[n++] = info->count;
        info->count = 0;
        timerclear(&info->total);
    }
    const struct pvmi_datum of_time[] = {PVMI_INT(VCT, n), PVMI_STRINGS(VID, names, n), PVMI_INTS(TGS, seconds, n),
                                         PVMI_INTS(TGU, microseconds, n), PVMI_INTS(PRF, counts, n)};
    const struct pvmi_datum of_count[] = {PVMI_INT(VCT, n), PVMI_STRINGS(VID, names, n), PVMI_INTS(PRF, counts, n)};
    if (n && timed)
        record(TEV_TIMING, of_time, sizeof of_time);
    else if (n)
        record(TEV_PROFILING, of_count, sizeof of_count);
}

void pvmi_trace_finish(void)
{
    if (pvmi_self_trace.trcopt == PvmTraceTime || pvmi_self_trace.trcopt == PvmTraceCount)
        record_sums(pvmi_self_trace.trcopt == PvmTraceTime);
    flush();
}

/* ---- events of the program ---- */

int pvmi_trace_open_user(struct pvmc_message *m)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    int rc = put_int(m, TEV_MARK_USER_EVENT_RECORD);
    if (!rc)
        rc = put_int(m, TEV_USER_DEFINED);
    if (!rc)
        rc = pvmc_message_pack_string(m, pvmtevinfo[TEV_USER_DEFINED].name);
    if (!rc)
        rc = put_int(m, (int)now.tv_sec);
    return rc ? rc : put_int(m, (int)now.tv_usec);
}

int pvmi_trace_pack_type(struct pvmc_message *m, int type, int n)
{
    for (int i = TEV_DATA_BYTE; i < (int)COUNT_OF(value_types); i++) {
        if (value_types[i] != type)
            continue;
        int rc = put_int(m, n == 1 ? i : i | TEV_DATA_ARRAY);
        return rc || n == 1 ? rc : put_int(m, n);
    }
    return PVMC_EPARAM;
}

/* The program may continue to pack, or send it again. */
int pvmi_trace_send_user(struct pvmc_message *m)
{
    if (m->enc != PVMC_ENC_TRACE)
        return PVMC_EPARAM;
    if (!sink.tid || !is_wanted(TEV_USER_DEFINED))
        return 0;
    uint64_t length = m->length;
    int rc = put_int(m, TEV_MARK_USER_EVENT_RECORD_END);
    if (!rc)
        rc = send_to_sink(m);
    m->length = length;
    return rc;
}
