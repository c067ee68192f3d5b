/* rpc.c - requests to daemons, including our own, and the table of pending ones. */
#include "rpc.h"
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/base/hosts.h"
#include "link.h"
#include "pvm3.h"
#include "pvmd/frames/relay.h"
#include "pvmd/base/turn.h"

enum {
    KINDS = 2,            /* of messages: about hosts, and about tasks */
    HANDLERS_MAX = 32,    /* of each kind */
    UNANSWERED_MAX = 8192 /* requests that fail in one turn of the loop: two per host */
};

_Static_assert(((PVMD_DM_LAST_OF_HOSTS ^ PVMD_DM_ANSWER) | (PVMD_DM_LAST ^ PVMD_DM_EXEC)) < HANDLERS_MAX,
               "HANDLERS_MAX is too small for the last message");

/* A request that waits for its answer. */
struct waiting {
    int32_t wid;
    unsigned host_index;
    pvmd_answered *answered;
    void *arg;
    UT_hash_handle hh;
};

/* A message to our own daemon, which the loop will handle. */
struct deferred {
    struct pvmc_message *message;
    struct deferred *next, *prev;
};

/* A failed request, which the loop will report. Not allocated, because lack of memory may be why it failed. */
struct unanswered {
    unsigned host_index;
    int code;
    pvmd_answered *answered;
    void *arg;
};

static pvmd_dm_handler *handlers[KINDS][HANDLERS_MAX];
static struct unanswered unanswered[UNANSWERED_MAX]; /* a ring */
static unsigned unanswered_first, unanswered_count;
static struct waiting *all_waiting;
static int32_t last_wid;
static struct deferred *deferred;
static ev_prepare deferred_watcher; /* never started: fed when something is deferred */

static pvmd_dm_handler **place_of(uint32_t what)
{
    return &handlers[what >> 8 & 1][what % HANDLERS_MAX];
}

void pvmd_dm_handle(enum pvmd_dm what, pvmd_dm_handler *handler)
{
    *place_of(what) = handler;
}

static pvmd_dm_handler *handler_of(int32_t tag)
{
    uint32_t what = (uint32_t)tag;
    bool known = what >= PVMD_DM_ANSWER && what <= PVMD_DM_LAST && (what & 0xff) < HANDLERS_MAX;
    return known ? *place_of(what) : NULL;
}

/* ---- waiting for answers ---- */

static int32_t new_wid(void)
{
    struct waiting *w;
    do {
        last_wid = last_wid == INT32_MAX ? 1 : last_wid + 1;
        HASH_FIND_INT(all_waiting, &last_wid, w);
    } while (w);
    return last_wid;
}

static void tell(const struct unanswered *u)
{
    struct pvmc_buf empty;
    pvmc_buf_view(&empty, NULL, 0);
    u->answered(u->arg, u->host_index, u->code, &empty);
}

static void feed(void);

/* Reports a failure from the loop, or at once if the ring is full. */
static void fail(const struct unanswered *u)
{
    if (unanswered_count == UNANSWERED_MAX) {
        tell(u);
        return;
    }
    unanswered[(unanswered_first + unanswered_count++) % UNANSWERED_MAX] = *u;
    feed();
}

/* Returns the wid of a request; 0 if no answer is wanted or memory ran out. In the latter case the request fails. */
static int32_t wait_for(unsigned host_index, pvmd_answered *answered, void *arg)
{
    struct waiting *w = answered ? malloc(sizeof *w) : NULL;
    if (w)
        *w = (struct waiting){.wid = new_wid(), .host_index = host_index, .answered = answered, .arg = arg};
    if (w && PVMC_HASH_ADD(hh, all_waiting, wid, w))
        return w->wid;
    if (answered) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for a question to host %u", host_index);
        fail(&(struct unanswered){host_index, PvmNoMem, answered, arg});
    }
    free(w);
    return 0;
}

static void give_answer(struct waiting *w, int code, struct pvmc_buf *body)
{
    HASH_DEL(all_waiting, w);
    w->answered(w->arg, w->host_index, code, body);
    free(w);
}

/* Fails the request with this wid; the loop tells the requester. */
static void fail_wid(int32_t wid, int code)
{
    struct waiting *w;
    HASH_FIND_INT(all_waiting, &wid, w);
    if (!w)
        return;
    fail(&(struct unanswered){w->host_index, code, w->answered, w->arg});
    HASH_DEL(all_waiting, w);
    free(w);
}

static void tell_next(void)
{
    struct unanswered u = unanswered[unanswered_first];
    unanswered_first = (unanswered_first + 1) % UNANSWERED_MAX;
    unanswered_count--;
    tell(&u);
}

/* Fails the requests one by one, because each callback may make new ones, but not to the host that is gone. */
void pvmd_rpc_host_left(unsigned index)
{
    struct waiting *w, *next;
    struct pvmc_buf empty;
    bool found = true;
    for (unsigned left = unanswered_count; left; left--)
        tell_next();
    while (found) {
        found = false;
        HASH_ITER (hh, all_waiting, w, next) {
            if (w->host_index != index)
                continue;
            pvmc_buf_view(&empty, NULL, 0);
            give_answer(w, PvmHostFail, &empty);
            found = true;
            break; /* `next` may be gone */
        }
    }
}

/* ---- messages ---- */

static struct pvmc_message *new_message(unsigned host_index, enum pvmd_dm what, int32_t wid)
{
    struct pvmc_message *m = pvmc_message_new(pvmc_dsig_own());
    if (!m)
        return NULL;
    m->src = PVMC_TID_DAEMON | pvmd_host_tid();
    m->dst = PVMC_TID_DAEMON | pvmc_tid_of_host_index(host_index);
    m->ctx = PVMC_CTX_DM;
    m->tag = (int32_t)what;
    m->wid = wid;
    return m;
}

static int append(struct pvmc_message *m, const struct pvmc_buf *body)
{
    if (body && pvmc_buf_error(body))
        return pvmc_buf_error(body);
    return body && body->length ? pvmc_message_pack_bytes(m, body->data, body->length) : 0;
}

static void handle_message(unsigned from_host, struct pvmc_message *m);

static void handle_first(void)
{
    struct deferred *d = deferred;
    if (!d) {
        tell_next();
        return;
    }
    DL_DELETE(deferred, d);
    handle_message(pvmd.host_index, d->message);
    pvmc_message_unref(d->message);
    free(d);
}

static bool is_any_deferred(void)
{
    return deferred || unanswered_count;
}

static bool handle_some(void)
{
    while (is_any_deferred()) {
        handle_first();
        if (pvmd_turn_is_long())
            break;
    }
    return is_any_deferred();
}

static struct pvmd_work handling = {.step = handle_some};

static void deferred_event(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    (void)loop, (void)watcher, (void)events;
    if (is_any_deferred() && (pvmd_turn_is_long() || handle_some()))
        pvmd_work_begin(&handling);
}

static void feed(void)
{
    if (ev_is_pending(&deferred_watcher) || ev_is_active(&handling.next))
        return;
    ev_prepare_init(&deferred_watcher, deferred_event);
    ev_feed_event(pvmd.loop, &deferred_watcher, EV_PREPARE);
}

/* Takes ownership of the message. */
static void defer(struct pvmc_message *message)
{
    struct deferred *d = malloc(sizeof *d);
    if (!d) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for message %#x to ourselves", (unsigned)message->tag);
        fail_wid(message->wid, PvmNoMem); /* for a request as well as an answer */
        pvmc_message_unref(message);
        return;
    }
    d->message = message;
    DL_APPEND(deferred, d);
    feed();
}

/* Takes ownership of the message. If it is NULL (no memory) the requester is told. */
static void dispatch(unsigned host_index, struct pvmc_message *m, int32_t wid)
{
    if (m && host_index == pvmd.host_index) {
        defer(m);
        return;
    }
    if (m && pvmd_host_by_index(host_index))
        pvmd_relay_message(m);
    else
        fail_wid(wid, m ? PvmHostFail : PvmNoMem);
    pvmc_message_unref(m);
}

static struct pvmc_message *question(unsigned host_index, enum pvmd_dm what, const struct pvmc_buf *body, int32_t wid)
{
    struct pvmc_message *m = new_message(host_index, what, wid);
    if (m && !append(m, body))
        return m;
    pvmc_message_unref(m);
    return NULL;
}

void pvmd_ask(unsigned host_index, enum pvmd_dm what, const struct pvmc_buf *body, pvmd_answered *answered, void *arg)
{
    int32_t wid = wait_for(host_index, answered, arg);
    dispatch(host_index, question(host_index, what, body, wid), wid);
}

void pvmd_ask_through_master(unsigned host_index, enum pvmd_dm what, const struct pvmc_buf *body)
{
    struct pvmd_host *master = pvmd_host_by_index(pvmd.master_index);
    struct pvmc_message *m = question(host_index, what, body, 0);
    struct pvmc_frame *f = m ? pvmc_message_frame(m, 0, PVMC_FRAME_PAYLOAD_MAX, 0) : NULL;
    if (master && f)
        pvmd_link_send(master, f);
    pvmc_frame_unref(f);
    pvmc_message_unref(m);
}

void pvmd_answer(const struct pvmd_question *q, int code, const struct pvmc_buf *body)
{
    struct pvmc_message *m = q->wid ? new_message(q->host_index, PVMD_DM_ANSWER, q->wid) : NULL;
    if (body && pvmc_buf_error(body)) {
        code = PvmNoMem;
        body = NULL;
    }
    int32_t wire_code = (int32_t)htole32((uint32_t)code);
    if (m && !pvmc_message_pack_bytes(m, &wire_code, sizeof wire_code) && !append(m, body)) {
        dispatch(q->host_index, m, 0);
        return;
    }
    pvmc_message_unref(m);
    if (q->wid && q->host_index == pvmd.host_index)
        fail_wid(q->wid, PvmNoMem);
}

/* ---- requests to all hosts ---- */

struct round {
    size_t open; /* answers still to come, plus one until all are asked */
    pvmd_answered *answered;
    void (*done)(void *arg);
    void *arg;
};

static void round_step(struct round *r)
{
    if (--r->open)
        return;
    if (r->done)
        r->done(r->arg);
    free(r);
}

static void round_answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    struct round *r = arg;
    if (r->answered)
        r->answered(r->arg, host_index, code, body);
    round_step(r);
}

void pvmd_ask_all(enum pvmd_dm what, const struct pvmc_buf *body, pvmd_answered *answered, void (*done)(void *arg),
                  void *arg)
{
    size_t count;
    struct pvmd_host **members = pvmd_host_list(&count);
    if (!answered && !done) {
        for (size_t i = 0; i < count; i++)
            pvmd_ask(members[i]->index, what, body, NULL, NULL);
        return;
    }
    struct round *r = malloc(sizeof *r);
    if (!r) {
        pvmc_log(PVMC_LOG_ERROR, "no memory to ask all hosts");
        if (done)
            done(arg);
        return;
    }
    *r = (struct round){.open = count, .answered = answered, .done = done, .arg = arg};
    for (size_t i = 0; i < count; i++) /* we are a member: at least one answer comes, but only after we return */
        pvmd_ask(members[i]->index, what, body, round_answered, r);
}

/* ---- receiving ---- */

static void handle_answer(unsigned from_host, struct pvmc_message *m, struct pvmc_buf *body)
{
    struct waiting *w;
    int code = pvmc_buf_get_i32(body);
    HASH_FIND_INT(all_waiting, &m->wid, w);
    if (w && w->host_index == from_host && !pvmc_buf_error(body))
        give_answer(w, code, body);
    else
        pvmc_log(PVMC_LOG_DEBUG, "ignored answer %d from host %u, for which no request waits", m->wid, from_host);
}

static void handle_message(unsigned from_host, struct pvmc_message *m)
{
    struct pvmd_question q = {.host_index = from_host, .wid = m->wid};
    pvmd_dm_handler *handle = handler_of(m->tag);
    struct pvmc_buf body;
    pvmc_buf_view(&body, m->mem ? m->mem->data : NULL, m->length);
    if (m->tag == (int32_t)PVMD_DM_ANSWER) {
        handle_answer(from_host, m, &body);
        return;
    }
    int rc = handle ? handle(&q, &body) : PVMC_EUNSUPPORTED;
    if (!rc)
        return;
    pvmc_log(PVMC_LOG_ERROR, "message %#x from host %u: %s", (unsigned)m->tag, from_host, pvmc_error_text(rc));
    pvmd_answer(&q, pvmc_error_public(rc), NULL);
}

/* Only counts come from the master in the name of another slave. */
void pvmd_rpc_receive(unsigned from_host, struct pvmc_message *m)
{
    unsigned named = pvmc_tid_host_index(m->src);
    bool is_count = m->tag == (int32_t)PVMD_DM_LINK_COUNT && from_host == pvmd.master_index;
    if (pvmc_tid_is_daemon(m->src) && (named == from_host || is_count))
        handle_message(named, m);
    else
        pvmc_log(PVMC_LOG_ERROR, "dropped message %#x from host %u: it claims to be from %x", (unsigned)m->tag,
                 from_host, m->src);
}

void pvmd_rpc_stop(void)
{
    struct waiting *w, *next;
    HASH_ITER (hh, all_waiting, w, next) {
        HASH_DEL(all_waiting, w);
        free(w);
    }
    pvmd_work_stop(&handling);
    while (deferred) {
        struct deferred *d = deferred;
        DL_DELETE(deferred, d);
        pvmc_message_unref(d->message);
        free(d);
    }
    memset(handlers, 0, sizeof handlers);
    unanswered_first = unanswered_count = 0;
    last_wid = 0;
}
