/*
 * inbox.h - received messages that wait to be asked for.
 *
 * Finding the first one that matches a source, tag and context, each of which may be open, costs the same however many
 * others wait: the first search of a kind among many messages builds an index for that kind, which then is kept up.
 */
#ifndef PVMI_INBOX_H
#define PVMI_INBOX_H

#include <stddef.h>
#include "../core/message.h"

#define PVMI_INBOX_ANY (-1)

#define PVMI_INBOX_KINDS 8 /* one for each set of fields that a search names */

struct pvmi_waiting {
    struct pvmi_message *m;
    int src, tag, ctx;                /* what it is found by; pvm_setminfo() does not change them any more */
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
    const struct pvmi_mem *body; /* not NULL: only the message with this body will do */
    struct pvmi_message *m;      /* what has come, with the receive's reference; NULL until then */
    struct pvmi_wanted *next;
};

/* Appends a message, or hands it to who wants it; takes over the reference. Out of memory loses it, see below. */
void pvmi_inbox_put(struct pvmi_message *m);

/*
 * A message is dropped for want of memory (logged). Who waits for one might wait for ever: the next receive that finds
 * none takes the loss, once, and returns PVMI_ENOMEM.
 */
void pvmi_inbox_lose(int src, int tag);
bool pvmi_inbox_take_loss(void);

/*
 * From now on `w` is what this thread wants, NULL: nothing. Returns what was before, which the caller sets again
 * afterwards. Of several threads that want a message, the one that has waited longest gets it.
 */
struct pvmi_wanted *pvmi_inbox_want(struct pvmi_wanted *w);

/* What this thread wants; kept for each thread by lock.c. */
extern struct pvmi_wanted *pvmi_inbox_ours;

/* In a forked child: what other threads wanted. */
void pvmi_inbox_forget_others(void);

/* Who would get a message with these fields, if the next one had them; NULL: it would enter the inbox. */
struct pvmi_wanted *pvmi_inbox_wanted(int src, int tag, int ctx);

/* The first message in order of arrival that matches (PVMI_INBOX_ANY leaves a field open), or NULL. */
struct pvmi_waiting *pvmi_inbox_find(int src, int tag, int ctx);

/* The oldest message; go on with ->next. NULL when empty. */
struct pvmi_waiting *pvmi_inbox_first(void);

/* Takes a message out: *mid is 0 or the number it already has. The caller owns the reference. */
struct pvmi_message *pvmi_inbox_take(struct pvmi_waiting *w, int *mid);

/* Drops all messages and frees their mids. */
void pvmi_inbox_clear(void);

#endif
