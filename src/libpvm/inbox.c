/*
 * inbox.c - received messages in order of arrival.
 *
 * Among a few messages a search walks the list. Among many it uses an index: lists of the messages that agree in the
 * fields which the search names, found by hash. There are eight kinds of searches (source, tag and context given or
 * not); a kind is indexed when it is first needed and until the inbox is empty again.
 */
#include "inbox.h"
#include <stdlib.h>
#include <uthash.h>
#include <utlist.h>
#include "../core/log.h"
#include "buffer.h"

#define WALK_MAX  32 /* up to this many messages walking is cheaper than hashing */
#define SPARE_MAX 64

enum { BY_SRC = 1, BY_TAG = 2, BY_CTX = 4 }; /* bits of a kind */

struct key {
    int src, tag, ctx; /* 0 where the kind leaves it open */
};

struct list {
    struct key key;
    struct pvmi_waiting *first;
    UT_hash_handle hh;
};

static struct pvmi_waiting *first; /* all, oldest first */
static size_t count;
static struct list *lists[PVMI_INBOX_KINDS];
static bool indexed[PVMI_INBOX_KINDS];
static struct pvmi_waiting *spare; /* freed ones, linked by next */
static unsigned spare_count;
static struct pvmi_wanted *wanted; /* by the innermost receive that waits; NULL: none does */

static int kind_of_search(int src, int tag, int ctx)
{
    return (src != PVMI_INBOX_ANY ? BY_SRC : 0) | (tag != PVMI_INBOX_ANY ? BY_TAG : 0) |
           (ctx != PVMI_INBOX_ANY ? BY_CTX : 0);
}

static struct key make_key(int kind, int src, int tag, int ctx)
{
    return (struct key){kind & BY_SRC ? src : 0, kind & BY_TAG ? tag : 0, kind & BY_CTX ? ctx : 0};
}

static struct key key_of(int kind, const struct pvmi_waiting *w)
{
    return make_key(kind, w->src, w->tag, w->ctx);
}

/* ---- the indexes ---- */

static struct list *find_list(int kind, const struct key *key)
{
    struct list *l;
    HASH_FIND(hh, lists[kind], key, sizeof *key, l);
    return l;
}

static bool index_add(int kind, struct pvmi_waiting *w)
{
    struct key key = key_of(kind, w);
    struct list *l = find_list(kind, &key);
    if (!l) {
        l = calloc(1, sizeof *l);
        if (!l)
            return false;
        l->key = key;
        HASH_ADD(hh, lists[kind], key, sizeof key, l);
    }
    DL_APPEND2(l->first, w, of_kind[kind].prev, of_kind[kind].next);
    return true;
}

static void index_remove(int kind, struct pvmi_waiting *w)
{
    struct key key = key_of(kind, w);
    struct list *l = find_list(kind, &key);
    DL_DELETE2(l->first, w, of_kind[kind].prev, of_kind[kind].next);
    if (!l->first) {
        HASH_DEL(lists[kind], l);
        free(l);
    }
}

static void index_drop(int kind)
{
    struct list *l, *next;
    HASH_ITER (hh, lists[kind], l, next) {
        HASH_DEL(lists[kind], l);
        free(l);
    }
    indexed[kind] = false;
}

/* False when out of memory: the search then walks. */
static bool index_build(int kind)
{
    struct pvmi_waiting *w;
    indexed[kind] = true;
    DL_FOREACH (first, w)
        if (!index_add(kind, w)) {
            index_drop(kind);
            return false;
        }
    return true;
}

/* ---- the list ---- */

static struct pvmi_waiting *waiting_new(struct pvmi_message *m)
{
    struct pvmi_waiting *w = spare;
    if (w) {
        spare = w->next;
        spare_count--;
    } else {
        w = malloc(sizeof *w);
    }
    if (w) {
        w->m = m;
        w->mid = 0;
        w->src = (int)m->src;
        w->tag = m->tag;
        w->ctx = (int)m->ctx;
    }
    return w;
}

static void waiting_free(struct pvmi_waiting *w)
{
    if (spare_count == SPARE_MAX) {
        free(w);
        return;
    }
    w->next = spare;
    spare = w;
    spare_count++;
}

static bool covers(int pattern, int value)
{
    return pattern == PVMI_INBOX_ANY || pattern == value;
}

struct pvmi_wanted *pvmi_inbox_want(struct pvmi_wanted *w)
{
    struct pvmi_wanted *before = wanted;
    wanted = w;
    return before;
}

struct pvmi_wanted *pvmi_inbox_wanted(int src, int tag, int ctx)
{
    bool matches = wanted && !wanted->m && !wanted->body && covers(wanted->src, src) && covers(wanted->tag, tag) &&
                   covers(wanted->ctx, ctx);
    return matches ? wanted : NULL;
}

/* Whether m is just what a receive waits for, which then has it. */
static bool hand_over(struct pvmi_message *m)
{
    bool placed = wanted && wanted->body && wanted->body == m->mem;
    if (!placed && !pvmi_inbox_wanted((int)m->src, m->tag, (int)m->ctx))
        return false;
    wanted->m = m;
    return true;
}

void pvmi_inbox_put(struct pvmi_message *m)
{
    if (hand_over(m))
        return;
    struct pvmi_waiting *w = waiting_new(m);
    if (!w) {
        pvmi_log(PVMI_LOG_ERROR, "no memory: dropped a message from t%x with tag %d", m->src, m->tag);
        pvmi_message_unref(m);
        return;
    }
    DL_APPEND(first, w);
    count++;
    for (int kind = 1; kind < PVMI_INBOX_KINDS; kind++)
        if (indexed[kind] && !index_add(kind, w))
            index_drop(kind);
}

static struct pvmi_waiting *walk(int src, int tag, int ctx)
{
    struct pvmi_waiting *w;
    DL_FOREACH (first, w)
        if (covers(src, w->src) && covers(tag, w->tag) && covers(ctx, w->ctx))
            return w;
    return NULL;
}

struct pvmi_waiting *pvmi_inbox_find(int src, int tag, int ctx)
{
    int kind = kind_of_search(src, tag, ctx);
    if (!kind)
        return first;
    if (!indexed[kind] && (count <= WALK_MAX || !index_build(kind)))
        return walk(src, tag, ctx);
    struct key key = make_key(kind, src, tag, ctx);
    struct list *l = find_list(kind, &key);
    return l ? l->first : NULL;
}

struct pvmi_waiting *pvmi_inbox_first(void)
{
    return first;
}

struct pvmi_message *pvmi_inbox_take(struct pvmi_waiting *w, int *mid)
{
    struct pvmi_message *m = w->m;
    *mid = w->mid;
    for (int kind = 1; kind < PVMI_INBOX_KINDS; kind++)
        if (indexed[kind])
            index_remove(kind, w);
    DL_DELETE(first, w);
    waiting_free(w);
    if (!--count)
        for (int kind = 1; kind < PVMI_INBOX_KINDS; kind++)
            indexed[kind] = false; /* its lists are all gone with their last messages */
    return m;
}

void pvmi_inbox_clear(void)
{
    while (first) {
        int mid;
        struct pvmi_message *m = pvmi_inbox_take(first, &mid);
        if (mid) {
            pvmi_buffer_taken(mid);
            pvmi_buffer_free(mid);
        } else {
            pvmi_message_unref(m);
        }
    }
}

__attribute__((destructor)) static void free_all(void)
{
    pvmi_inbox_clear();
    while (spare) {
        struct pvmi_waiting *w = spare;
        spare = w->next;
        free(w);
    }
}
