/*
 * inbox.c - received messages in order of arrival.
 *
 * A search walks the list if the message is among the first few. Otherwise it uses an index: lists of the messages that
 * agree in the fields named by the search, found by hash. There are eight kinds of searches (source, tag and context
 * each given or not). A kind is indexed when first needed and until the inbox is empty again.
 */
#include "inbox.h"
#include <stdlib.h>

#define HASH_FUNCTION(key, length, value) ((value) = hash_of(key))
#include <utlist.h>
#include "core/config.h"
#include "core/hash.h"
#include "core/log.h"
#include "libpvm/base/call.h"
#include "libpvm/base/gauges.h"
#include "buffer.h"

#define WALK_MAX  32 /* walking so many messages is cheaper than an index */
#define SPARE_MAX 512

enum { BY_SRC = 1, BY_TAG = 2, BY_CTX = 4, BY_ALL = 7 }; /* bits of a kind */

struct key {
    int src, tag, ctx; /* 0 where the kind leaves it open */
};

/* Messages that agree in the fields of a kind. */
struct pvmi_alike {
    struct key key;
    struct pvmi_waiting *first; /* NULL in the list of empty ones */
    UT_hash_handle hh;
};

static struct pvmi_waiting *first; /* all, oldest first */
static struct pvmi_alike *lists[PVMI_INBOX_KINDS];
static struct pvmi_alike *emptied[PVMI_INBOX_KINDS]; /* the last one: the next message is often similar */
static unsigned indexed;                             /* bits 1 << kind */
static struct pvmi_waiting *spare;                   /* free entries, linked by next */
static unsigned spare_count;
static uint64_t last_number;
static uint64_t waiting_bytes;
static uint64_t warn_first_bytes, warn_at_bytes; /* 0: the setting has not been read */
static struct pvmi_wanted *wanted;               /* chain of the threads' innermost waiting receives */

size_t pvmi_inbox_count;
bool pvmi_inbox_lost;

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

static unsigned hash_of(const struct key *key)
{
    uint64_t mixed = (uint64_t)(uint32_t)key->src << 32 | (uint32_t)key->tag;
    mixed = (mixed ^ (uint64_t)(uint32_t)key->ctx << 20) * 0x9e3779b97f4a7c15;
    return (unsigned)(mixed >> 32);
}

/* ---- the indexes ---- */

static struct pvmi_alike *find_list(int kind, const struct key *key)
{
    struct pvmi_alike *l;
    HASH_FIND(hh, lists[kind], key, sizeof *key, l);
    return l;
}

static struct pvmi_alike *add_list(int kind, const struct key *key)
{
    struct pvmi_alike *l = malloc(sizeof *l);
    if (!l)
        return NULL;
    l->key = *key;
    l->first = NULL;
    if (PVMC_HASH_ADD(hh, lists[kind], key, l))
        return l;
    free(l);
    return NULL;
}

static void drop_list(int kind, struct pvmi_alike *l)
{
    HASH_DEL(lists[kind], l);
    free(l);
}

static bool index_add(int kind, struct pvmi_waiting *w)
{
    struct key key = key_of(kind, w);
    struct pvmi_alike *l = find_list(kind, &key);
    if (!l)
        l = add_list(kind, &key);
    if (!l)
        return false;
    w->of_kind[kind].list = l;
    DL_APPEND2(l->first, w, of_kind[kind].prev, of_kind[kind].next);
    return true;
}

static void index_remove(int kind, struct pvmi_waiting *w)
{
    struct pvmi_alike *l = w->of_kind[kind].list, *old = emptied[kind];
    DL_DELETE2(l->first, w, of_kind[kind].prev, of_kind[kind].next);
    if (l->first)
        return;
    if (old && old != l && !old->first)
        drop_list(kind, old);
    emptied[kind] = l;
}

static void index_drop(int kind)
{
    struct pvmi_alike *l, *next;
    HASH_ITER (hh, lists[kind], l, next)
        drop_list(kind, l);
    emptied[kind] = NULL;
    indexed &= ~(1u << kind);
}

static PVMI_COLD void index_drop_all(void)
{
    for (int kind = 1; kind < PVMI_INBOX_KINDS; kind++)
        index_drop(kind);
}

/* False when out of memory: the search then walks. */
static bool index_build(int kind)
{
    struct pvmi_waiting *w;
    indexed |= 1u << kind;
    DL_FOREACH (first, w)
        if (!index_add(kind, w)) {
            index_drop(kind);
            return false;
        }
    return true;
}

static PVMI_COLD void index_everywhere(struct pvmi_waiting *w)
{
    for (int kind = 1; kind < PVMI_INBOX_KINDS; kind++)
        if (indexed & 1u << kind && !index_add(kind, w))
            index_drop(kind);
}

static PVMI_COLD void unindex_everywhere(struct pvmi_waiting *w)
{
    for (int kind = 1; kind < PVMI_INBOX_KINDS; kind++)
        if (indexed & 1u << kind)
            index_remove(kind, w);
}

/* ---- the list ---- */

/* Puts a new entry among the spare ones. False: out of memory, and the message is lost. */
static PVMI_COLD bool add_spare(struct pvmc_message *m)
{
    spare = malloc(sizeof *spare);
    if (spare) {
        spare->next = NULL;
        spare_count++;
        return true;
    }
    pvmi_inbox_lose((int)m->src, m->tag);
    pvmc_message_unref(m);
    return false;
}

static inline uint64_t bytes_of(const struct pvmc_message *m)
{
    return m->length + sizeof(struct pvmi_waiting) + sizeof *m;
}

static inline struct pvmi_waiting *waiting_new(struct pvmc_message *m)
{
    struct pvmi_waiting *w = spare;
    spare = w->next;
    spare_count--;
    w->m = m;
    w->number = ++last_number;
    w->mid = 0;
    w->src = (int)m->src;
    w->tag = m->tag;
    w->ctx = (int)m->ctx;
    w->bytes = bytes_of(m);
    return w;
}

static inline void waiting_free(struct pvmi_waiting *w)
{
    if (spare_count == SPARE_MAX) {
        free(w);
        return;
    }
    w->next = spare;
    spare = w;
    spare_count++;
}

struct pvmi_wanted *pvmi_inbox_want(struct pvmi_wanted *w)
{
    struct pvmi_wanted *before = pvmi_inbox_ours;
    if (before && wanted)
        LL_DELETE(wanted, before);
    if (w)
        LL_APPEND(wanted, w);
    pvmi_inbox_ours = w;
    return before;
}

/*
 * Drops the wishes of other threads as well: they were chained behind a record that is gone. Their messages go to the
 * inbox.
 */
void pvmi_inbox_undo(struct pvmi_wanted *outer)
{
    if (pvmi_inbox_ours == outer)
        return;
    pvmi_inbox_ours = outer;
    pvmi_inbox_forget_others();
}

void pvmi_inbox_forget_others(void)
{
    wanted = pvmi_inbox_ours;
    if (wanted)
        wanted->next = NULL;
}

bool pvmi_inbox_is_wanted(void)
{
    struct pvmi_wanted *w;
    LL_FOREACH (wanted, w)
        if (!w->m)
            return true;
    return false;
}

struct pvmi_wanted *pvmi_inbox_wanted(int src, int tag, int ctx)
{
    struct pvmi_wanted *w;
    LL_FOREACH (wanted, w)
        if (!w->m && !w->body && pvmi_inbox_covers(w->src, src) && pvmi_inbox_covers(w->tag, tag) &&
            pvmi_inbox_covers(w->ctx, ctx))
            return w;
    return NULL;
}

/* The receive whose buffer holds m, or else one that waits for such a message; NULL: none. */
static struct pvmi_wanted *who_waits_for(const struct pvmc_message *m)
{
    struct pvmi_wanted *w;
    LL_FOREACH (wanted, w)
        if (w->body && w->body == m->mem)
            return w;
    return pvmi_inbox_wanted((int)m->src, m->tag, (int)m->ctx);
}

/* Hands m to the receive that waits for it, if there is one. */
static bool hand_over(struct pvmc_message *m)
{
    struct pvmi_wanted *w = wanted ? who_waits_for(m) : NULL;
    if (w)
        w->m = m;
    return w;
}

static PVMI_COLD void warn_if_full(const struct pvmi_waiting *last)
{
    if (!warn_first_bytes) {
        uint64_t setting = (uint64_t)pvmc_config_integer(PVMC_SETTING_INBOX_WARN);
        warn_first_bytes = warn_at_bytes = setting ? setting : UINT64_MAX;
    }
    if (waiting_bytes < warn_at_bytes)
        return;
    while (warn_at_bytes <= waiting_bytes)
        warn_at_bytes *= 2;
    pvmc_log(PVMC_LOG_WARNING,
             "%zu messages of %llu MiB wait in this task, the last from t%x with tag %d: it receives more than it asks "
             "for (PVM_INBOX_WARN)",
             pvmi_inbox_count, (unsigned long long)(waiting_bytes >> 20), (unsigned)last->src, last->tag);
}

static void show(void)
{
    pvmi_gauges->waiting_messages = pvmi_inbox_count;
    pvmi_gauges->waiting_bytes = waiting_bytes;
}

static void count_in(const struct pvmi_waiting *w)
{
    pvmi_inbox_count++;
    waiting_bytes += w->bytes;
    show();
    if (waiting_bytes >= warn_at_bytes)
        warn_if_full(w);
}

static void count_out(const struct pvmi_waiting *w)
{
    waiting_bytes -= w->bytes;
    if (!--pvmi_inbox_count)
        warn_at_bytes = warn_first_bytes;
    show();
}

struct pvmi_waiting *pvmi_inbox_append(struct pvmc_message *m)
{
    if (!spare && !add_spare(m))
        return NULL;
    struct pvmi_waiting *w = waiting_new(m);
    DL_APPEND(first, w);
    count_in(w);
    if (indexed)
        index_everywhere(w);
    return w;
}

void pvmi_inbox_put(struct pvmc_message *m)
{
    if (!hand_over(m))
        pvmi_inbox_append(m);
}

void pvmi_inbox_lose(int src, int tag)
{
    pvmc_log(PVMC_LOG_ERROR, "no memory: dropped a message from t%x with tag %d", src, tag);
    pvmi_inbox_lost = true;
}

bool pvmi_inbox_take_loss(void)
{
    bool was = pvmi_inbox_lost;
    pvmi_inbox_lost = false;
    return was;
}

/* The first match among the first `limit` messages, or NULL. */
static struct pvmi_waiting *walk(int src, int tag, int ctx, size_t limit)
{
    struct pvmi_waiting *w = first;
    for (size_t i = 0; w && i < limit; i++, w = w->next)
        if (pvmi_inbox_covers(src, w->src) && pvmi_inbox_covers(tag, w->tag) && pvmi_inbox_covers(ctx, w->ctx))
            return w;
    return NULL;
}

/* Searches behind the first messages, which have been checked. */
static __attribute__((noinline)) struct pvmi_waiting *find_further(int src, int tag, int ctx)
{
    int kind = kind_of_search(src, tag, ctx);
    bool has_index = indexed & 1u << kind;
    struct pvmi_waiting *w = NULL;
    if (pvmi_inbox_count <= WALK_MAX || !has_index)
        w = walk(src, tag, ctx, WALK_MAX);
    if (w || pvmi_inbox_count <= WALK_MAX)
        return w;
    if (!has_index && !index_build(kind))
        return walk(src, tag, ctx, pvmi_inbox_count);
    struct key key = make_key(kind, src, tag, ctx);
    struct pvmi_alike *l = find_list(kind, &key);
    return l ? l->first : NULL;
}

struct pvmi_waiting *pvmi_inbox_find(int src, int tag, int ctx)
{
    if (!first || (pvmi_inbox_covers(src, first->src) && pvmi_inbox_covers(tag, first->tag) &&
                   pvmi_inbox_covers(ctx, first->ctx)))
        return first;
    return pvmi_inbox_count == 1 ? NULL : find_further(src, tag, ctx);
}

struct pvmi_waiting *pvmi_inbox_after(uint64_t number)
{
    struct pvmi_waiting *w = first ? first->prev : NULL; /* start at the last: few messages are newer */
    if (!w || w->number <= number)
        return NULL;
    while (w != first && w->prev->number > number)
        w = w->prev;
    return w;
}

struct pvmc_message *pvmi_inbox_take(struct pvmi_waiting *w, int *mid)
{
    struct pvmc_message *m = w->m;
    *mid = w->mid;
    if (indexed)
        unindex_everywhere(w);
    DL_DELETE(first, w);
    count_out(w);
    waiting_free(w);
    if (!pvmi_inbox_count && indexed)
        index_drop_all();
    return m;
}

/* The search is only as long as there are messages like m, so other messages need no notes for it. */
static struct pvmi_waiting *entry_of(const struct pvmc_message *m)
{
    struct pvmi_waiting *w = pvmi_inbox_find((int)m->src, m->tag, (int)m->ctx);
    bool has_index = indexed & 1u << BY_ALL;
    while (w && w->m != m)
        w = has_index ? w->of_kind[BY_ALL].next : w->next;
    return w;
}

void pvmi_inbox_grown(const struct pvmc_message *m)
{
    struct pvmi_waiting *w = entry_of(m);
    if (!w)
        return;
    waiting_bytes += bytes_of(m) - w->bytes;
    w->bytes = bytes_of(m);
    show();
    if (waiting_bytes >= warn_at_bytes)
        warn_if_full(w);
}

struct pvmi_waiting *pvmi_inbox_unseen(const struct pvmc_message *m)
{
    struct pvmi_waiting *w = first;
    while (w && (w->m != m || w->mid))
        w = w->next;
    return w;
}

void pvmi_inbox_clear(void)
{
    while (first) {
        int mid;
        struct pvmc_message *m = pvmi_inbox_take(first, &mid);
        if (mid) {
            pvmi_buffer_taken(mid);
            pvmi_buffer_free(mid);
        } else {
            pvmc_message_unref(m);
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
