/* mailbox.c - see mailbox.h. */
#include "mailbox.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "../core/error.h"
#include "../core/hash.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "daemon.h"
#include "mailbox_store.h"
#include "rpc.h"
#include "tasks.h"
#include "turn.h"
#include "watch.h"

/* ---- reading requests ---- */

static void get_spared(struct pvmi_buf *b, struct pvmd_mailbox_request *m)
{
    m->spared_count = pvmi_buf_get_u32(b);
    if (m->spared_count > PVMI_TID_LOCAL_MASK && !b->error)
        b->error = PVMI_ELIMIT;
    if (m->spared_count > pvmi_buf_left(b) / 4) {
        m->spared_count = 0;
        pvmi_buf_get_bytes(b, SIZE_MAX);
        return;
    }
    m->spared = calloc(m->spared_count + 1, sizeof *m->spared);
    for (uint32_t i = 0; m->spared && i < m->spared_count; i++)
        m->spared[i] = pvmi_buf_get_u32(b);
}

int pvmd_mailbox_request_get(struct pvmi_buf *b, struct pvmd_mailbox_request *m)
{
    *m = (struct pvmd_mailbox_request){.op = pvmi_buf_get_u8(b), .index = -1};
    if (m->op < PVMI_MAILBOX_PUT || m->op > PVMI_MAILBOX_RESET)
        return PVMI_EFORMAT;
    if (m->op == PVMI_MAILBOX_RESET)
        get_spared(b, m);
    pvmi_buf_get_string_to(b, m->name, sizeof m->name);
    if (m->op != PVMI_MAILBOX_NAMES)
        m->index = pvmi_buf_get_i32(b);
    if (m->op != PVMI_MAILBOX_NAMES && m->op != PVMI_MAILBOX_RESET)
        m->flags = pvmi_buf_get_u32(b);
    if (m->op == PVMI_MAILBOX_PUT) {
        m->enc = pvmi_buf_get_u32(b);
        m->dsig = pvmi_buf_get_u32(b);
        m->data = pvmi_buf_get_blob(b, &m->length);
    }
    return pvmi_buf_end(b);
}

void pvmd_mailbox_request_free(struct pvmd_mailbox_request *m)
{
    free(m->spared);
    m->spared = NULL;
}

/* ---- at the task's daemon ---- */

static void passed_answered(void *arg, unsigned host_index, int code, struct pvmi_buf *body)
{
    (void)host_index;
    struct pvmd_request *r = arg;
    struct pvmi_buf rest;
    size_t length = pvmi_buf_left(body);
    pvmi_buf_view(&rest, pvmi_buf_get_bytes(body, length), length);
    pvmd_request_answer(r, code, &rest);
    free(r);
}

/* A name too long for the store is the task's mistake, not a malformed message. */
static int check(struct pvmi_buf body)
{
    struct pvmd_mailbox_request m;
    int rc = pvmd_mailbox_request_get(&body, &m);
    pvmd_mailbox_request_free(&m);
    return rc;
}

static int mailbox_request(const struct pvmd_request *r, struct pvmi_buf *body)
{
    int rc = check(*body);
    if (rc == PVMI_ELIMIT) {
        pvmd_request_answer(r, PvmBadParam, NULL);
        return 0;
    }
    struct pvmd_request *copy = rc ? NULL : malloc(sizeof *copy);
    if (!copy)
        return rc ? rc : PVMI_ENOMEM;
    *copy = *r;
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmi_buf_put_u32(&b, r->tid);
    pvmi_buf_put_bytes(&b, body->data, body->length);
    pvmd_ask(pvmd.master_index, PVMD_DM_MAILBOX, &b, passed_answered, copy);
    pvmi_buf_free(&b);
    return 0;
}

/* ---- at the master: owners ---- */

struct owner {
    pvmi_tid tid;
    struct pvmd_watch *watch;
    UT_hash_handle hh;
};

static struct owner *owners;

static void owner_ended(void *arg, pvmi_tid tid)
{
    struct owner *o = arg;
    HASH_DEL(owners, o);
    free(o);
    pvmd_mailbox_owner_ended(tid);
}

/* 0 if we will hear when this task ends. */
static int watch_owner(pvmi_tid tid)
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
    if (!o->watch || !PVMI_HASH_ADD(hh, owners, tid, o)) {
        pvmd_watch_cancel(o->watch);
        free(o);
        return PvmNoMem;
    }
    return 0;
}

/* ---- at the master: those who wait for an entry ---- */

struct waiter {
    struct pvmd_question question;
    pvmi_tid who;
    char *name;
    int index;
    uint32_t flags;
    bool is_called;           /* an entry of that name has come */
    struct pvmd_watch *watch; /* of who waits */
    struct waiter *prev, *next;
};

static struct waiter *waiters;

#define WAITING_MAX 256 /* of one task, which has one for each of its threads */

static bool may_wait(pvmi_tid who)
{
    const struct waiter *w;
    unsigned n = 0;
    DL_FOREACH (waiters, w)
        n += w->who == who;
    if (n < WAITING_MAX)
        return true;
    pvmi_log_once(PVMI_LOG_WARNING, "t%x: more than %d calls of pvm_recvinfo() wait", who, WAITING_MAX);
    return false;
}

static void waiter_free(struct waiter *w)
{
    DL_DELETE(waiters, w);
    pvmd_watch_cancel(w->watch);
    free(w->name);
    free(w);
}

static void waiter_ended(void *arg, pvmi_tid tid)
{
    (void)tid;
    struct waiter *w = arg;
    w->watch = NULL;
    pvmd_answer(&w->question, PvmNoTask, NULL); /* its daemon need not remember the request any longer */
    waiter_free(w);
}

static int wait_for(const struct pvmd_question *q, pvmi_tid who, const struct pvmd_mailbox_request *m)
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
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmi_buf_put_u32(&b, mail->flags);
    pvmi_buf_put_u32(&b, mail->owner);
    pvmi_buf_put_u32(&b, mail->enc);
    pvmi_buf_put_u32(&b, mail->dsig);
    pvmi_buf_put_blob(&b, mail->data, mail->length);
    pvmd_answer(q, mail->index, &b);
    pvmi_buf_free(&b);
}

/* Answers if the entry is there, or may not be had. False: it is not there. */
static bool get(const struct pvmd_question *q, pvmi_tid who, const char *name, int index, uint32_t flags)
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

/* In order of their coming, as many as a turn has time for: an entry may be large, and many wait for it. */
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

static void put(const struct pvmd_question *q, pvmi_tid who, const struct pvmd_mailbox_request *m)
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

static void get_or_wait(const struct pvmd_question *q, pvmi_tid who, const struct pvmd_mailbox_request *m)
{
    if (get(q, who, m->name, m->index, m->flags))
        return;
    int rc = m->flags & PvmMboxWaitForInfo ? wait_for(q, who, m) : PvmNotFound;
    if (rc)
        pvmd_answer(q, rc, NULL);
}

static void list_names(const struct pvmd_question *q, const char *pattern)
{
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmd_mailbox_put_names(&b, *pattern ? pattern : "*");
    pvmd_answer(q, pvmi_buf_error(&b) ? PvmOutOfRes : PvmOk, pvmi_buf_error(&b) ? NULL : &b);
    pvmi_buf_free(&b);
}

static void carry_out(const struct pvmd_question *q, pvmi_tid who, const struct pvmd_mailbox_request *m)
{
    switch (m->op) {
    case PVMI_MAILBOX_PUT:
        put(q, who, m);
        break;
    case PVMI_MAILBOX_REMOVE:
        pvmd_answer(q, pvmd_mailbox_remove(m->name, m->index, m->flags, who), NULL);
        break;
    case PVMI_MAILBOX_GET:
        get_or_wait(q, who, m);
        break;
    case PVMI_MAILBOX_NAMES:
        list_names(q, m->name);
        break;
    default:
        pvmd_mailbox_reset(m->name, m->index, m->spared, m->spared_count);
        pvmd_answer(q, PvmOk, NULL);
    }
}

static int mailbox_question(const struct pvmd_question *q, struct pvmi_buf *body)
{
    struct pvmd_mailbox_request m;
    pvmi_tid who = pvmi_buf_get_u32(body);
    int rc = pvmd_mailbox_request_get(body, &m);
    if (!rc)
        carry_out(q, who, &m);
    pvmd_mailbox_request_free(&m);
    return rc;
}

void pvmd_mailbox_start(void)
{
    pvmd_tm_handle(PVMI_TM_MAILBOX, mailbox_request);
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
