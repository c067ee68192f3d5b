/* receive.c - pvm_recv, pvm_nrecv, pvm_trecv, pvm_precv and pvm_probe: find a message in the inbox or wait for it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "libpvm/engine/arrivals.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/gauges.h"
#include "libpvm/engine/handler.h"
#include "libpvm/engine/inbox.h"
#include "libpvm/engine/link.h"
#include "libpvm/base/jump.h"
#include "libpvm/engine/offer.h"
#include "libpvm/base/perror.h"
#include "libpvm/base/virtual.h"
#include "libpvm/calls/enrol.h"
#include "libpvm/engine/wait.h"
#include "libpvm/route/remainder.h"

#define PLACING_US 100000 /* interval of checks of a message that is still being placed after the deadline */

typedef int match_function(int mid, int tid, int tag);

struct search {
    struct pvmi_wanted wanted;  /* wanted.m: arrived while we waited for it */
    struct pvmi_waiting *found; /* else: found in the inbox */
    match_function *match;
    uint64_t asked;  /* arrival numbers up to this one: the match function has been asked about them ... */
    unsigned passed; /* ... but not about all: one still came when pvmi_peer_streams_ended was this; 0: about all */
    int rc;          /* the error with which the program's match function aborted */
};

/* What a call does when nothing in the inbox matches. Any other number is a deadline. */
enum {
    TAKE_ONE = -1,      /* pvm_nrecv(), pvm_probe(): takes in one message that has arrived */
    TAKE_WHAT_CAME = 0, /* pvm_trecv() without time: takes in arrived messages until one matches */
};

/* ---- matching ---- */

/* pvm_recvf() returns it, so programs may call it themselves. */
static int default_match(int mid, int tid, int tag)
{
    const struct pvmc_message *m = pvmi_buffer_find(mid);
    return m && (tid == -1 || tid == (int)m->src) && (tag == -1 || tag == m->tag) &&
           (pvmmyctx == -1 || pvmmyctx == (int)m->ctx);
}

/* Whether a message may have become whole that the program could not be asked about. */
static bool may_ask_again(const struct search *s)
{
    return s->passed && s->passed != pvmi_peer_streams_ended;
}

/*
 * Asks the program's function about each message, once per call. It returns 0 to refuse the message, 1 to take it, more
 * to take the highest, below 0 to abort. It may call pvm_bufinfo() and the like, but not receive. It sees a message
 * that still comes when that is whole, and then is asked again about the others.
 */
static void search_by_function(struct search *s)
{
    int best = 0;
    if (may_ask_again(s))
        s->asked = s->passed = 0;
    for (struct pvmi_waiting *w = pvmi_inbox_after(s->asked), *next; w; w = next) {
        next = w->next;
        s->asked = w->number;
        if (w->m->partial > 0) {
            s->passed = s->passed ? s->passed : pvmi_peer_streams_ended;
            continue;
        }
        int mid = pvmi_buffer_of_waiting(w);
        int rank = mid < 0 ? mid : s->match(mid, s->wanted.src, s->wanted.tag);
        if (rank < 0) {
            s->rc = rank;
            return;
        }
        if (rank > best) {
            best = rank;
            s->found = w;
        }
        if (rank == 1) {
            s->found = w;
            return;
        }
    }
}

/* The program may call the library in between, and leave by a jump. */
static void ask_program(struct search *s)
{
    struct pvmi_jump_level outer;
    pvmi_jump_level_begin(&outer);
    search_by_function(s);
    pvmi_jump_level_end(&outer);
}

static bool asks_program(const struct search *s)
{
    return s->match;
}

/* The message being placed, if a handler's call took it in while no receive waited for it. */
static struct pvmi_waiting *find_placed(const struct pvmc_mem *body)
{
    struct pvmi_waiting *w = pvmi_inbox_after(0);
    while (w && w->m->mem != body)
        w = w->next;
    return w;
}

/* Whether the search is over: a matching message has been taken in, or there is an error. */
static bool look(struct search *s)
{
    s->found = NULL;
    if (s->wanted.m)
        return true;
    if (s->wanted.body)
        s->found = find_placed(s->wanted.body);
    else if (asks_program(s))
        ask_program(s);
    else if (!(s->found = pvmi_inbox_find(s->wanted.src, s->wanted.tag, s->wanted.ctx)) && pvmi_inbox_take_loss())
        s->rc = PVMC_ENOMEM;
    return s->found || s->rc;
}

/* Takes in up to `most` arrived messages until the search is over. Handlers run in between, and may receive. */
static bool take_in(struct search *s, size_t most)
{
    struct pvmc_message *m;
    for (; most && (m = pvmi_arrivals_pop()); most--) {
        if (pvmi_handler_take(m)) {
            if (pvmi_handler_run() && look(s))
                return true;
        } else if (!asks_program(s) && pvmi_inbox_matches(&s->wanted, m)) {
            s->wanted.m = m;
            return true;
        } else {
            pvmi_inbox_put(m);
            if (asks_program(s) && look(s))
                return true;
        }
    }
    return false;
}

/* Whether there is a message about which the program can be asked. */
static bool may_ask(const struct search *s)
{
    return pvmi_inbox_after(s->asked) || may_ask_again(s);
}

/* pvmi_condition: there is a message, a candidate, or no point in waiting for it. */
static bool has_news(void *arg)
{
    struct search *s = arg;
    if (pvmi_arrivals_count)
        return true;
    return asks_program(s) ? may_ask(s) : look(s);
}

/* Group calls receive in contexts of their own. */
static enum pvmc_gauges_doing purpose_of(const struct search *s)
{
    uint32_t ctx = (uint32_t)s->wanted.ctx;
    return ctx == PVMC_CTX_DG || ctx == PVMC_CTX_SG ? PVMC_GAUGES_MEETS : PVMC_GAUGES_RECEIVES;
}

/* A match function of the program wants to see all messages, so none is handed over directly. */
static int wait_for(struct search *s, int64_t deadline_us)
{
    struct pvmi_wanted *outer = pvmi_inbox_want(asks_program(s) ? NULL : &s->wanted);
    struct pvmi_gauges_wait before = pvmi_gauges_begin(purpose_of(s), s->wanted.src, s->wanted.tag);
    int rc = pvmi_wait_for_message(has_news, s, deadline_us);
    pvmi_gauges_end(&before);
    pvmi_inbox_want(outer);
    return s->wanted.m ? 0 : rc;
}

static struct search make_search(int tid, int tag)
{
    return (struct search){.wanted = {.src = tid, .tag = tag, .ctx = pvmmyctx}, .match = pvmi_receive_match};
}

/*
 * As in PVM, takes in one message, whether it matches or not. A poll without result listens to the links in any case,
 * so that a sender need not wait until all messages have been taken in.
 */
static int take_one(struct search *s)
{
    bool came = pvmi_arrivals_count;
    if (came && take_in(s, 1))
        return s->rc;
    int rc = pvmi_wait_poll();
    if (rc)
        return rc;
    return !came && take_in(s, 1) ? s->rc : PVMC_ETIMEOUT;
}

static int take_what_came(struct search *s)
{
    int rc = pvmi_wait_poll();
    if (rc)
        return rc;
    return look(s) || take_in(s, SIZE_MAX) ? s->rc : PVMC_ETIMEOUT;
}

/*
 * What comes while pvmi_wait_look() polls needs no preparations for a wait, nor has to be undone if the program jumps
 * out. Events that the library itself reports, such as PvmRouteDelete, go straight to the inbox.
 */
static bool take_without_waiting(struct search *s)
{
    size_t before = pvmi_inbox_count;
    if (!pvmi_arrivals_count && !pvmi_call_is_watched())
        pvmi_wait_look();
    return take_in(s, SIZE_MAX) || ((pvmi_inbox_lost || pvmi_inbox_count != before) && look(s));
}

static int take_until(struct search *s, int64_t deadline_us)
{
    bool found = take_without_waiting(s);
    while (!found) {
        int rc = wait_for(s, deadline_us);
        if (rc)
            return rc;
        found = look(s) || take_in(s, SIZE_MAX);
        if (!found && pvmc_clock_us() >= deadline_us)
            return PVMC_ETIMEOUT;
    }
    return s->rc;
}

/* What each receive does first. 0 or an error. */
static inline int begin(void)
{
    int rc = pvmi_task_need();
    return rc ? rc : pvmi_wait_glance();
}

/* Finds a message after begin(): 0, PVMC_ETIMEOUT or an error. `limit` is a time, TAKE_ONE or TAKE_WHAT_CAME. */
static int seek(struct search *s, int64_t limit)
{
    if (!pvmi_inbox_is_idle() && look(s))
        return s->rc;
    return limit == TAKE_ONE ? take_one(s) : limit == TAKE_WHAT_CAME ? take_what_came(s) : take_until(s, limit);
}

static int find(struct search *s, int64_t limit)
{
    int rc = begin();
    return rc ? rc : seek(s, limit);
}

/* ---- pvm_recv, pvm_nrecv, pvm_trecv, pvm_probe ---- */

/* The message of a search that found one, with the caller's reference; *mid is 0 or the number it already has. */
static struct pvmc_message *take(struct search *s, int *mid)
{
    if (!s->wanted.m)
        return pvmi_inbox_take(s->found, mid);
    *mid = 0;
    return s->wanted.m;
}

/* Makes m the receive buffer; mid is 0, or the number that it already has. Returns its number or PVMC_ENOMEM. */
static inline int activate(struct pvmc_message *m, int mid)
{
    if (__builtin_expect(mid, 0)) {
        pvmi_buffer_taken(mid);
        pvmi_buffer_select_receive(mid);
        return mid;
    }
    mid = pvmi_buffer_add(m);
    if (mid > 0)
        pvmi_receive_buffer = (struct pvmi_active){.mid = mid, .m = m};
    return mid;
}

/* The general case of receive(). */
static __attribute__((noinline)) int receive_by_search(int tid, int tag, int64_t limit)
{
    struct search s = make_search(tid, tag);
    int mid, rc = seek(&s, limit);
    if (rc)
        return rc == PVMC_ETIMEOUT ? 0 : rc;
    struct pvmc_message *m = take(&s, &mid);
    return activate(m, mid);
}

/* The next message of the sender's link, if nothing that came before could be meant for somebody else. */
static inline struct pvmc_message *take_from_link(int tid, int tag)
{
    struct pvmi_peer *p = pvmi_link_taker(tid);
    bool may_pass = p && !pvmi_arrivals_count && !pvmi_inbox_ours && !pvmi_call_is_watched() && !pvmi_virtual();
    struct pvmc_message *m = may_pass ? pvmi_link_take_from(p, tag, pvmmyctx) : NULL;
    if (m)
        pvmi_wait_found();
    return m;
}

/*
 * The usual cases: the message waits in the inbox or, for a call that may wait, is the next of its sender's link. NULL:
 * not so; *mid as for take().
 */
static inline __attribute__((always_inline)) struct pvmc_message *take_ready(int tid, int tag, bool may_wait, int *mid)
{
    *mid = 0;
    if (pvmi_receive_match || pvmi_handler_count)
        return NULL;
    struct pvmi_waiting *w = pvmi_inbox_count ? pvmi_inbox_find(tid, tag, pvmmyctx) : NULL;
    if (w)
        return pvmi_inbox_take(w, mid);
    return may_wait ? take_from_link(tid, tag) : NULL;
}

/* After take_ready(): takes in what comes at once by any route, up to the message. NULL: it must be searched for. */
static struct pvmc_message *take_coming(int tid, int tag)
{
    if (!pvmi_arrivals_count && !pvmi_call_is_watched())
        pvmi_wait_look();
    struct pvmc_message *m;
    while ((m = pvmi_arrivals_pop()) && !pvmi_inbox_names(tid, tag, pvmmyctx, m))
        pvmi_inbox_put(m);
    return m;
}

/* receive() of a message that was not ready. */
static int receive_later(int tid, int tag, int64_t limit)
{
    bool may_come = limit > TAKE_WHAT_CAME && !pvmi_receive_match && !pvmi_handler_count;
    struct pvmc_message *m = may_come ? take_coming(tid, tag) : NULL;
    return m ? activate(m, 0) : receive_by_search(tid, tag, limit);
}

/* mid, 0 if there was no message in time, or an error. The old receive buffer goes in any case. */
static inline int receive(int tid, int tag, int64_t limit)
{
    if (pvmi_receive_buffer.mid)
        pvmi_buffer_free(pvmi_receive_buffer.mid);
    int rc = begin();
    if (rc)
        return rc;
    int mid;
    struct pvmc_message *m = take_ready(tid, tag, limit > TAKE_WHAT_CAME, &mid);
    return m ? activate(m, mid) : receive_later(tid, tag, limit);
}

/* The event's description of a received message; -1 and our context when there is none. */
struct received {
    int bytes, tag, ctx, src;
};

static struct received about(int mid)
{
    const struct pvmc_message *m = pvmi_buffer_find(mid);
    return m ? (struct received){(int)m->length, m->tag, (int)m->ctx, (int)m->src}
             : (struct received){-1, -1, pvmmyctx, -1};
}

#define RECEIVED(mid)                                                                                                  \
    PVMI_INT(MB, mid), PVMI_INT(MNB, about(mid).bytes), PVMI_INT(MC, about(mid).tag), PVMI_INT(MCX, about(mid).ctx),   \
        PVMI_INT(SRC, about(mid).src)

static int receive_now(int tid, int tag)
{
    return pvmi_return("pvm_recv", receive(tid, tag, PVMI_WAIT_FOREVER));
}

static PVMI_COLD int watched_recv(int tid, int tag)
{
    PVMI_BEGIN(TEV_RECV, PVMI_INT(RST, tid), PVMI_INT(RMC, tag), PVMI_INT(RCX, pvmmyctx));
    int rc = receive_now(tid, tag);
    PVMI_END(TEV_RECV, RECEIVED(rc));
    return rc;
}

int pvm_recv(int tid, int tag)
{
    return pvmi_call_is_watched() ? watched_recv(tid, tag) : receive_now(tid, tag);
}

int pvm_nrecv(int tid, int tag)
{
    PVMI_BEGIN(TEV_NRECV, PVMI_INT(RST, tid), PVMI_INT(RMC, tag), PVMI_INT(RCX, pvmmyctx));
    int rc = pvmi_return("pvm_nrecv", receive(tid, tag, TAKE_ONE));
    PVMI_END(TEV_NRECV, RECEIVED(rc));
    return rc;
}

/* The deadline for `timeout`, or TAKE_WHAT_CAME if it allows no waiting. */
static int64_t deadline_of(const struct timeval *timeout)
{
    if (!timeout)
        return PVMI_WAIT_FOREVER;
    if (timeout->tv_sec > INT32_MAX)
        return PVMI_WAIT_FOREVER;
    int64_t us = (int64_t)timeout->tv_sec * 1000000 + timeout->tv_usec;
    return us > 0 ? pvmc_clock_us() + us : TAKE_WHAT_CAME;
}

int pvm_trecv(int tid, int tag, struct timeval *timeout)
{
    PVMI_BEGIN(TEV_TRECV, PVMI_INT(RST, tid), PVMI_INT(RMC, tag), PVMI_INT(RCX, pvmmyctx),
               PVMI_INT(MTS, timeout ? (int)timeout->tv_sec : -1), PVMI_INT(MTU, timeout ? (int)timeout->tv_usec : -1));
    int rc = pvmi_return("pvm_trecv", receive(tid, tag, deadline_of(timeout)));
    PVMI_END(TEV_TRECV, RECEIVED(rc));
    return rc;
}

static int probe(int tid, int tag)
{
    struct search s = make_search(tid, tag);
    int rc = find(&s, TAKE_ONE);
    if (rc)
        return rc == PVMC_ETIMEOUT ? 0 : rc;
    if (s.wanted.m)
        s.found = pvmi_inbox_append(s.wanted.m);
    return s.found ? pvmi_buffer_of_waiting(s.found) : PVMC_ENOMEM;
}

int pvm_probe(int tid, int tag)
{
    PVMI_BEGIN(TEV_PROBE, PVMI_INT(RST, tid), PVMI_INT(RMC, tag), PVMI_INT(RCX, pvmmyctx));
    int rc = pvmi_return("pvm_probe", probe(tid, tag));
    PVMI_END(TEV_PROBE, PVMI_INT(CC, rc));
    return rc;
}

int (*pvm_recvf(int (*function)(int mid, int tid, int tag)))(int mid, int tid, int tag)
{
    PVMI_BEGIN(TEV_RECVF);
    match_function *old = pvmi_receive_match ? pvmi_receive_match : default_match;
    pvmi_receive_match = function == default_match ? NULL : function;
    PVMI_END(TEV_RECVF);
    return old;
}

/* ---- pvm_precv ---- */

/*
 * Like seek(), with room for `size` bytes of a message. A handler that receives while a pvm_precv() waits has no such
 * room. If a message is still being placed at the deadline, the call waits for its end.
 */
static int seek_placing(struct search *s, void *data, size_t size, int64_t deadline_us)
{
    if (!pvmi_offer_begin(&s->wanted, data, size))
        return seek(s, deadline_us);
    int rc = seek(s, deadline_us);
    while (rc == PVMC_ETIMEOUT && s->wanted.body)
        rc = find(s, pvmc_clock_us() + PLACING_US);
    pvmi_offer_end();
    return rc;
}

static int told_length(uint64_t bytes, uint64_t room)
{
    if (bytes > room)
        pvmc_log_once(PVMC_LOG_WARNING, "pvm_precv(): a message of %llu bytes was truncated to the buffer's %llu bytes",
                      (unsigned long long)bytes, (unsigned long long)room);
    return bytes > INT32_MAX ? INT32_MAX : (int)bytes;
}

/* Converts up to n items of m. *bytes becomes the size of the whole message here. */
static int convert_out(struct pvmc_message *m, void *data, int n, int type, int *bytes)
{
    uint64_t items = m->length / pvmc_type_bytes(type, m->dsig), item = pvmc_type_own_bytes(type);
    *bytes = told_length(items * item, n * item);
    return pvmc_message_unpack(m, type, data, items < (uint64_t)n ? (int)items : n, 1);
}

/* The same, with a plain copy if the formats agree. A message placed directly needs neither. */
static int copy_out(struct pvmc_message *m, void *data, int n, int type, int *bytes)
{
    if (m->dsig != pvmc_dsig_own())
        return convert_out(m, data, n, type, bytes);
    uint64_t room = n * pvmc_type_own_bytes(type), copied = m->length < room ? m->length : room;
    *bytes = told_length(m->length, room);
    if (copied && m->mem->data != data)
        pvmc_copy(data, m->mem->data, copied);
    return 0;
}

static inline void drop(struct pvmc_message *m, int mid)
{
    if (mid) {
        pvmi_buffer_taken(mid);
        pvmi_buffer_free(mid);
    } else {
        pvmc_message_unref(m);
    }
}

/*
 * Waits for the rest of a message that has been taken, and may still come. If it never will, drops it. Its number goes
 * at once, because the program may free it meanwhile.
 */
static PVMI_COLD int await_rest(struct pvmc_message *m, int *mid)
{
    pvmc_message_ref(m);
    drop(m, *mid);
    *mid = 0;
    int rc = pvmi_remainder_await_message(m);
    if (rc)
        pvmc_message_unref(m);
    return rc;
}

/*
 * pvm_precv() has found m, which still comes, with that mid: returns it when it is whole, or another one if its sender
 * gives it up. NULL: *mid is an error.
 */
static PVMI_COLD struct pvmc_message *await_whole(struct pvmc_message *m, int *mid, int tid, int tag,
                                                  int64_t deadline_us)
{
    int rc = await_rest(m, mid);
    while (rc == PVMC_EABORTED) {
        struct search s = make_search(tid, tag);
        rc = seek(&s, deadline_us);
        m = rc ? NULL : take(&s, mid);
        rc = m && m->partial ? await_rest(m, mid) : rc;
    }
    if (!rc)
        return m;
    *mid = rc;
    return NULL;
}

/* 0, PVMC_ETIMEOUT if there was no message in time, or an error. */
static int receive_data(int tid, int tag, int64_t deadline_us, void *data, int n, int type, int *rtid, int *rtag,
                        int *rlen)
{
    if (type == PVM_STR)
        return PVMC_EUNSUPPORTED;
    size_t item = pvmc_type_own_bytes(type);
    if (n < 0 || (n && !data) || !item)
        return PVMC_EPARAM;
    int mid, bytes, rc = begin();
    struct pvmc_message *m = rc ? NULL : take_ready(tid, tag, deadline_us > TAKE_WHAT_CAME, &mid);
    if (!rc && !m) {
        struct search s = make_search(tid, tag);
        rc = seek_placing(&s, data, (size_t)n * item, deadline_us);
        m = rc ? NULL : take(&s, &mid);
    }
    if (rc)
        return rc;
    if (__builtin_expect(m->partial, 0) && !(m = await_whole(m, &mid, tid, tag, deadline_us)))
        return mid;
    rc = copy_out(m, data, n, type, &bytes);
    if (rtid)
        *rtid = (int)m->src;
    if (rtag)
        *rtag = m->tag;
    if (rlen)
        *rlen = bytes;
    drop(m, mid);
    return rc;
}

/* 1, or 0 if there was no message in time, or an error; traced as pvm_precv. */
static int receive_traced(const char *name, int tid, int tag, int64_t deadline_us, void *data, int n, int type,
                          int *rtid, int *rtag, int *rlen)
{
    int src = -1, code = -1, bytes = -1;
    PVMI_BEGIN(TEV_PRECV, PVMI_INT(RST, tid), PVMI_INT(RMC, tag), PVMI_INT(RCX, pvmmyctx), PVMI_LONG(PDA, data),
               PVMI_INT(PC, n), PVMI_INT(PDT, type));
    int rc = receive_data(tid, tag, deadline_us, data, n, type, &src, &code, &bytes);
    rc = pvmi_return(name, rc == 0 ? 1 : rc == PVMC_ETIMEOUT ? 0 : rc);
    PVMI_END(TEV_PRECV, PVMI_INT(CC, rc < 0 ? rc : 0), PVMI_INT(MNB, bytes), PVMI_INT(MC, code),
             PVMI_INT(MCX, pvmmyctx), PVMI_INT(SRC, src));
    if (rtid && bytes >= 0)
        *rtid = src;
    if (rtag && bytes >= 0)
        *rtag = code;
    if (rlen && bytes >= 0)
        *rlen = bytes;
    return rc;
}

int pvm_precv(int tid, int tag, void *data, int n, int type, int *rtid, int *rtag, int *rlen)
{
    int rc = receive_traced("pvm_precv", tid, tag, PVMI_WAIT_FOREVER, data, n, type, rtid, rtag, rlen);
    return rc < 0 ? rc : PvmOk;
}

int pvm_tprecv(int tid, int tag, struct timeval *timeout, void *data, int n, int type, int *rtid, int *rtag, int *rlen)
{
    return receive_traced("pvm_tprecv", tid, tag, deadline_of(timeout), data, n, type, rtid, rtag, rlen);
}
