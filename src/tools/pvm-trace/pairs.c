/* pairs.c - see pairs.h. */
#include "pairs.h"
#include <stdlib.h>
#include <string.h>
#include "core/hash.h"

enum { NONE = -1 };

struct key {
    int source, destination, tag, context;
};

/* Messages of one key, oldest first; the first `taken` are received. Events of a broadcast do not name its receivers,
 * so its queue holds all broadcasts of a sender with this tag. */
struct queue {
    struct key key;
    size_t *messages;
    size_t count, taken;
    UT_hash_handle hh;
};

struct matcher {
    const struct timeline *timeline;
    struct pairs *pairs;
    struct queue *queues;
    struct queue *broadcasts; /* by source, tag and context; destination 0 */
    struct queue *heard;      /* position of each receiver in a broadcast queue */
    const struct call **broadcast_calls;
    size_t broadcast_count;
};

static struct queue *queue_of(struct queue **table, const struct key *key, bool make)
{
    struct queue *q;
    HASH_FIND(hh, *table, key, sizeof *key, q);
    if (q || !make)
        return q;
    if (!(q = calloc(1, sizeof *q)))
        store_out_of_memory();
    q->key = *key;
    if (!PVMC_HASH_ADD(hh, *table, key, q))
        store_out_of_memory();
    return q;
}

static void push(struct queue *q, size_t message)
{
    q->messages = array_grow(q->messages, q->count, sizeof *q->messages);
    q->messages[q->count++] = message;
}

static void free_queues(struct queue **table)
{
    struct queue *q, *next;
    HASH_ITER (hh, *table, q, next) {
        HASH_DEL(*table, q);
        free(q->messages);
        free(q);
    }
}

static size_t add_message(struct pairs *p, const struct message *m)
{
    p->messages = array_grow(p->messages, p->count, sizeof *p->messages);
    p->messages[p->count] = *m;
    return p->count++;
}

/* ---- sends ---- */

static void send_to(struct matcher *m, const struct call *c, int64_t destination)
{
    const struct event *e = c->entry;
    if (destination <= 0) /* a daemon, or a user-defined event */
        return;
    struct message sent = {.source = m->timeline->tracks[c->track].task.tid,
                           .destination = (int)destination,
                           .tag = (int)event_number(e, TEV_DID_MC, 0),
                           .context = (int)event_number(e, TEV_DID_MCX, 0),
                           .bytes = meaning_bytes(e),
                           .sent = c};
    struct key key = {sent.source, sent.destination, sent.tag, sent.context};
    struct queue *q = queue_of(&m->queues, &key, true);
    size_t index = add_message(m->pairs, &sent);
    if (q)
        push(q, index);
}

static void broadcast(struct matcher *m, const struct call *c)
{
    struct key key = {.source = m->timeline->tracks[c->track].task.tid,
                      .tag = (int)event_number(c->entry, TEV_DID_MC, 0),
                      .context = (int)event_number(c->entry, TEV_DID_MCX, 0)};
    struct queue *q = queue_of(&m->broadcasts, &key, true);
    m->broadcast_calls = array_grow(m->broadcast_calls, m->broadcast_count, sizeof *m->broadcast_calls);
    m->broadcast_calls[m->broadcast_count++] = c;
    if (q)
        push(q, m->broadcast_count - 1);
}

static void take_send(struct matcher *m, const struct call *c)
{
    if (!c->entry || event_number(c->exit, TEV_DID_CC, 0) < 0)
        return;
    if (c->what == TEV_SEND || c->what == TEV_PSEND)
        send_to(m, c, event_number(c->entry, TEV_DID_DST, 0));
    if (c->what == TEV_BCAST)
        broadcast(m, c);
    const struct field *list = c->what == TEV_MCAST ? event_field(c->entry, TEV_DID_MDL) : NULL;
    for (int i = 0; list && list->kind == FIELD_NUMBERS && i < list->count; i++)
        if (list->numbers[i] != m->timeline->tracks[c->track].task.tid) /* a multicast skips its sender */
            send_to(m, c, list->numbers[i]);
}

/* ---- receives ---- */

/* The event that identifies the received message; NULL when the call received none. */
static const struct event *received_event(const struct call *c)
{
    const struct event *e = c->what == TEV_MHF_INVOKE ? c->entry : c->exit;
    return e && meaning_receives(e) ? e : NULL;
}

/* The sender's first broadcast that this receiver has not received yet. */
static const struct call *next_broadcast(struct matcher *m, const struct key *key, struct queue **heard)
{
    struct key source = {.source = key->source, .tag = key->tag, .context = key->context};
    struct queue *q = queue_of(&m->broadcasts, &source, false);
    *heard = q ? queue_of(&m->heard, key, true) : NULL;
    return *heard && (*heard)->taken < q->count ? m->broadcast_calls[q->messages[(*heard)->taken]] : NULL;
}

static void take_receive(struct matcher *m, const struct call *c)
{
    const struct event *e = received_event(c);
    if (!e)
        return;
    struct message got = {.source = (int)event_number(e, TEV_DID_SRC, 0),
                          .destination = m->timeline->tracks[c->track].task.tid,
                          .tag = (int)event_number(e, TEV_DID_MC, 0),
                          .context = (int)event_number(e, TEV_DID_MCX, 0),
                          .bytes = meaning_bytes(e),
                          .received = c};
    struct key key = {got.source, got.destination, got.tag, got.context};
    struct queue *heard, *q = queue_of(&m->queues, &key, false);
    const struct call *direct = q && q->taken < q->count ? m->pairs->messages[q->messages[q->taken]].sent : NULL;
    const struct call *to_all = next_broadcast(m, &key, &heard);
    if (to_all && (!direct || to_all->start_us < direct->start_us)) {
        heard->taken++;
        got.sent = to_all;
        add_message(m->pairs, &got);
    } else if (direct) {
        m->pairs->messages[q->messages[q->taken++]].received = c;
    } else {
        add_message(m->pairs, &got);
    }
}

/* ---- the whole ---- */

/* A call may receive a part of a message that is still being packed (pvm_initsendto()). pvm_precv() never does. */
static bool is_early(const struct message *m)
{
    bool whole = m->received->what == TEV_PRECV || meaning_bytes(received_event(m->received)) >= m->bytes;
    return whole && m->received->end_us < m->sent->start_us;
}

static void count(const struct timeline *t, struct pairs *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct message *m = &p->messages[i];
        if (m->sent && m->received)
            p->early += is_early(m);
        else if (timeline_find(t, m->sent ? m->destination : m->source) < 0)
            p->outside++;
        else if (m->sent)
            p->unreceived++;
        else
            p->unsent++;
    }
}

void pairs_make(const struct timeline *t, struct pairs *out)
{
    struct matcher m = {.timeline = t, .pairs = out};
    *out = (struct pairs){0};
    for (size_t i = 0; i < t->call_count; i++)
        take_send(&m, &t->calls[i]);
    for (size_t i = 0; i < t->call_count; i++)
        take_receive(&m, &t->calls[i]);
    free_queues(&m.queues);
    free_queues(&m.broadcasts);
    free_queues(&m.heard);
    free(m.broadcast_calls);
    count(t, out);
}

void pairs_free(struct pairs *p)
{
    free(p->messages);
}

int64_t pairs_arrival_us(const struct message *m)
{
    return m->received->end_us > m->sent->start_us ? m->received->end_us : m->sent->start_us + 1;
}
