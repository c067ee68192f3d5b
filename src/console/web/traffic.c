/* traffic.c - see traffic.h. */
#include "traffic.h"
#include <stdlib.h>

static struct traffic_pair *find(struct traffic *t, int from, int to)
{
    struct traffic_pair *p, wanted = {.key = {from, to}};

    if (from == t->own_tid || to == t->own_tid)
        return NULL;
    HASH_FIND(hh, t->pairs, &wanted.key, sizeof(wanted.key), p);
    if (p != NULL)
        return p;
    t->full |= t->count >= TRAFFIC_PAIRS_MAX;
    p = t->full ? NULL : calloc(1, sizeof(*p));
    if (p == NULL)
        return NULL;
    p->key.from = from;
    p->key.to = to;
    if (!PVMC_HASH_ADD(hh, t->pairs, key, p)) {
        free(p);
        return NULL;
    }
    t->count++;
    return p;
}

/* Traces and counters see the same bytes: the one that has seen more is right. */
static int64_t bytes_of(const struct traffic_pair *p)
{
    int64_t counted = p->direct_bytes + p->daemon_bytes;

    return counted > p->bytes ? counted : p->bytes;
}

void traffic_sent(struct traffic *t, int from, int to, int64_t bytes)
{
    struct traffic_pair *p = find(t, from, to);

    if (p == NULL)
        return;
    int64_t before = bytes_of(p);
    p->messages++;
    p->bytes += bytes;
    p->changed = true;
    t->messages++;
    t->bytes += bytes_of(p) - before;
}

static void raise(int64_t *value, long to, bool *changed)
{
    if (to > *value) {
        *value = to;
        *changed = true;
    }
}

/* Both ends count, and what arrives was sent before. */
static void count(struct traffic *t, int from, int to, const struct links_peer *peer, bool sent)
{
    struct traffic_pair *p = find(t, from, to);

    if (p == NULL)
        return;
    int64_t before = bytes_of(p);
    raise(&p->direct_frames, sent ? peer->direct.tx_frames : peer->direct.rx_frames, &p->changed);
    raise(&p->direct_bytes, sent ? peer->direct.tx_bytes : peer->direct.rx_bytes, &p->changed);
    raise(&p->daemon_frames, sent ? peer->daemon.tx_frames : peer->daemon.rx_frames, &p->changed);
    raise(&p->daemon_bytes, sent ? peer->daemon.tx_bytes : peer->daemon.rx_bytes, &p->changed);
    if (strcmp(p->route, peer->route) != 0) {
        memcpy(p->route, peer->route, sizeof(p->route));
        p->changed = true;
    }
    t->bytes += bytes_of(p) - before;
}

void traffic_told(struct traffic *t, const struct links_report *report)
{
    for (int i = 0; i < report->count; i++) {
        const struct links_peer *peer = &report->peers[i];
        if (peer->direct.tx_frames + peer->daemon.tx_frames > 0)
            count(t, report->tid, peer->tid, peer, true);
        if (peer->direct.rx_frames + peer->daemon.rx_frames > 0)
            count(t, peer->tid, report->tid, peer, false);
    }
}

static json_t *pair_json(const struct traffic_pair *p)
{
    return json_pack("[i, i, I, I, I, I, I, I, s]", p->key.from, p->key.to, (json_int_t)p->messages,
                     (json_int_t)p->bytes, (json_int_t)p->direct_frames, (json_int_t)p->direct_bytes,
                     (json_int_t)p->daemon_frames, (json_int_t)p->daemon_bytes, p->route);
}

void traffic_tell(struct traffic *t, json_t *to, bool all)
{
    json_t *rows = json_array();

    for (struct traffic_pair *p = t->pairs; p != NULL; p = p->hh.next) {
        json_t *row = all || p->changed ? pair_json(p) : NULL; /* none if the route is not UTF-8 */
        if (row != NULL)
            json_array_append_new(rows, row);
        p->changed = false;
    }
    if (all || json_array_size(rows) > 0)
        json_object_set_new(to, "pairs", rows);
    else
        json_decref(rows);
    if (t->full)
        json_object_set_new(to, "pairs_full", json_true());
}

void traffic_keep(struct traffic *t, bool (*is_known)(int tid, void *arg), void *arg)
{
    struct traffic_pair *p, *next;

    HASH_ITER (hh, t->pairs, p, next)
        if (!is_known(p->key.from, arg) || !is_known(p->key.to, arg)) {
            HASH_DEL(t->pairs, p);
            t->count--;
            free(p);
        }
    t->full = t->count >= TRAFFIC_PAIRS_MAX;
}

void traffic_free(struct traffic *t)
{
    struct traffic_pair *p, *next;

    HASH_ITER (hh, t->pairs, p, next) {
        HASH_DEL(t->pairs, p);
        free(p);
    }
}
