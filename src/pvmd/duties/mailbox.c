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
#include "pvmd/hosts/forward.h"
#include "mailbox_store.h"
#include "pvmd/quorum/petition.h"
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
    if (rc)
        return rc;
    return pvmd_forward_named(r, PVMD_DM_MAILBOX, body);
}

/* ---- changes, as the other members make them ---- */

/* In an entry's owner: it has ended. Bit of no task's tid. */
#define HAS_ENDED PVMC_TID_DAEMON

enum { ENTRY_PUT = 1, ENTRY_REMOVED, OWNER_ENDED, CLASS_RESET };

static void put_entry(struct pvmc_buf *b, const char *name, const struct pvmd_mail *mail)
{
    pvmc_buf_put_u8(b, ENTRY_PUT);
    pvmc_buf_put_string(b, name);
    pvmc_buf_put_i32(b, mail->index);
    pvmc_buf_put_u32(b, mail->owner || !mail->src ? mail->owner : mail->src | HAS_ENDED);
    pvmc_buf_put_u32(b, mail->flags);
    pvmc_buf_put_u32(b, mail->enc);
    pvmc_buf_put_u32(b, mail->dsig);
    pvmc_buf_put_blob(b, mail->data, mail->length);
}

static int get_entry(struct pvmc_buf *b)
{
    char name[PVMD_MAILBOX_NAME_MAX + 1];
    struct pvmd_mail mail = {0};
    pvmc_buf_get_string_to(b, name, sizeof name);
    mail.index = pvmc_buf_get_i32(b);
    uint32_t owner = pvmc_buf_get_u32(b);
    mail.src = owner & ~HAS_ENDED;
    mail.owner = owner & HAS_ENDED ? 0 : owner;
    mail.flags = pvmc_buf_get_u32(b);
    mail.enc = pvmc_buf_get_u32(b);
    mail.dsig = pvmc_buf_get_u32(b);
    mail.data = (uint8_t *)pvmc_buf_get_blob(b, &mail.length);
    int rc = pvmc_buf_end(b);
    return rc ? rc : pvmd_mailbox_place(name, &mail) ? PVMC_ENOMEM : 0;
}

static void put_removed(struct pvmc_buf *b, const char *name, int index)
{
    pvmc_buf_put_u8(b, ENTRY_REMOVED);
    pvmc_buf_put_string(b, name);
    pvmc_buf_put_i32(b, index);
}

static int get_removed(struct pvmc_buf *b)
{
    char name[PVMD_MAILBOX_NAME_MAX + 1];
    pvmc_buf_get_string_to(b, name, sizeof name);
    int index = pvmc_buf_get_i32(b), rc = pvmc_buf_end(b);
    if (!rc)
        pvmd_mailbox_take_out(name, index);
    return rc;
}

static int get_owner_ended(struct pvmc_buf *b)
{
    pvmc_tid tid = pvmc_buf_get_u32(b);
    int rc = pvmc_buf_end(b);
    if (!rc)
        pvmd_mailbox_owner_ended(tid);
    return rc;
}

/* A reset travels as the request for it. */
static int get_reset(struct pvmc_buf *b)
{
    struct request m;
    int rc = get_request(b, &m);
    if (!rc && m.op == PVMC_MAILBOX_RESET)
        pvmd_mailbox_reset(m.name, m.index, m.spared, m.spared_count);
    free_request(&m);
    return rc;
}

static int apply(struct pvmc_buf *b)
{
    switch (pvmc_buf_get_u8(b)) {
    case ENTRY_PUT:
        return get_entry(b);
    case ENTRY_REMOVED:
        return get_removed(b);
    case OWNER_ENDED:
        return get_owner_ended(b);
    case CLASS_RESET:
        return get_reset(b);
    default:
        return PVMC_EFORMAT;
    }
}

static void (*save_piece)(const struct pvmc_buf *part);

static void save_entry(const char *name, const struct pvmd_mail *mail)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    put_entry(&b, name, mail);
    save_piece(&b);
    pvmc_buf_free(&b);
}

static void save(void (*piece)(const struct pvmc_buf *part))
{
    save_piece = piece;
    pvmd_mailbox_list(save_entry);
}

static const struct pvmd_table table = {.apply = apply, .save = save, .clear = pvmd_mailbox_free_all, .load = apply};

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
    struct pvmc_buf change;
    pvmc_buf_init(&change);
    pvmc_buf_put_u8(&change, OWNER_ENDED);
    pvmc_buf_put_u32(&change, tid);
    pvmd_tables_changed(PVMD_TABLE_MAILBOX, &change, NULL);
    pvmc_buf_free(&change);
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

static void watch_owner_of(const char *name, const struct pvmd_mail *mail)
{
    (void)name;
    if (mail->owner && watch_owner(mail->owner))
        pvmc_log(PVMC_LOG_ERROR, "no memory to watch t%x, which owns mailbox entries", mail->owner);
}

/* The new master learns that an owner has ended. Tasks that wait for entries ask again. */
void pvmd_mailbox_master_changed(void)
{
    if (pvmd_is_master())
        pvmd_mailbox_list(watch_owner_of);
}

/* ---- at the master: requests that wait for an entry ---- */

struct waiter {
    struct pvmd_petition petition;
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
    pvmd_petition_answer(&w->petition, PvmNoTask, NULL); /* so that its daemon forgets the request */
    waiter_free(w);
}

static int wait_for(const struct pvmd_petition *p, pvmc_tid who, const struct request *m)
{
    if (!may_wait(who))
        return PvmOutOfRes;
    struct waiter *w = calloc(1, sizeof *w);
    if (!w || !(w->name = strdup(m->name))) {
        free(w);
        return PvmNoMem;
    }
    w->petition = *p;
    w->who = who;
    w->index = m->index;
    w->flags = m->flags;
    DL_APPEND(waiters, w);
    w->watch = pvmd_watch(who, waiter_ended, w);
    return PvmOk;
}

/* ---- at the master: operations ---- */

static void put_mail(struct pvmc_buf *b, const struct pvmd_mail *mail)
{
    pvmc_buf_put_u32(b, mail->flags);
    pvmc_buf_put_u32(b, mail->src);
    pvmc_buf_put_u32(b, mail->enc);
    pvmc_buf_put_u32(b, mail->dsig);
    pvmc_buf_put_blob(b, mail->data, mail->length);
}

/* Removes an entry, and answers the request for that. */
static void removed(const struct pvmd_petition *p, const char *name, int index, const struct pvmc_buf *answer)
{
    struct pvmc_buf change;
    pvmc_buf_init(&change);
    put_removed(&change, name, index);
    pvmd_petition_changed(p, PVMD_TABLE_MAILBOX, &change, index, answer);
    pvmc_buf_free(&change);
}

/* Answers if the entry exists, or if the task may not have it. Returns false if there is none. */
static bool get(const struct pvmd_petition *p, pvmc_tid who, const char *name, int index, uint32_t flags)
{
    struct pvmd_mail *mail;
    struct pvmc_buf answer;
    int rc = pvmd_mailbox_find(name, index, flags, who, &mail);
    if (rc == PvmNotFound)
        return false;
    if (rc < 0) {
        pvmd_petition_answer(p, rc, NULL);
        return true;
    }
    pvmc_buf_init(&answer);
    put_mail(&answer, mail);
    if (flags & PvmMboxReadAndDelete) {
        pvmd_mailbox_remove(name, rc, 0, who);
        removed(p, name, rc, &answer);
    } else {
        pvmd_petition_answer(p, rc, &answer);
    }
    pvmc_buf_free(&answer);
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
        if (get(&w->petition, w->who, w->name, w->index, w->flags))
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

static void put(const struct pvmd_petition *p, pvmc_tid who, const struct request *m)
{
    struct pvmd_mail mail = {.owner = who,
                             .src = who,
                             .flags = m->flags,
                             .enc = m->enc,
                             .dsig = m->dsig,
                             .data = (uint8_t *)m->data,
                             .length = m->length};
    int rc = watch_owner(who);
    if (!rc)
        rc = pvmd_mailbox_put(m->name, m->index, &mail);
    if (rc < 0) {
        pvmd_petition_answer(p, rc, NULL);
        return;
    }
    struct pvmc_buf change;
    mail.index = rc;
    pvmc_buf_init(&change);
    if (pvmd_tables_are_shared()) /* the entry may be large */
        put_entry(&change, m->name, &mail);
    pvmd_petition_changed(p, PVMD_TABLE_MAILBOX, &change, rc, NULL);
    pvmc_buf_free(&change);
    serve_waiters(m->name);
}

static void remove_entry(const struct pvmd_petition *p, pvmc_tid who, const struct request *m)
{
    int rc = pvmd_mailbox_remove(m->name, m->index, m->flags, who);
    if (rc < 0)
        pvmd_petition_answer(p, rc, NULL);
    else
        removed(p, m->name, rc, NULL);
}

static void reset(const struct pvmd_petition *p, const struct request *m, const struct pvmc_buf *body)
{
    struct pvmc_buf change;
    pvmd_mailbox_reset(m->name, m->index, m->spared, m->spared_count);
    pvmc_buf_init(&change);
    pvmc_buf_put_u8(&change, CLASS_RESET);
    pvmc_buf_put_bytes(&change, body->data, body->length);
    pvmd_petition_changed(p, PVMD_TABLE_MAILBOX, &change, PvmOk, NULL);
    pvmc_buf_free(&change);
}

static void get_or_wait(const struct pvmd_petition *p, pvmc_tid who, const struct request *m)
{
    if (get(p, who, m->name, m->index, m->flags))
        return;
    int rc = m->flags & PvmMboxWaitForInfo ? wait_for(p, who, m) : PvmNotFound;
    if (rc)
        pvmd_petition_answer(p, rc, NULL);
}

static void list_names(const struct pvmd_petition *p, const char *pattern)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmd_mailbox_put_names(&b, *pattern ? pattern : "*");
    pvmd_petition_answer(p, pvmc_buf_error(&b) ? PvmOutOfRes : PvmOk, pvmc_buf_error(&b) ? NULL : &b);
    pvmc_buf_free(&b);
}

static void carry_out(const struct pvmd_petition *p, pvmc_tid who, const struct request *m, const struct pvmc_buf *body)
{
    switch (m->op) {
    case PVMC_MAILBOX_PUT:
        put(p, who, m);
        break;
    case PVMC_MAILBOX_REMOVE:
        remove_entry(p, who, m);
        break;
    case PVMC_MAILBOX_GET:
        get_or_wait(p, who, m);
        break;
    case PVMC_MAILBOX_NAMES:
        list_names(p, m->name);
        break;
    default:
        reset(p, m, body);
    }
}

static int mailbox_petition(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    struct request m;
    pvmc_tid who = pvmc_buf_get_u32(body);
    struct pvmc_buf rest;
    pvmc_buf_view(&rest, body->data + body->position, pvmc_buf_left(body));
    int rc = get_request(body, &m);
    if (!rc)
        carry_out(p, who, &m, &rest);
    free_request(&m);
    return rc;
}

void pvmd_mailbox_start(void)
{
    pvmd_tm_handle(PVMC_TM_MAILBOX, mailbox_request);
    pvmd_table_register(PVMD_TABLE_MAILBOX, &table);
    pvmd_petition_handle(PVMD_DM_MAILBOX, mailbox_petition);
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
