/* mailbox.c - see mailbox.h. */
#include "mailbox.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "mailbox_store.h"
#include "pvmd/net/rpc.h"
#include "pvmd/tasks/tasks.h"
#include "pvmd/base/turn.h"
#include "pvmd/tasks/watch.h"

/* ---- reading requests ---- */

/* A request as it travels. */
struct request {
    int op; /* enum pvmc_mailbox_op */
    char name[PVMD_MAILBOX_NAME_MAX + 1];
    int index;
    uint32_t flags, enc, dsig;
    const uint8_t *data; /* in the buffer that was read */
    size_t length;
    pvmc_tid *spared; /* RESET only */
    uint32_t spared_count;
};

static void get_spared(struct pvmc_buf *b, struct request *m)
{
    m->spared_count = pvmc_buf_get_u32(b);
    if (m->spared_count > PVMC_TID_LOCAL_MASK && !b->error)
        b->error = PVMC_ELIMIT;
    if (m->spared_count > pvmc_buf_left(b) / 4) {
        m->spared_count = 0;
        pvmc_buf_get_bytes(b, SIZE_MAX);
        return;
    }
    m->spared = calloc(m->spared_count + 1, sizeof *m->spared);
    for (uint32_t i = 0; m->spared && i < m->spared_count; i++)
        m->spared[i] = pvmc_buf_get_u32(b);
}

/* Reads and checks a request. Returns 0 or a PVMC_E code; free_request() is due in both cases. */
static int get_request(struct pvmc_buf *b, struct request *m)
{
    *m = (struct request){.op = pvmc_buf_get_u8(b), .index = -1};
    if (m->op < PVMC_MAILBOX_PUT || m->op > PVMC_MAILBOX_RESET)
        return PVMC_EFORMAT;
    if (m->op == PVMC_MAILBOX_RESET)
        get_spared(b, m);
    pvmc_buf_get_string_to(b, m->name, sizeof m->name);
    if (m->op != PVMC_MAILBOX_NAMES)
        m->index = pvmc_buf_get_i32(b);
    if (m->op != PVMC_MAILBOX_NAMES && m->op != PVMC_MAILBOX_RESET)
        m->flags = pvmc_buf_get_u32(b);
    if (m->op == PVMC_MAILBOX_PUT) {
        m->enc = pvmc_buf_get_u32(b);
        m->dsig = pvmc_buf_get_u32(b);
        m->data = pvmc_buf_get_blob(b, &m->length);
    }
    return pvmc_buf_end(b);
}

static void free_request(struct request *m)
{
    free(m->spared);
    m->spared = NULL;
}

/* ---- at the task's daemon ---- */

static void passed_answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)host_index;
    struct pvmd_request *r = arg;
    struct pvmc_buf rest;
    size_t length = pvmc_buf_left(body);
    pvmc_buf_view(&rest, pvmc_buf_get_bytes(body, length), length);
    pvmd_request_answer(r, code, &rest);
    free(r);
}

/* A name that is too long for the store is the program's mistake, not a malformed message. */
static int check(struct pvmc_buf body)
{
    struct request m;
    int rc = get_request(&body, &m);
    free_request(&m);
    return rc;
}

static int mailbox_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    int rc = check(*body);
    if (rc == PVMC_ELIMIT) {
        pvmd_request_answer(r, PvmBadParam, NULL);
        return 0;
    }
    struct pvmd_request *copy = rc ? NULL : malloc(sizeof *copy);
    if (!copy)
        return rc ? rc : PVMC_ENOMEM;
    *copy = *r;
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, r->tid);
    pvmc_buf_put_bytes(&b, body->data, body->length);
    pvmd_ask(pvmd.master_index, PVMD_DM_MAILBOX, &b, passed_answered, copy);
    pvmc_buf_free(&b);
    return 0;
}

/* ---- at the master: owners of entries ---- */

struct owner {
    pvmc_tid tid;
    struct pvmd_watch *watch;
    UT_hash_handle hh;
};

static struct owner *owners;

static void owner_ended(void *arg, pvmc_tid tid)
{
    struct owner *o = arg;
    HASH_DEL(owners, o);
    free(o);
    pvmd_mailbox_owner_ended(tid);
}

/* Watches the task. Returns 0 if its end will be reported. */
static int watch_owner(pvmc_tid tid)
{
    struct owner *o;
    HASH_FIND_INT(owners, &tid, o);
    if (o)
        return 0;
    o = calloc(1, sizeof *o);
    if (!o)
        return PvmNoMem;
    o->tid = tid;
    o->watch = pvmd_watch(tid, owner_ended, o);
    if (!o->watch || !PVMC_HASH_ADD(hh, owners, tid, o)) {
        pvmd_watch_cancel(o->watch);
        free(o);
        return PvmNoMem;
    }
    return 0;
}

/* ---- at the master: requests that wait for an entry ---- */

struct waiter {
    struct pvmd_question question;
    pvmc_tid who;
    char *name;
    int index;
    uint32_t flags;
    bool is_called;           /* an entry of that name has arrived */
    struct pvmd_watch *watch; /* on the waiting task */
    struct waiter *prev, *next;
};

static struct waiter *waiters;

#define WAITING_MAX 256 /* per task, which has one for each of its threads */

static bool may_wait(pvmc_tid who)
{
    const struct waiter *w;
    unsigned n = 0;
    DL_FOREACH (waiters, w)
        n += w->who == who;
    if (n < WAITING_MAX)
        return true;
    pvmc_log_once(PVMC_LOG_WARNING, "t%x: more than %d calls of pvm_recvinfo() wait", who, WAITING_MAX);
    return false;
}

static void waiter_free(struct waiter *w)
{
    DL_DELETE(waiters, w);
    pvmd_watch_cancel(w->watch);
    free(w->name);
    free(w);
}

static void waiter_ended(void *arg, pvmc_tid tid)
{
    (void)tid;
    struct waiter *w = arg;
    w->watch = NULL;
    pvmd_answer(&w->question, PvmNoTask, NULL); /* so that its daemon forgets the request */
    waiter_free(w);
}

static int wait_for(const struct pvmd_question *q, pvmc_tid who, const struct request *m)
{
    if (!may_wait(who))
        return PvmOutOfRes;
    struct waiter *w = calloc(1, sizeof *w);
    if (!w || !(w->name = strdup(m->name))) {
        free(w);
        return PvmNoMem;
    }
    w->question = *q;
    w->who = who;
    w->index = m->index;
    w->flags = m->flags;
    DL_APPEND(waiters, w);
    w->watch = pvmd_watch(who, waiter_ended, w);
    return PvmOk;
}

/* ---- at the master: operations ---- */

static void answer_mail(const struct pvmd_question *q, const struct pvmd_mail *mail)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, mail->flags);
    pvmc_buf_put_u32(&b, mail->owner);
    pvmc_buf_put_u32(&b, mail->enc);
    pvmc_buf_put_u32(&b, mail->dsig);
    pvmc_buf_put_blob(&b, mail->data, mail->length);
    pvmd_answer(q, mail->index, &b);
    pvmc_buf_free(&b);
}

/* Answers if the entry exists, or if the task may not have it. Returns false if there is none. */
static bool get(const struct pvmd_question *q, pvmc_tid who, const char *name, int index, uint32_t flags)
{
    struct pvmd_mail *mail;
    int rc = pvmd_mailbox_find(name, index, flags, who, &mail);
    if (rc == PvmNotFound)
        return false;
    if (rc < 0) {
        pvmd_answer(q, rc, NULL);
        return true;
    }
    answer_mail(q, mail);
    if (flags & PvmMboxReadAndDelete)
        pvmd_mailbox_remove(name, mail->index, 0, who);
    return true;
}

/*
 * Serves waiting requests in order, until the turn has lasted long enough: an entry may be large, and many may wait for
 * it.
 */
static bool serve_some(void)
{
    struct waiter *w, *next;
    DL_FOREACH_SAFE (waiters, w, next) {
        if (!w->is_called)
            continue;
        w->is_called = false;
        if (get(&w->question, w->who, w->name, w->index, w->flags))
            waiter_free(w);
        if (pvmd_turn_is_long())
            return true;
    }
    return false;
}

static struct pvmd_work serving = {.step = serve_some};

static void serve_waiters(const char *name)
{
    struct waiter *w;
    DL_FOREACH (waiters, w)
        w->is_called = w->is_called || !strcmp(w->name, name);
    if (serve_some())
        pvmd_work_begin(&serving);
}

static void put(const struct pvmd_question *q, pvmc_tid who, const struct request *m)
{
    struct pvmd_mail mail = {.owner = who,
                             .flags = m->flags,
                             .enc = m->enc,
                             .dsig = m->dsig,
                             .data = (uint8_t *)m->data,
                             .length = m->length};
    int rc = watch_owner(who);
    if (!rc)
        rc = pvmd_mailbox_put(m->name, m->index, &mail);
    pvmd_answer(q, rc, NULL);
    if (rc >= 0)
        serve_waiters(m->name);
}

static void get_or_wait(const struct pvmd_question *q, pvmc_tid who, const struct request *m)
{
    if (get(q, who, m->name, m->index, m->flags))
        return;
    int rc = m->flags & PvmMboxWaitForInfo ? wait_for(q, who, m) : PvmNotFound;
    if (rc)
        pvmd_answer(q, rc, NULL);
}

static void list_names(const struct pvmd_question *q, const char *pattern)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmd_mailbox_put_names(&b, *pattern ? pattern : "*");
    pvmd_answer(q, pvmc_buf_error(&b) ? PvmOutOfRes : PvmOk, pvmc_buf_error(&b) ? NULL : &b);
    pvmc_buf_free(&b);
}

static void carry_out(const struct pvmd_question *q, pvmc_tid who, const struct request *m)
{
    switch (m->op) {
    case PVMC_MAILBOX_PUT:
        put(q, who, m);
        break;
    case PVMC_MAILBOX_REMOVE:
        pvmd_answer(q, pvmd_mailbox_remove(m->name, m->index, m->flags, who), NULL);
        break;
    case PVMC_MAILBOX_GET:
        get_or_wait(q, who, m);
        break;
    case PVMC_MAILBOX_NAMES:
        list_names(q, m->name);
        break;
    default:
        pvmd_mailbox_reset(m->name, m->index, m->spared, m->spared_count);
        pvmd_answer(q, PvmOk, NULL);
    }
}

static int mailbox_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    struct request m;
    pvmc_tid who = pvmc_buf_get_u32(body);
    int rc = get_request(body, &m);
    if (!rc)
        carry_out(q, who, &m);
    free_request(&m);
    return rc;
}

void pvmd_mailbox_start(void)
{
    pvmd_tm_handle(PVMC_TM_MAILBOX, mailbox_request);
    pvmd_dm_handle(PVMD_DM_MAILBOX, mailbox_question);
}

void pvmd_mailbox_stop(void)
{
    struct waiter *w, *next_waiter;
    pvmd_work_stop(&serving);
    DL_FOREACH_SAFE (waiters, w, next_waiter)
        waiter_free(w);
    struct owner *o, *next;
    HASH_ITER (hh, owners, o, next) {
        HASH_DEL(owners, o);
        pvmd_watch_cancel(o->watch);
        free(o);
    }
    pvmd_mailbox_free_all();
}
