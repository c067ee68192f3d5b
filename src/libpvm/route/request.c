/* request.c - questions to the daemon: each is kept until the answer with its number comes. */
#include "request.h"
#include <stdlib.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "libpvm/base/gauges.h"
#include "libpvm/base/jump.h"
#include "libpvm/base/lock.h"
#include "manager.h"
#include "send.h"
#include "libpvm/base/task.h"
#include "libpvm/engine/outbox.h"
#include "libpvm/engine/wait.h"

struct pending {
    int32_t wid;
    struct pvmc_message *answer; /* NULL until it arrives */
    const void *thread;          /* the thread that asks */
    pvmc_tid manager;            /* the manager that is asked; 0: our daemon */
    int tag;                     /* of the manager's answer */
    unsigned level;              /* of the call that asks, see jump.h */
    struct pending *next;
};

static struct pending *pending; /* more than one when a handler asks while its task waits, or several threads ask */

static int32_t new_wid(void)
{
    static int32_t last;
    last = last == INT32_MAX ? 1 : last + 1;
    return last;
}

/* NULL when out of memory. Not on the stack: if the program jumps out of a call, its entry stays in the list. */
static struct pending *begin_question(int32_t wid)
{
    struct pending *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->wid = wid;
    p->thread = pvmi_lock_self();
    p->level = pvmi_jump_level();
    LL_PREPEND(pending, p);
    return p;
}

static void end_question(struct pending *p)
{
    LL_DELETE(pending, p);
    free(p);
}

/* Sends a TM message; frees body. */
static int send_body(int tag, int32_t wid, struct pvmc_buf *body)
{
    int rc = body ? pvmc_buf_error(body) : 0;
    struct pvmc_message *m = rc ? NULL : pvmc_message_new(PVMC_ENC_DEFAULT);
    if (!rc && !m)
        rc = PVMC_ENOMEM;
    if (!rc && body)
        rc = pvmc_message_pack_bytes(m, body->data, body->length);
    if (!rc) {
        m->src = pvmi_task.tid;
        m->dst = PVMC_TID_DAEMON;
        m->tag = tag;
        m->ctx = PVMC_CTX_TM;
        m->wid = wid;
        rc = pvmi_send_message(m);
    }
    pvmc_message_unref(m);
    if (body)
        pvmc_buf_free(body);
    return rc;
}

static bool has_answer(void *arg)
{
    return ((struct pending *)arg)->answer;
}

/* Reads the code; the rest stays in *answer, or the answer is freed. */
static int open_answer(struct pvmc_message *m, struct pvmi_answer *answer)
{
    struct pvmi_answer own, *a = answer ? answer : &own;
    a->m = m;
    pvmc_buf_view(&a->body, m->mem ? m->mem->data : NULL, m->length);
    int code = pvmc_buf_get_i32(&a->body);
    if (!answer) {
        int rc = pvmi_answer_end(a);
        return rc ? rc : code;
    }
    return code;
}

/* The same in one frame, to which the descriptor is attached; it is closed. */
static int send_with_descriptor(int tag, int32_t wid, struct pvmc_buf *body, int fd)
{
    const struct pvmc_envelope to = {.dst = PVMC_TID_DAEMON, .ctx = PVMC_CTX_TM, .tag = tag, .wid = wid};
    return pvmi_outbox_put(&to, body, fd);
}

typedef int wait_function(pvmi_condition *done, void *arg, int64_t deadline_us);

static int wait_for_daemon(struct pending *p, wait_function *wait, int64_t deadline_us)
{
    struct pvmi_gauges_wait outer = pvmi_gauges_begin(PVMC_GAUGES_ASKS, (int)PVMC_TID_DAEMON, -1);
    int rc = wait(has_answer, p, deadline_us);
    pvmi_gauges_end(&outer);
    return rc;
}

/* fd: -1: none. */
static int ask(int tag, struct pvmc_buf *body, int fd, struct pvmi_answer *answer, wait_function *wait,
               int64_t deadline_us)
{
    struct pending *p = begin_question(new_wid());
    if (answer)
        *answer = (struct pvmi_answer){0};
    if (!p) {
        if (body)
            pvmc_buf_free(body);
        if (fd >= 0)
            close(fd);
        return PVMC_ENOMEM;
    }
    int rc = fd >= 0 ? send_with_descriptor(tag, p->wid, body, fd) : send_body(tag, p->wid, body);
    if (!rc)
        rc = wait_for_daemon(p, wait, deadline_us);
    struct pvmc_message *m = p->answer;
    end_question(p);
    return m ? open_answer(m, answer) : rc;
}

/* ---- the resource manager ---- */

/* Interval of checks for a manager that has handed over its duty and owes an answer. */
#define LOOK_AFTER_US 1000000
#define ABANDONED_MAX 16

/* Questions to managers that ended: an answer that is still in transit is dropped. */
static struct pending abandoned[ABANDONED_MAX];

static void abandon(const struct pending *p)
{
    static unsigned next;
    abandoned[next++ % ABANDONED_MAX] = *p;
}

/* Whether the manager has answered, or is no longer the manager. */
static bool manager_is_done(void *arg)
{
    const struct pending *p = arg;
    return p->answer || p->manager != pvmi_task.manager;
}

static bool is_there(pvmc_tid tid)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, tid);
    return pvmi_request(PVMC_TM_PSTAT, &body, NULL) == PvmOk;
}

/* A manager that hands over its duty still answers its questions; one that ends does not. */
static int wait_for_manager(struct pending *p)
{
    int rc = manager_is_done(p) ? 0 : pvmi_wait_until(manager_is_done, p, PVMI_WAIT_FOREVER);
    while (!rc && !p->answer && is_there(p->manager)) {
        if (p->answer)
            break;
        rc = pvmi_wait_until(has_answer, p, pvmc_clock_us() + LOOK_AFTER_US);
        rc = rc == PVMC_ETIMEOUT ? 0 : rc;
    }
    return rc;
}

int pvmi_request_manager(struct pvmc_message *m, struct pvmc_message **answer)
{
    m->src = pvmi_task.tid;
    m->dst = pvmi_task.manager;
    m->ctx = PvmBaseContext;
    m->wid = answer ? new_wid() : 0;
    if (!answer)
        return pvmi_send_message(m);
    struct pending *p = begin_question(m->wid);
    if (!p)
        return PVMC_ENOMEM;
    p->manager = m->dst;
    p->tag = m->tag;
    int rc = pvmi_send_message(m);
    struct pvmi_gauges_wait outer = pvmi_gauges_begin(PVMC_GAUGES_ASKS, (int)m->dst, m->tag);
    if (!rc)
        rc = wait_for_manager(p);
    pvmi_gauges_end(&outer);
    if (!p->answer)
        abandon(p);
    *answer = p->answer;
    end_question(p);
    return *answer ? 0 : rc ? rc : PVMC_EUNREACHABLE;
}

bool pvmi_request_take_reply(struct pvmc_message *m)
{
    struct pending *p;
    LL_FOREACH (pending, p)
        if (p->manager == m->src && p->wid == m->wid && p->tag == m->tag && !p->answer) {
            p->answer = m;
            return true;
        }
    for (unsigned i = 0; i < ABANDONED_MAX; i++)
        if (abandoned[i].manager == m->src && abandoned[i].wid == m->wid && abandoned[i].tag == m->tag) {
            pvmc_message_unref(m);
            return true;
        }
    return false;
}

static int ask_in_charge(int tag, struct pvmc_buf *body, struct pvmi_answer *answer, wait_function *wait)
{
    int code;
    if (pvmi_task.manager && pvmi_manager_request(tag, body, answer, &code))
        return code;
    return ask(tag, body, -1, answer, wait, PVMI_WAIT_FOREVER);
}

int pvmi_request(int tag, struct pvmc_buf *body, struct pvmi_answer *answer)
{
    return ask_in_charge(tag, body, answer, pvmi_wait_until);
}

int pvmi_request_read(int tag, struct pvmc_buf *body, int (*read)(struct pvmc_buf *answer, void *arg), void *arg)
{
    struct pvmi_answer answer;
    int rc = pvmi_request(tag, body, &answer);
    if (rc >= 0)
        rc = read(&answer.body, arg);
    int end = pvmi_answer_end(&answer);
    return rc ? rc : end;
}

int pvmi_request_aside(int tag, struct pvmc_buf *body)
{
    return ask_in_charge(tag, body, NULL, pvmi_wait_for_message);
}

int pvmi_request_within(int tag, struct pvmc_buf *body, int fd, struct pvmi_answer *answer, int64_t limit_us)
{
    return ask(tag, body, fd, answer, pvmi_wait_until, pvmc_clock_us() + limit_us);
}

int pvmi_answer_end(struct pvmi_answer *answer)
{
    int rc = answer->m ? pvmc_buf_end(&answer->body) : 0;
    if (rc)
        pvmc_log(PVMC_LOG_ERROR,
                 "the daemon's answer %#x does not have the format that this libpvm expects; is it another version?",
                 (unsigned)answer->m->tag);
    pvmc_message_unref(answer->m);
    answer->m = NULL;
    return rc ? PVMC_EFORMAT : 0;
}

int pvmi_request_one_way(int tag, struct pvmc_buf *body)
{
    return send_body(tag, 0, body);
}

static void forget(struct pending *p)
{
    pvmc_message_unref(p->answer);
    end_question(p);
}

void pvmi_request_forget_others(void)
{
    struct pending *p, *next;
    LL_FOREACH_SAFE (pending, p, next)
        if (p->thread != pvmi_lock_self())
            forget(p);
}

void pvmi_request_undo(unsigned level)
{
    struct pending *p, *next;
    LL_FOREACH_SAFE (pending, p, next) {
        if (p->thread != pvmi_lock_self() || p->level < level)
            continue;
        if (p->manager && !p->answer)
            abandon(p);
        forget(p);
    }
}

void pvmi_request_take_answer(struct pvmc_message *m)
{
    struct pending *p;
    LL_FOREACH (pending, p)
        if (p->wid == m->wid && !p->manager && !p->answer) {
            p->answer = m;
            return;
        }
    pvmc_log(PVMC_LOG_DEBUG, "ignored answer %#x, for which no call waits any more", (unsigned)m->tag);
    pvmc_message_unref(m);
}
