/* trace.c - see trace.h. */
#include "trace.h"
#include <stdlib.h>
#include <sys/time.h>
#include <utlist.h>
#include "pvmtev.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/tev.h"
#include "pvmd/base/self.h"
#include "pvmd/frames/relay.h"
#include "watch.h"

#define COUNT_OF(a)      (sizeof(a) / sizeof((a)[0]))
#define DESTINATIONS_MAX 1024

enum event { NEW_TASK, SPAWNED_TASK, END_TASK };

/* A number of an event. */
struct datum {
    int id; /* TEV_DID_... */
    int value;
};

/* A task that has received the description of events; kept until its end. */
struct destination {
    struct pvmd_collector to;
    bool described[END_TASK + 1];
    struct pvmd_watch *watch;
    struct destination *prev, *next;
};

static const struct {
    int id;
    const char *name;
} events[] = {
    [NEW_TASK] = {TEV_NEWTASK, "newtask"},
    [SPAWNED_TASK] = {TEV_SPNTASK, "spntask"},
    [END_TASK] = {TEV_ENDTASK, "endtask"},
};

static struct destination *destinations;
static unsigned destination_count;

/* ---- messages ---- */

static int put_int(struct pvmc_message *m, int value)
{
    return pvmc_message_pack(m, PVM_INT, &value, 1, 1);
}

static struct pvmc_message *message_to(const struct pvmd_collector *to)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    if (!m)
        return NULL;
    bool is_far = pvmc_tid_host(to->tid) != pvmd_host_tid();
    m->src = PVMC_TID_DAEMON | (is_far ? pvmd_host_tid() : 0);
    m->dst = to->tid;
    m->ctx = to->ctx;
    m->tag = to->tag;
    return m;
}

/* Sends a message if packing succeeded. */
static void send_off(struct pvmc_message *m, int rc)
{
    if (!rc)
        pvmd_relay_message(m);
    pvmc_message_unref(m);
}

/* Sends the first message to a destination: names and meanings of all data. */
static void send_data_names(const struct pvmd_collector *to)
{
    static const char *const names[][2] = {
#define X(id, text) {#id, text},
        PVMC_TEV_DATA(X)
#undef X
    };
    struct pvmc_message *m = message_to(to);
    int rc = m ? put_int(m, TEV_MARK_DATA_ID) : PVMC_ENOMEM;
    for (int id = 0; id < (int)COUNT_OF(names) && !rc; id++) {
        rc = put_int(m, id);
        for (int i = 0; i < 2 && !rc; i++)
            rc = pvmc_message_pack_string(m, names[id][i]);
    }
    if (!rc)
        rc = put_int(m, TEV_MARK_DATA_ID_END);
    send_off(m, rc);
}

/* ---- destinations ---- */

static void forget(struct destination *d)
{
    pvmd_watch_cancel(d->watch);
    DL_DELETE(destinations, d);
    destination_count--;
    free(d);
}

static void ended(void *arg, pvmc_tid tid)
{
    (void)tid;
    struct destination *d = arg;
    d->watch = NULL; /* freed by watch.c */
    forget(d);
}

static struct destination *add_destination(const struct pvmd_collector *to)
{
    struct destination *d = destination_count < DESTINATIONS_MAX ? calloc(1, sizeof *d) : NULL;
    if (!d) {
        pvmc_log_once(PVMC_LOG_WARNING, "more than %d trace destinations: some receive no events", DESTINATIONS_MAX);
        return NULL;
    }
    d->to = *to;
    DL_APPEND(destinations, d);
    destination_count++;
    send_data_names(to);
    d->watch = pvmd_watch(to->tid, ended, d);
    if (d->watch)
        return d;
    forget(d);
    return NULL;
}

/* NULL: it has none, or memory is out. */
static struct destination *find_destination(const struct pvmd_collector *to)
{
    struct destination *d;
    if (!pvmc_tid_is_task(to->tid))
        return NULL;
    DL_FOREACH (destinations, d)
        if (d->to.tid == to->tid && d->to.ctx == to->ctx && d->to.tag == to->tag)
            return d;
    return add_destination(to);
}

/* ---- events ---- */

static int put_data(struct pvmc_message *m, const struct datum *data, size_t n, bool describe)
{
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        int described[] = {data[i].id, TEV_DATA_INT, data[i].value};
        rc = describe ? pvmc_message_pack(m, PVM_INT, described, 3, 1) : put_int(m, data[i].value);
    }
    return rc;
}

static int put_name(struct pvmc_message *m, const char *name, bool describe)
{
    int described[] = {TEV_DID_TN, TEV_DATA_STRING};
    int rc = describe ? pvmc_message_pack(m, PVM_INT, described, 2, 1) : 0;
    return rc ? rc : pvmc_message_pack_string(m, name);
}

/* An event: time, task, numbers and, unless it is NULL, the task's name. */
static int put_event(struct pvmc_message *m, enum event event, bool describe, pvmc_tid tid, const struct datum *data,
                     size_t n, const char *name)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    const struct datum head[] = {
        {TEV_DID_TS, (int)now.tv_sec}, {TEV_DID_TU, (int)now.tv_usec}, {TEV_DID_TID, (int)tid}};
    int rc = put_int(m, describe ? TEV_MARK_EVENT_DESC : TEV_MARK_EVENT_RECORD);
    if (!rc)
        rc = put_int(m, events[event].id);
    if (!rc && describe)
        rc = pvmc_message_pack_string(m, events[event].name);
    if (!rc)
        rc = put_data(m, head, COUNT_OF(head), describe);
    if (!rc)
        rc = put_data(m, data, n, describe);
    if (!rc && name)
        rc = put_name(m, name, describe);
    return rc ? rc : put_int(m, describe ? TEV_MARK_EVENT_DESC_END : TEV_MARK_EVENT_RECORD_END);
}

/* endtask is described each time, because the receiver may read a later one first while a link to the task is up. */
static bool must_describe(const struct destination *d, enum event event)
{
    return event == END_TASK || !d->described[event];
}

static void tell(const struct pvmd_collector *to, enum event event, pvmc_tid tid, const struct datum *data, size_t n,
                 const char *name)
{
    struct destination *d = find_destination(to);
    struct pvmc_message *m = d ? message_to(to) : NULL;
    if (!m)
        return;
    int rc = put_event(m, event, must_describe(d, event), tid, data, n, name);
    d->described[event] = true;
    send_off(m, rc);
}

/* -1, as in PVM, for a task that was not spawned. */
static int shown_parent(int32_t parent)
{
    return parent == PvmNoParent ? -1 : parent;
}

void pvmd_trace_new(const struct pvmd_task *task)
{
    const struct datum data[] = {{TEV_DID_PT, shown_parent(task->parent)}, {TEV_DID_TF, task->spawn_flags}};
    tell(&task->trace, NEW_TASK, task->tid, data, COUNT_OF(data), task->name);
}

void pvmd_trace_spawned(const struct pvmd_collector *to, pvmc_tid tid, int32_t parent)
{
    const struct datum data[] = {{TEV_DID_PT, shown_parent(parent)}};
    tell(to, SPAWNED_TASK, tid, data, COUNT_OF(data), NULL);
}

void pvmd_trace_task_ends(const struct pvmd_task *task)
{
    const struct datum data[] = {{TEV_DID_TST, task->status},
                                 {TEV_DID_TUS, task->times[0]},
                                 {TEV_DID_TUU, task->times[1]},
                                 {TEV_DID_TSS, task->times[2]},
                                 {TEV_DID_TSU, task->times[3]}};
    tell(&task->trace, END_TASK, task->tid, data, COUNT_OF(data), NULL);
}

void pvmd_trace_stop(void)
{
    while (destinations)
        forget(destinations);
}
