/* transfer.c - sends the frames of a message to one receiver, each by the route available at that moment. */
#include "transfer.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/error.h"
#include "libpvm/engine/handler.h"
#include "libpvm/base/jump.h"
#include "libpvm/base/lock.h"
#include "libpvm/base/shadow.h"
#include "libpvm/base/virtual.h"
#include "libpvm/engine/outbox.h"
#include "libpvm/engine/wait.h"

#define WHOLE_MAX UINT32_MAX /* limit of bytes in one frame that is sent by reference */

/* A transfer that waits, or that the program has since left by a jump. */
struct pvmi_abandoned {
    struct pvmi_transfer t;
    const void *thread;
    unsigned level; /* of the call, see jump.h */
    struct pvmi_abandoned *next;
};

static struct pvmi_abandoned *waiting, *abandoned_to_daemon;

bool pvmi_transfer_may_go_on(void *transfer)
{
    const struct pvmi_transfer *t = transfer;
    const struct pvmi_link *l = pvmi_transfer_link(t);
    if (!pvmi_link_is_up() || (t->peer && t->peer->gone))
        return true;
    return pvmi_link_is_ready(l) && (l->peer || (!pvmi_peer_is_held(t->dst) && !pvmi_shadow_handing));
}

/* Limit of the next frame's bytes. A body that the receiver can refer to is sent in one piece. */
static size_t frame_limit(const struct pvmi_transfer *t, const struct pvmi_link *l)
{
    struct pvmc_mem_place place;
    const struct pvmc_message *m = t->m;
    if (m->length <= l->frame_max || !l->by_reference || !l->lossless || t->offset || m->length > WHOLE_MAX ||
        pvmc_message_is_inplace(m) || !pvmc_mem_locate(m->mem, &place))
        return l->frame_max;
    return m->length;
}

/* Keeps a reference to in-place data until no transport needs it. */
static int remember(struct pvmi_transfer *t, struct pvmc_frame *f)
{
    while (t->inplace_count && t->inplace[0]->refs == 1) {
        pvmc_frame_unref(t->inplace[0]);
        memmove(t->inplace, t->inplace + 1, --t->inplace_count * sizeof *t->inplace);
    }
    if (t->inplace_count == t->inplace_capacity) {
        size_t capacity = t->inplace_capacity ? 2 * t->inplace_capacity : 16;
        struct pvmc_frame **bigger = realloc(t->inplace, capacity * sizeof *bigger);
        if (!bigger)
            return PVMC_ENOMEM;
        t->inplace = bigger;
        t->inplace_capacity = capacity;
    }
    t->inplace[t->inplace_count++] = pvmc_frame_ref(f);
    return 0;
}

int pvmi_transfer_note(struct pvmi_transfer *t, const struct pvmi_link *l, struct pvmc_frame *f)
{
    t->offset += f->h.length;
    t->whole = pvmc_frame_is_last(&f->h);
    if (t->peer)
        pvmi_transfer_count(t->peer, l, f->h.length, t->whole);
    return !f->mem && f->h.length && f->refs > 1 ? remember(t, f) : 0;
}

struct pvmc_frame *pvmi_transfer_frame(const struct pvmi_transfer *t, const struct pvmi_link *l)
{
    struct pvmc_frame *f = pvmc_message_frame(t->m, t->offset, frame_limit(t, l), t->peer ? t->peer->tx_seq : 0);
    if (!f)
        return NULL;
    f->h.dst = t->dst;
    if (__builtin_expect(t->streams, 0) && f->h.length != f->h.body_length)
        f->h.flags |= PVMC_FRAME_STREAM;
    return f;
}

/* Whether the message that begins on that link is read frame by frame. The receiver can have one stream from us. */
static bool is_early(const struct pvmi_transfer *t, const struct pvmi_link *l)
{
    return l->early && t->peer && !t->peer->streams;
}

/* Once for each frame, even if the daemon's link does not accept it at once. */
static void add_shadow(struct pvmi_transfer *t, struct pvmc_frame *f)
{
    struct pvmc_shadow to = {t->dst, f->h.seq};
    if (t->shadow_at != t->offset + 1 && t->peer) {
        t->has_shadow = pvmi_shadow_begin(&to, 1, f->h.length);
        t->shadow_at = t->offset + 1;
    }
    if (t->shadow_at == t->offset + 1 && t->has_shadow)
        f->h.flags |= PVMC_FRAME_SHADOW;
}

int pvmi_transfer_send(struct pvmi_transfer *t)
{
    struct pvmi_link *l = pvmi_transfer_link(t);
    if (!t->offset)
        t->streams = is_early(t, l);
    struct pvmc_frame *f = pvmi_transfer_frame(t, l);
    if (!f)
        return PVMC_ENOMEM;
    if (!l->peer && pvmi_virtual())
        add_shadow(t, f);
    int rc = pvmi_link_send(l, f);
    if (rc == PVMC_EDOWN && l->peer) {
        pvmi_route_broken(l);
        rc = PVMC_EAGAIN; /* send it by the daemon instead */
    }
    if (!rc) {
        rc = pvmi_transfer_note(t, l, f);
    } else if (rc == PVMC_EAGAIN && t->peer && l->peer) {
        t->peer->refusals++;
    }
    pvmc_frame_unref(f);
    return rc;
}

int pvmi_transfer_advance(struct pvmi_transfer *t)
{
    while (!t->whole) {
        if (t->peer && t->peer->gone)
            return 0; /* the peer's host is gone; messages to nobody are dropped */
        struct pvmi_link *l = pvmi_transfer_link(t);
        if (pvmi_link_must_listen(l)) {
            l->unheard = 0;
            int rc = pvmi_link_progress();
            if (rc < 0)
                return rc;
            continue;
        }
        if (!pvmi_transfer_may_go_on(t))
            return PVMC_EAGAIN;
        int rc = pvmi_transfer_send(t);
        if (rc && rc != PVMC_EAGAIN)
            return rc;
    }
    return 0;
}

bool pvmi_transfer_is_settled(const struct pvmi_peer *p, const struct pvmi_link *l)
{
    return (l->lossless || pvmi_link_is_idle(l)) && !(p && pvmw_window_count(&p->again));
}

bool pvmi_transfer_is_released(void *arg)
{
    struct pvmi_transfer *t = arg;
    const struct pvmi_link *l = pvmi_transfer_link(t);
    while (t->inplace_count && t->inplace[t->inplace_count - 1]->refs == 1)
        pvmc_frame_unref(t->inplace[--t->inplace_count]);
    if (!pvmi_link_is_up() || (t->peer && t->peer->gone))
        return true;
    return !t->inplace_count && pvmi_transfer_is_settled(t->peer, l) && !pvmi_shadow_handing;
}

void pvmi_transfer_begin(struct pvmi_transfer *t, struct pvmc_message *m, pvmc_tid dst, struct pvmi_peer *peer)
{
    *t = (struct pvmi_transfer){.m = m, .dst = dst, .peer = peer};
    if (!peer)
        pvmi_outbox_hold(pvmc_message_bytes(m) > pvmi_daemon_link.frame_max);
    else if (!peer->link)
        pvmi_route_consider(peer, 1, pvmc_message_bytes(m));
}

void pvmi_transfer_end(struct pvmi_transfer *t)
{
    while (t->inplace_count)
        pvmc_frame_unref(t->inplace[--t->inplace_count]);
    free(t->inplace);
    if (t->peer)
        return;
    pvmi_outbox_hold(false);
    pvmi_lock_news = true;
}

/* Sends the rest and waits for room. */
static int send_and_wait(struct pvmi_transfer *t)
{
    int rc;
    while ((rc = pvmi_transfer_advance(t)) == PVMC_EAGAIN) {
        rc = pvmi_wait_until(pvmi_transfer_may_go_on, t, PVMI_WAIT_FOREVER);
        if (rc)
            return rc;
    }
    if (!rc && !pvmi_transfer_is_released(t))
        rc = pvmi_wait_until(pvmi_transfer_is_released, t, PVMI_WAIT_FOREVER);
    return rc;
}

static int finish_waiting(struct pvmi_transfer *t)
{
    struct pvmi_gauges_wait outer = pvmi_gauges_begin(PVMC_GAUGES_SENDS, (int)t->dst, t->m->tag);
    int rc = send_and_wait(t);
    pvmi_gauges_end(&outer);
    return rc;
}

/* Works on a copy of t off the stack, because the program may jump out. */
static int finish_apart(struct pvmi_transfer *t)
{
    struct pvmi_abandoned *w = malloc(sizeof *w);
    if (!w)
        return finish_waiting(t);
    *w = (struct pvmi_abandoned){.t = *t, .thread = pvmi_lock_self(), .level = pvmi_jump_level()};
    LL_PREPEND(waiting, w);
    int rc = finish_waiting(&w->t);
    LL_DELETE(waiting, w);
    *t = w->t;
    free(w);
    return rc;
}

int pvmi_transfer_finish(struct pvmi_transfer *t)
{
    pvmi_handler_defer();
    int rc = pvmi_transfer_advance(t);
    if (rc == PVMC_EAGAIN || (!rc && !pvmi_transfer_is_released(t)))
        rc = finish_apart(t);
    pvmi_handler_allow();
    return rc;
}

/* ---- transfers left by a jump ---- */

/*
 * Takes over the call's reference. The program may continue to pack, so the message is copied; in-place data must not
 * change.
 */
static void keep_message(struct pvmi_transfer *t)
{
    struct pvmc_message *twin = pvmc_message_is_inplace(t->m) ? NULL : pvmc_message_twin(t->m, t->m->enc);
    if (!twin)
        return;
    pvmc_message_share(twin, t->m);
    pvmc_message_unref(t->m);
    t->m = twin;
}

void pvmi_transfer_abandon(unsigned level)
{
    struct pvmi_abandoned *w, *next;
    LL_FOREACH_SAFE (waiting, w, next) {
        if (w->thread != pvmi_lock_self() || w->level < level)
            continue;
        LL_DELETE(waiting, w);
        keep_message(&w->t);
        if (w->t.peer)
            w->t.peer->abandoned = w;
        else
            abandoned_to_daemon = w;
    }
}

static struct pvmi_abandoned *take_abandoned(struct pvmi_peer *p)
{
    struct pvmi_abandoned **at = p ? &p->abandoned : &abandoned_to_daemon, *w = *at;
    *at = NULL;
    return w;
}

static void end_abandoned(struct pvmi_transfer *t)
{
    struct pvmi_peer *p = t->peer;
    pvmi_transfer_end(t);
    pvmc_message_unref(t->m);
    if (!p)
        return;
    p->claimed = false;
    pvmi_peer_put(p);
}

int pvmi_transfer_resume(struct pvmi_peer *p)
{
    struct pvmi_abandoned *w = take_abandoned(p);
    if (!w)
        return 0;
    struct pvmi_transfer t = w->t;
    free(w);
    int rc = pvmi_transfer_finish(&t);
    end_abandoned(&t);
    return rc;
}

void pvmi_transfer_forget(struct pvmi_peer *p)
{
    struct pvmi_abandoned *w = take_abandoned(p);
    if (!w)
        return;
    end_abandoned(&w->t);
    free(w);
}

int pvmi_transfer_all(struct pvmc_message *m, struct pvmi_peer *p)
{
    struct pvmi_transfer t;
    pvmi_transfer_begin(&t, m, m->dst, p);
    int rc = p ? pvmi_route_await(p) : 0;
    if (!rc)
        rc = pvmi_transfer_finish(&t);
    pvmi_transfer_end(&t);
    return rc;
}

int pvmi_transfer_rest(struct pvmc_message *m, struct pvmi_peer *p, uint64_t sent)
{
    struct pvmi_transfer t;
    pvmi_transfer_begin(&t, m, m->dst, p);
    t.offset = sent;
    t.streams = true;
    int rc = pvmi_transfer_finish(&t);
    pvmi_transfer_end(&t);
    return rc;
}

int pvmi_transfer_settle(struct pvmc_message *m, struct pvmi_peer *p)
{
    struct pvmi_transfer t = {.m = m, .dst = m->dst, .peer = p, .whole = true};
    int rc = pvmi_transfer_finish(&t);
    pvmi_transfer_end(&t);
    return rc;
}
