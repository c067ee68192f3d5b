/* match.c - see match.h. */
#include "match.h"
#include <stdlib.h>

enum {
    WAITING_MIN = 4, /* a power of two, as is the next */
    WAITING_MAX = 256,
    QUEUES_MAX = 50000,
    BROADCASTERS_MAX = 2000,
    BROADCASTS_MAX = 64,
    RECEIVE_LIMIT_US = 3000000,
};

struct key {
    int from, to, tag, context;
};

/* Ends that wait for their other end, oldest first: sends, or receives, never both. */
struct spacetime_queue {
    struct key key;
    struct spacetime_message *waiting; /* a ring */
    int room, first, count;
    bool receives;
    int64_t heard; /* broadcasts of this sender that this receiver has received */
    UT_hash_handle hh;
};

struct spacetime_broadcasts {
    struct key key; /* to = 0 */
    struct spacetime_message sent[BROADCASTS_MAX];
    int64_t count;
    UT_hash_handle hh;
};

static void drop_queue(struct spacetime *s, struct spacetime_queue *q)
{
    if (q->receives)
        s->waiting_receives -= q->count;
    HASH_DEL(s->queues, q);
    s->queue_count--;
    free(q->waiting);
    free(q);
}

static void drop_all(struct spacetime *s)
{
    struct spacetime_queue *q, *next;
    struct spacetime_broadcasts *b, *next_b;

    HASH_ITER (hh, s->queues, q, next)
        drop_queue(s, q);
    HASH_ITER (hh, s->broadcasts, b, next_b) {
        HASH_DEL(s->broadcasts, b);
        free(b);
    }
}

static struct key key_of(const struct spacetime_message *m, int context)
{
    return (struct key){m->from, m->to, m->tag, context};
}

static struct spacetime_broadcasts *find_broadcasts(struct spacetime *s, const struct key *key)
{
    struct spacetime_broadcasts *b;
    struct key wanted = {key->from, 0, key->tag, key->context};

    HASH_FIND(hh, s->broadcasts, &wanted, sizeof(wanted), b);
    return b;
}

static struct spacetime_queue *find_queue(struct spacetime *s, const struct key *key)
{
    struct spacetime_queue *q;

    HASH_FIND(hh, s->queues, key, sizeof(*key), q);
    return q;
}

/* Too many keys are those of programs that use a tag or context once: nothing waits in most. */
static struct spacetime_queue *get_queue(struct spacetime *s, const struct key *key)
{
    struct spacetime_queue *q = find_queue(s, key);

    if (q != NULL)
        return q;
    if (s->queue_count >= QUEUES_MAX)
        drop_all(s);
    q = calloc(1, sizeof(*q));
    if (q == NULL)
        return NULL;
    q->key = *key;
    if (!PVMC_HASH_ADD(hh, s->queues, key, q)) {
        free(q);
        return NULL;
    }
    s->queue_count++;
    return q;
}

static struct spacetime_message take_first(struct spacetime *s, struct spacetime_queue *q)
{
    struct spacetime_message m = q->waiting[q->first];

    q->first = (q->first + 1) % q->room;
    q->count--;
    s->waiting_receives -= q->receives;
    return m;
}

/* False: out of memory. */
static bool grow(struct spacetime_queue *q)
{
    int room = q->room > 0 ? 2 * q->room : WAITING_MIN;
    struct spacetime_message *longer = malloc((size_t)room * sizeof(*longer));

    if (longer == NULL)
        return false;
    for (int i = 0; i < q->count; i++)
        longer[i] = q->waiting[(q->first + i) % q->room];
    free(q->waiting);
    q->waiting = longer;
    q->room = room;
    q->first = 0;
    return true;
}

static void push(struct spacetime *s, struct spacetime_queue *q, const struct spacetime_message *m, bool receive)
{
    if (q->count == WAITING_MAX)
        take_first(s, q);
    if (q->count == q->room && !grow(q))
        return;
    q->receives = receive;
    q->waiting[(q->first + q->count++) % q->room] = *m;
    s->waiting_receives += receive;
}

/* Receives whose send has not been traced must not take those of later messages. */
static void drop_stale(struct spacetime *s, struct spacetime_queue *q, int64_t now_us)
{
    while (q->receives && q->count > 0 && q->waiting[q->first].received_us < now_us - RECEIVE_LIMIT_US)
        take_first(s, q);
}

static void join(struct spacetime *s, const struct spacetime_message *sent, const struct spacetime_message *received)
{
    struct spacetime_message m = *sent;

    m.to = received->to;
    m.received_us = received->received_us;
    if (m.bytes == 0)
        m.bytes = received->bytes;
    spacetime_add_message(s, &m);
}

/* ---- broadcasts ---- */

/* The next one that this receiver has not received; NULL if there is none, or it is no longer kept. */
static const struct spacetime_message *next_broadcast(const struct spacetime_broadcasts *b, struct spacetime_queue *q)
{
    if (b == NULL || q->heard >= b->count)
        return NULL;
    if (b->count - q->heard > BROADCASTS_MAX)
        q->heard = b->count - BROADCASTS_MAX;
    return &b->sent[q->heard % BROADCASTS_MAX];
}

/* Receives of it may have waited. */
static void serve_waiting(struct spacetime *s, const struct spacetime_broadcasts *b)
{
    for (struct spacetime_queue *q = s->queues; q != NULL && s->waiting_receives > 0; q = q->hh.next) {
        if (q->key.from != b->key.from || q->key.tag != b->key.tag || q->key.context != b->key.context)
            continue;
        drop_stale(s, q, b->sent[(b->count - 1) % BROADCASTS_MAX].sent_us);
        const struct spacetime_message *sent = q->receives && q->count > 0 ? next_broadcast(b, q) : NULL;
        if (sent == NULL)
            continue;
        q->heard++;
        struct spacetime_message received = take_first(s, q);
        join(s, sent, &received);
    }
}

static void send_to_all(struct spacetime *s, const struct spacetime_message *m, const struct key *key)
{
    struct spacetime_broadcasts *b = find_broadcasts(s, key);

    if (b == NULL) {
        if (HASH_COUNT(s->broadcasts) >= BROADCASTERS_MAX)
            drop_all(s);
        if ((b = calloc(1, sizeof(*b))) == NULL)
            return;
        b->key = *key;
        if (!PVMC_HASH_ADD(hh, s->broadcasts, key, b)) {
            free(b);
            return;
        }
    }
    b->sent[b->count++ % BROADCASTS_MAX] = *m;
    serve_waiting(s, b);
}

/* ---- the ends ---- */

void match_send(struct spacetime *s, const struct spacetime_message *m, int context)
{
    struct key key = key_of(m, context);

    if (m->to == 0) {
        send_to_all(s, m, &key);
        return;
    }
    struct spacetime_queue *q = get_queue(s, &key);
    if (q == NULL)
        return;
    drop_stale(s, q, m->sent_us);
    if (q->receives && q->count > 0) {
        struct spacetime_message received = take_first(s, q);
        join(s, m, &received);
    } else {
        push(s, q, m, false);
    }
}

void match_receive(struct spacetime *s, const struct spacetime_message *m, int context)
{
    struct key key = key_of(m, context);
    struct spacetime_queue *q = get_queue(s, &key);

    if (q == NULL)
        return;
    const struct spacetime_message *to_all = next_broadcast(find_broadcasts(s, &key), q);
    const struct spacetime_message *direct = !q->receives && q->count > 0 ? &q->waiting[q->first] : NULL;
    if (to_all != NULL && (direct == NULL || to_all->sent_us < direct->sent_us)) {
        q->heard++;
        join(s, to_all, m);
    } else if (direct != NULL) {
        struct spacetime_message sent = take_first(s, q);
        join(s, &sent, m);
    } else {
        push(s, q, m, true);
    }
}

void spacetime_forget_ended(struct spacetime *s)
{
    struct spacetime_queue *q, *next;

    HASH_ITER (hh, s->queues, q, next) {
        const struct snapshot_task *to = snapshot_task(s->snapshot, q->key.to);
        if (to == NULL || to->ended_us != 0)
            drop_queue(s, q);
    }
}

void spacetime_free(struct spacetime *s)
{
    drop_all(s);
}
