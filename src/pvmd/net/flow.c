/* flow.c - see flow.h. */
#include "flow.h"
#include <ev.h>
#include <utlist.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "detour.h"
#include "link_state.h"
#include "linked.h"
#include "pvmd/base/memory.h"
#include "pvmd/base/self.h"
#include "pvmd/base/stats.h"
#include "pvmd/base/virtual.h"
#include "stream.h"

#define COUNT_LAZY_S 0.05 /* received frames are counted to the sender after this delay without a request */
#define ASK_FRAMES   512  /* sent without requesting a count */
#define KEPT_MAX     65536

static struct pvmd_link *dirty_links;
static ev_prepare flush_watcher; /* never started: fed when a link becomes dirty */
static ev_timer lazy_timer;

static struct pvmd_link *master_link(void)
{
    struct pvmd_host *master = pvmd_host_any(pvmd.master_index);
    return master ? master->link : NULL;
}

/* ---- what waits ---- */

static void flush_event(struct ev_loop *loop, ev_prepare *w, int events);

/* Links are flushed at the end of the loop's turn (lowest priority), so that frames leave together. */
void pvmd_flow_mark(struct pvmd_link *l)
{
    if (l->dirty)
        return;
    l->dirty = true;
    DL_APPEND(dirty_links, l);
    if (!ev_is_pending(&flush_watcher)) {
        ev_prepare_init(&flush_watcher, flush_event);
        ev_set_priority(&flush_watcher, EV_MINPRI);
        ev_feed_event(pvmd.loop, &flush_watcher, EV_PREPARE);
    }
}

int pvmd_flow_put(struct pvmd_link *l, struct pvmc_frame *f)
{
    int rc = pvmd_queue_push(&l->queue, f);
    if (!rc && (l->state == PVMD_LINK_UP || l->state == PVMD_LINK_RELAYED))
        pvmd_flow_mark(l);
    return rc;
}

/* ---- sending ---- */

/* Limit of the retransmit window: half of the queue's limit, so that a link holds at most 1.5 * PVM_QUEUE_MAX. */
static size_t window_bytes(void)
{
    static size_t bytes;
    if (!bytes)
        bytes = (size_t)pvmc_config_integer(PVMC_SETTING_QUEUE_MAX) / 2;
    return bytes;
}

/* Moves the oldest queued frame to the retransmit window: false when there is none, or the window is full. */
static bool take(struct pvmd_link *l)
{
    struct pvmc_frame *f = pvmd_queue_first(&l->queue);
    uint32_t kept = pvmw_window_count(&l->window);
    if (!f || (kept && l->window.bytes >= window_bytes()) || kept >= KEPT_MAX || pvmw_window_add(&l->window, f))
        return false;
    pvmd_queue_pop(&l->queue);
    l->kept_much = l->kept_much || l->window.bytes > window_bytes() / 8;
    return true;
}

/*
 * Requests counts often enough that they arrive before the window is full, and always in virtual time, which waits for
 * them.
 */
static bool must_ask(const struct pvmd_link *l, const struct pvmc_frame *f)
{
    return pvmd_virtual_is_watched() || l->unasked_bytes + f->h.length >= window_bytes() / 4 ||
           l->unasked >= ASK_FRAMES;
}

static void note_sent(struct pvmd_link *l, const struct pvmc_frame *f, bool asked)
{
    l->next_out++;
    l->unasked_bytes = asked ? 0 : l->unasked_bytes + sizeof *f + f->h.length;
    l->unasked = asked ? 0 : l->unasked + 1;
}

static void flush_up(struct pvmd_link *l)
{
    while (l->next_out != l->window.end || take(l)) {
        struct pvmc_frame *f = pvmw_window_frame(&l->window, l->next_out);
        bool ask = must_ask(l, f);
        if (!pvmd_stream_frame(l->stream, f, l->received, ask))
            break;
        l->told = l->received;
        note_sent(l, f, ask);
    }
    if (l->count_due && l->told != l->received) {
        l->told = l->received;
        pvmd_stream_signal(l->stream, PVMD_SIGNAL_COUNT, l->received);
    }
    l->count_due = false;
    pvmd_stream_flush(l->stream);
}

/* Sends a frame to the master, for the link's host. False when out of memory. */
static bool send_through(struct pvmd_link *master, const struct pvmd_link *l, const struct pvmc_frame *f, bool ask)
{
    struct pvmc_frame *copy = pvmc_frame_share(f);
    if (!copy)
        return false;
    copy->h.detour = pvmd_detour(l->host->index, ask, l->next_out);
    int rc = pvmd_flow_put(master, copy);
    pvmc_frame_unref(copy);
    return !rc;
}

static void tell_count(struct pvmd_link *l, enum pvmd_count kind)
{
    l->told = l->received;
    pvmd_tell_link_count(l->host->index, l->received, kind);
}

/*
 * Sends frames through the master while its queue is short. Senders are held on account of this link's host, not of the
 * master. Frames that no memory was found for wait for liveness.c.
 */
static void flush_relayed(struct pvmd_link *l)
{
    struct pvmd_link *master = master_link();
    if (!master)
        return;
    if (l->answer_due || l->count_due)
        tell_count(l, l->answer_due ? PVMD_COUNT_ANSWER : PVMD_COUNT_PLAIN);
    l->answer_due = l->count_due = false;
    while (!l->count_awaited && master->queue.bytes < window_bytes() / 2 && (l->next_out != l->window.end || take(l))) {
        struct pvmc_frame *f = pvmw_window_frame(&l->window, l->next_out);
        bool ask = must_ask(l, f);
        if (!send_through(master, l, f, ask))
            break;
        note_sent(l, f, ask);
    }
}

static bool has_unsent(const struct pvmd_link *l)
{
    return l->next_out != l->window.end || pvmd_queue_first(&l->queue);
}

/* Resumes links that send through this one once its queue is short again. */
static void wake_relayed(const struct pvmd_link *master)
{
    size_t count;
    struct pvmd_host **list = pvmd_host_list(&count);
    if (master->queue.bytes >= window_bytes() / 2)
        return;
    for (size_t i = 0; i < count; i++) {
        struct pvmd_link *l = list[i]->link;
        if (l && l->state == PVMD_LINK_RELAYED && has_unsent(l))
            pvmd_flow_mark(l);
    }
}

void pvmd_flow_flush(struct pvmd_link *l)
{
    if (l->state == PVMD_LINK_RELAYED)
        flush_relayed(l);
    if (l->state != PVMD_LINK_UP)
        return;
    flush_up(l);
    if (!pvmd_is_master() && l->host->index == pvmd.master_index)
        wake_relayed(l);
}

static void flush_event(struct ev_loop *loop, ev_prepare *w, int events)
{
    (void)loop, (void)w, (void)events;
    pvmd_virtual_tell(); /* before the other side hears of the frame and lets time pass */
    while (dirty_links) {
        struct pvmd_link *l = dirty_links;
        DL_DELETE(dirty_links, l);
        l->dirty = false;
        pvmd_flow_flush(l);
    }
}

/* ---- counting ---- */

static void lazy_event(struct ev_loop *loop, ev_timer *w, int events)
{
    static unsigned indices[PVMC_HOST_INDEX_MAX];
    (void)loop, (void)w, (void)events;
    for (unsigned count = pvmd_linked_list(indices), i = 0; i < count; i++) {
        struct pvmd_host *h = pvmd_host_any(indices[i]);
        if (!h || !h->link || h->link->told == h->link->received)
            continue;
        h->link->count_due = true;
        pvmd_flow_mark(h->link);
    }
}

void pvmd_flow_received(struct pvmd_link *l, bool asked)
{
    l->received++;
    if (asked) {
        l->count_due = true;
        pvmd_flow_mark(l);
    } else if (!ev_is_active(&lazy_timer)) {
        ev_timer_init(&lazy_timer, lazy_event, COUNT_LAZY_S, 0.);
        ev_timer_start(pvmd.loop, &lazy_timer);
    }
}

bool pvmd_flow_is_next(const struct pvmd_link *l, const struct pvmc_frame *f)
{
    return l->state == PVMD_LINK_RELAYED && pvmd_detour_has_number(f->h.detour, l->received);
}

void pvmd_flow_ask(struct pvmd_link *l)
{
    l->count_awaited = true;
    l->first_at_look = l->window.first;
    tell_count(l, PVMD_COUNT_QUESTION);
}

void pvmd_flow_ask_again(struct pvmd_link *l)
{
    bool gets_across = l->first_at_look != l->window.first;
    l->first_at_look = l->window.first;
    if (has_unsent(l))
        pvmd_flow_mark(l);
    if (l->count_awaited || (pvmw_window_count(&l->window) && !gets_across))
        pvmd_flow_ask(l);
}

int pvmd_flow_counted(struct pvmd_link *l, uint32_t count)
{
    if (count == l->window.first)
        return 0;
    if (pvmw_window_acknowledge(&l->window, count, l->next_out)) {
        pvmc_log(PVMC_LOG_ERROR, "host %s counts %u frames of %u", l->host->name, count, l->next_out);
        return PVMC_EFORMAT;
    }
    if (l->kept_much && !pvmw_window_count(&l->window)) {
        l->kept_much = false;
        pvmd_trim_later();
    }
    if (pvmd_queue_first(&l->queue))
        pvmd_flow_mark(l);
    return 0;
}

static void send_kept_again(struct pvmd_link *l)
{
    pvmd_stats.resent += l->next_out - l->window.first;
    l->next_out = l->window.first;
    l->unasked_bytes = l->unasked = 0;
}

/* Nothing that was sent before the question is under way any more when its answer comes. */
void pvmd_flow_told(struct pvmd_link *l, uint32_t count, enum pvmd_count kind)
{
    pvmd_flow_counted(l, count);
    if (l->count_awaited && kind == PVMD_COUNT_ANSWER) {
        l->count_awaited = false;
        send_kept_again(l);
    }
    l->answer_due = l->answer_due || kind == PVMD_COUNT_QUESTION;
    pvmd_flow_mark(l);
}

void pvmd_flow_restart(struct pvmd_link *l)
{
    send_kept_again(l);
    l->told = l->received;
}

void pvmd_flow_clear(struct pvmd_link *l)
{
    if (l->dirty)
        DL_DELETE(dirty_links, l);
    pvmd_queue_clear(&l->queue);
    pvmw_window_clear(&l->window);
}
