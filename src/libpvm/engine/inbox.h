/*
 * inbox.h - messages that were taken in and wait for a receive.
 *
 * The time to find the first message that matches a source, tag and context, each of which may be open, does not depend
 * on how many others wait: the first search of a kind among many messages builds an index for that kind, which is then
 * maintained.
 */
#ifndef PVMI_INBOX_H
#define PVMI_INBOX_H

#include <stddef.h>
#include "core/message/message.h"
#include "libpvm/base/active.h"

#define PVMI_INBOX_ANY (-1)

#define PVMI_INBOX_KINDS 8 /* one for each set of fields that a search names */

struct pvmi_waiting {
    struct pvmc_message *m;
    int src, tag, ctx;                /* the search key; pvm_setminfo() no longer changes it */
    uint64_t number;                  /* order of arrival */
    int mid;                          /* 0 until the program has seen it (pvm_probe, pvm_recvf) */
    uint64_t bytes;                   /* of memory, about */
    struct pvmi_waiting *prev, *next; /* in order of arrival */
    struct {
        struct pvmi_waiting *prev, *next;
        struct pvmi_alike *list; /* the list that contains it */
    } of_kind[PVMI_INBOX_KINDS]; /* in the index of that kind, if there is one */
};

/* What a receive waits for: it gets the first matching message directly, bypassing the inbox. */
struct pvmi_wanted {
    int src, tag, ctx;           /* PVMI_INBOX_ANY leaves a field open */
    const struct pvmc_mem *body; /* not NULL: only the message with this body matches */
    struct pvmc_message *m;      /* the message received, with the receive's reference; NULL until then */
    struct pvmi_wanted *next;
};

/*
 * Appends a message; takes over the reference. NULL: out of memory, and the message is lost, see below. The inbox has
 * no limit, because the message that the program waits for may be behind all the others, or follow from them. It warns
 * when PVM_INBOX_WARN bytes wait, and each time that they have doubled.
 */
struct pvmi_waiting *pvmi_inbox_append(struct pvmc_message *m);

/*
 * Appends a message, or passes it to a receive that wants it; takes over the reference. Out of memory loses it, see
 * below.
 */
void pvmi_inbox_put(struct pvmc_message *m);

/* More has come of m (core/message/partial.h), or it is whole now. Counts that if m waits here. */
void pvmi_inbox_grown(const struct pvmc_message *m);

/*
 * Records that a message was dropped for lack of memory (logged). A receive that waits for it might wait for ever, so
 * the next receive that finds none consumes the record and returns PVMC_ENOMEM.
 */
void pvmi_inbox_lose(int src, int tag);
bool pvmi_inbox_take_loss(void);

extern size_t pvmi_inbox_count;
extern bool pvmi_inbox_lost;

/* Whether a search certainly finds nothing. */
static inline bool pvmi_inbox_is_idle(void)
{
    return !pvmi_inbox_count && !pvmi_inbox_lost;
}

/*
 * Sets what this thread wants from now on, NULL: nothing. Returns the previous record, which the caller restores
 * afterwards. If several threads want a message, the one that has waited longest gets it.
 */
struct pvmi_wanted *pvmi_inbox_want(struct pvmi_wanted *w);

/* The thread has jumped out of waiting receives, except that of `outer`. */
void pvmi_inbox_undo(struct pvmi_wanted *outer);

/* In a forked child: drops what other threads wanted. */
void pvmi_inbox_forget_others(void);

static inline bool pvmi_inbox_covers(int pattern, int value)
{
    return pattern == PVMI_INBOX_ANY || pattern == value;
}

/* Whether m is one of the messages that these values name. */
static inline bool pvmi_inbox_names(int src, int tag, int ctx, const struct pvmc_message *m)
{
    return pvmi_inbox_covers(src, (int)m->src) && pvmi_inbox_covers(tag, m->tag) && pvmi_inbox_covers(ctx, (int)m->ctx);
}

/* Whether w waits for m. */
static inline bool pvmi_inbox_matches(const struct pvmi_wanted *w, const struct pvmc_message *m)
{
    return w->body ? w->body == m->mem : pvmi_inbox_names(w->src, w->tag, w->ctx, m);
}

/* Whether a receive waits for a message that has not arrived. */
bool pvmi_inbox_is_wanted(void);

/* The receive that would get a message with these fields, if it came next; NULL: it would enter the inbox. */
struct pvmi_wanted *pvmi_inbox_wanted(int src, int tag, int ctx);

/* The first message in order of arrival that matches (PVMI_INBOX_ANY leaves a field open), or NULL. */
struct pvmi_waiting *pvmi_inbox_find(int src, int tag, int ctx);

/* The oldest message with a number above this one (0: of all); continue with ->next. NULL: none. */
struct pvmi_waiting *pvmi_inbox_after(uint64_t number);

/* Takes a message out: *mid is 0 or the number it already has. The caller owns the reference. */
struct pvmc_message *pvmi_inbox_take(struct pvmi_waiting *w, int *mid);

/* The entry of a message that the program has not seen yet, or NULL. */
struct pvmi_waiting *pvmi_inbox_unseen(const struct pvmc_message *m);

/* Drops all messages and frees their mids. */
void pvmi_inbox_clear(void);

#endif
