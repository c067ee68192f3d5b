/*
 * inbox.h - messages that have been taken in and wait to be asked for.
 *
 * Finding the first one that matches a source, tag and context, each of which may be open, costs the same however many
 * others wait: the first search of a kind among many messages builds an index for that kind, which then is kept up.
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
    int src, tag, ctx;                /* what it is found by; pvm_setminfo() does not change them any more */
    uint64_t number;                  /* by which messages are told apart that came before and after */
    int mid;                          /* 0 until a program has seen it (pvm_probe, pvm_recvf) */
    struct pvmi_waiting *prev, *next; /* in order of arrival */
    struct {
        struct pvmi_waiting *prev, *next;
        struct pvmi_alike *list; /* that we are in */
    } of_kind[PVMI_INBOX_KINDS]; /* in the index of that kind, if there is one */
};

/* What a receive waits for: the first message that matches is handed to it and does not enter the inbox. */
struct pvmi_wanted {
    int src, tag, ctx;           /* PVMI_INBOX_ANY leaves a field open */
    const struct pvmc_mem *body; /* not NULL: only the message with this body will do */
    struct pvmc_message *m;      /* what has come, with the receive's reference; NULL until then */
    struct pvmi_wanted *next;
};

/* Appends a message; takes over the reference. NULL: out of memory, which loses it, see below. */
struct pvmi_waiting *pvmi_inbox_append(struct pvmc_message *m);

/* Appends a message, or hands it to who wants it; takes over the reference. Out of memory loses it, see below. */
void pvmi_inbox_put(struct pvmc_message *m);

/*
 * A message is dropped for want of memory (logged). Who waits for one might wait for ever: the next receive that finds
 * none takes the loss, once, and returns PVMC_ENOMEM.
 */
void pvmi_inbox_lose(int src, int tag);
bool pvmi_inbox_take_loss(void);

extern size_t pvmi_inbox_count;
extern bool pvmi_inbox_lost;

/* Whether a search finds nothing for sure. */
static inline bool pvmi_inbox_is_idle(void)
{
    return !pvmi_inbox_count && !pvmi_inbox_lost;
}

/*
 * From now on `w` is what this thread wants, NULL: nothing. Returns what was before, which the caller sets again
 * afterwards. Of several threads that want a message, the one that has waited longest gets it.
 */
struct pvmi_wanted *pvmi_inbox_want(struct pvmi_wanted *w);

/* The thread has jumped out of receives that wait, but for that of `outer`. */
void pvmi_inbox_undo(struct pvmi_wanted *outer);

/* In a forked child: what other threads wanted. */
void pvmi_inbox_forget_others(void);

static inline bool pvmi_inbox_covers(int pattern, int value)
{
    return pattern == PVMI_INBOX_ANY || pattern == value;
}

/* Whether m is what w waits for. */
static inline bool pvmi_inbox_matches(const struct pvmi_wanted *w, const struct pvmc_message *m)
{
    if (w->body)
        return w->body == m->mem;
    return pvmi_inbox_covers(w->src, (int)m->src) && pvmi_inbox_covers(w->tag, m->tag) &&
           pvmi_inbox_covers(w->ctx, (int)m->ctx);
}

/* Whether a receive waits for a message that has not come. */
bool pvmi_inbox_is_wanted(void);

/* Who would get a message with these fields, if the next one had them; NULL: it would enter the inbox. */
struct pvmi_wanted *pvmi_inbox_wanted(int src, int tag, int ctx);

/* The first message in order of arrival that matches (PVMI_INBOX_ANY leaves a field open), or NULL. */
struct pvmi_waiting *pvmi_inbox_find(int src, int tag, int ctx);

/* The oldest message with a number above this one (0: of all); go on with ->next. NULL: none. */
struct pvmi_waiting *pvmi_inbox_after(uint64_t number);

/* Takes a message out: *mid is 0 or the number it already has. The caller owns the reference. */
struct pvmc_message *pvmi_inbox_take(struct pvmi_waiting *w, int *mid);

/* Drops all messages and frees their mids. */
void pvmi_inbox_clear(void);

#endif
