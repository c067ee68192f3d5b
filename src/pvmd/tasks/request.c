/* request.c - see request.h. */
#include "request.h"
#include <stdio.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "enrol.h"
#include "pvmd/frames/relay.h"
#include "pvmd/base/stats.h"

#define UNREAD_MAX_BYTES     ((size_t)256 << 20) /* of answers that one task has not read */
#define UNANSWERED_MAX       1024                /* requests of one task, which has one for each of its threads */
#define UNANSWERED_MAX_BYTES ((size_t)128 << 20) /* of their bodies */

/* ---- the table ---- */

struct row {
    const char *name;
    unsigned states; /* PVMD_CLIENT_* */
    size_t minimum;  /* bytes of the body */
    size_t maximum;
    pvmd_tm_handler *handler;
};

#define KIB (size_t)1024
#define MIB (1024 * KIB)
#define ROW(message, state, min, max)                                                                                  \
    [PVMC_TM_##message -                                                                                               \
        PVMC_TM_CONNECT] = {.name = #message, .states = PVMD_CLIENT_##state, .minimum = min, .maximum = max}

/* The maxima fit the largest program of a full machine; tests/machine/limits/worst sends the worst of that size. */
static struct row rows[] = {
    ROW(CONNECT, NEW, 20, 4 * KIB), /* its handler is pvmd_enrol_connect() */
    ROW(EXIT, TASK, 0, 0),          /* pvmd_enrol_exit() */
    ROW(ADDHOSTS, TASK, 4, 1 * MIB),
    ROW(DELHOSTS, TASK, 4, 1 * MIB),
    ROW(CONFIG, TASK, 0, 0),
    ROW(MSTAT, TASK, 4, 4 * KIB),
    ROW(HALT, TASK, 0, 0),
    ROW(TICKLE, TASK, 4, 4 * KIB),
    ROW(SPAWN, TASK, 60, 8 * MIB),
    ROW(PSTAT, TASK, 4, 4),
    ROW(SENDSIG, TASK, 8, 8),
    ROW(TASKS, TASK, 4, 4),
    ROW(MULTICAST, TASK, 8, 8 + 8 * PVMC_MULTICAST_MAX),
    ROW(NOTIFY, TASK, 20, 20 + 4 * 65536),
    ROW(MAILBOX, TASK, 5, 33 * MIB),
    ROW(HOSTSYNC, TASK, 4, 4),
    ROW(SETOPT, TASK, 8, 8),
    ROW(CONTEXT, TASK, 5, 5),
    ROW(REGISTER, TASK, 2, 2),
    ROW(SIBLINGS, TASK, 4, 1 * MIB + 4),
    ROW(INPUT, TASK, 8, 8 + PVMC_INPUT_MAX),
    ROW(USAGE, TASK, 4, 4),
    ROW(TOKEN, TASK, 1, 64),
    ROW(ROTATE, TASK, 0, 0),
    ROW(LEAVE, TASK, 8, 8),
    ROW(SLOTS, TASK, 4, 4),
};

static struct row *row_of(int32_t tag)
{
    uint32_t i = (uint32_t)tag - (uint32_t)PVMC_TM_CONNECT;
    return i < sizeof rows / sizeof rows[0] ? &rows[i] : NULL;
}

void pvmd_tm_handle(int tag, pvmd_tm_handler *handler)
{
    row_of(tag)->handler = handler;
}

/* ---- requests ---- */

/* Requests that wait for an answer have their own limits, because each occupies memory until then. */
static int handle(pvmd_tm_handler *handler, const struct pvmd_request *r, struct pvmc_buf *body)
{
    pvmd_queue_payer = r->wid ? 0 : r->tid;
    int rc = handler(r, body);
    pvmd_queue_payer = 0;
    return rc;
}

static int dispatch(struct pvmd_client *c, const struct row *row, const struct pvmd_request *r, struct pvmc_buf *body)
{
    if (r->tag == (int32_t)PVMC_TM_CONNECT)
        return pvmd_enrol_connect(c, r, body);
    if (r->tag == (int32_t)PVMC_TM_EXIT)
        return pvmd_enrol_exit(c, r, body);
    if (row->handler)
        return handle(row->handler, r, body);
    pvmd_request_answer(r, PvmNotImpl, NULL);
    return 0;
}

/* Beyond the limits a request is not executed, but answered with PvmOutOfRes. */
static bool is_within_limits(struct pvmd_client *c, const struct row *row, const struct pvmd_request *r,
                             const struct pvmc_message *m)
{
    struct pvmd_task *task = c->task;
    if (!task)
        return true;
    task->unanswered += r->wid != 0;
    task->unanswered_bytes += r->bytes;
    if (m->length <= row->maximum && task->unanswered <= UNANSWERED_MAX &&
        task->unanswered_bytes <= UNANSWERED_MAX_BYTES)
        return true;
    if (m->length > row->maximum)
        pvmc_log(PVMC_LOG_WARNING, "t%x: request %s of %llu bytes refused: the limit is %zu", task->tid, row->name,
                 (unsigned long long)m->length, row->maximum);
    else
        pvmc_log_once(PVMC_LOG_WARNING, "t%x: more than %d requests, or %zu bytes of them, wait for their answers",
                      task->tid, UNANSWERED_MAX, UNANSWERED_MAX_BYTES);
    pvmd_request_answer(r, PvmOutOfRes, NULL);
    return false;
}

static void receive(struct pvmd_client *c, const struct pvmc_message *m)
{
    char why[80];
    const struct row *row = row_of(m->tag);
    struct pvmd_request r = {.tid = c->task ? c->task->tid : 0, .tag = m->tag, .wid = m->wid};
    r.bytes = r.wid ? (uint32_t)m->length : 0;
    struct pvmc_buf body;
    pvmc_buf_view(&body, m->mem ? m->mem->data : NULL, m->length);
    pvmd_stats.requests++;
    int rc = !row || !(row->states & c->state) ? PVMC_EDENIED
             : m->length < row->minimum        ? PVMC_ESHORT
             : is_within_limits(c, row, &r, m) ? dispatch(c, row, &r, &body)
                                               : 0;
    if (!rc)
        return; /* c may be gone */
    snprintf(why, sizeof why, "bad request %s (%#x): %s", row ? row->name : "", (unsigned)m->tag, pvmc_error_text(rc));
    pvmd_client_refuse(c, why);
}

void pvmd_request_frame(struct pvmd_client *c, const struct pvmc_frame *f)
{
    struct pvmc_message *whole;
    int rc = pvmd_reassembly_add(&c->request, f, &whole);
    c->descriptor = f->fd;
    if (rc)
        pvmd_client_refuse(c, pvmc_error_text(rc));
    else if (whole)
        receive(c, whole);
    pvmc_message_unref(whole);
}

/* ---- answers ---- */

static struct pvmc_message *make_answer(const struct pvmd_request *r, int code, const struct pvmc_buf *body)
{
    struct pvmc_buf head;
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    if (!m)
        return NULL;
    m->src = PVMC_TID_DAEMON;
    m->dst = r->tid;
    m->ctx = PVMC_CTX_TM;
    m->tag = r->tag;
    m->wid = r->wid;
    pvmc_buf_init(&head);
    pvmc_buf_put_i32(&head, code);
    int rc = pvmc_buf_error(&head);
    if (!rc)
        rc = pvmc_message_pack_bytes(m, head.data, head.length);
    if (!rc && body)
        rc = pvmc_message_pack_bytes(m, body->data, body->length);
    pvmc_buf_free(&head);
    if (!rc)
        return m;
    pvmc_message_unref(m);
    return NULL;
}

void pvmd_request_answer(const struct pvmd_request *r, int code, const struct pvmc_buf *body)
{
    struct pvmd_task *task = r->wid ? pvmd_task_by_tid(r->tid) : NULL;
    if (!task)
        return;
    task->unanswered -= task->unanswered > 0;
    task->unanswered_bytes -= r->bytes;
    int failure = task->queue.answer_bytes > UNREAD_MAX_BYTES ? PvmOutOfRes
                  : body && pvmc_buf_error(body)              ? PvmNoMem
                                                              : 0;
    struct pvmc_message *m = make_answer(r, failure ? failure : code, failure ? NULL : body);
    if (m)
        pvmd_relay_message(m);
    else
        pvmd_task_cut(r->tid);
    pvmc_message_unref(m);
}

struct pvmc_frame *pvmd_request_answer_frame(const struct pvmd_request *r, int code, const struct pvmc_buf *body)
{
    struct pvmc_message *m = make_answer(r, code, body);
    struct pvmc_frame *f = m ? pvmc_message_frame(m, 0, PVMC_FRAME_PAYLOAD_MAX, 0) : NULL;
    pvmc_message_unref(m);
    return f;
}
