/* sender.c - the window of SDs, and what STAT and USTAT do to it. */
#include "sender.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "serial.h"

enum { SLOTS_FIRST = 16 };

/* Far below half of 24 bits, so that numbers on the wire are unambiguous. */
#define WINDOW_SDS_MAX (INT64_C(1) << 21)

int64_t pvma_window_sds(size_t window_bytes)
{
    int64_t sds = (int64_t)(window_bytes / pvma_sd_charge(0)) + 1;
    return sds < WINDOW_SDS_MAX ? sds : WINDOW_SDS_MAX;
}

void pvma_sender_init(struct pvma_sender *sender, unsigned bits, size_t window_bytes, int64_t first)
{
    *sender = (struct pvma_sender){.bits = bits,
                                   .window_bytes = window_bytes,
                                   .window_sds = pvma_window_sds(window_bytes),
                                   .a = first,
                                   .s = first,
                                   .end = first,
                                   .polled_a = first,
                                   .polled_s = first};
    sender->ms = first + sender->window_sds;
}

void pvma_sender_free(struct pvma_sender *sender)
{
    for (size_t i = 0; i < sender->slots; i++)
        free(sender->slot[i]);
    free(sender->slot);
}

static struct pvma_sd **slot_of(const struct pvma_sender *sender, int64_t n)
{
    return &sender->slot[(size_t)n & (sender->slots - 1)];
}

bool pvma_sender_is_acknowledged(const struct pvma_sender *sender, int64_t n)
{
    return n < sender->a || (n < sender->end && !*slot_of(sender, n));
}

/* ---- new SDs ---- */

static void grow(struct pvma_sender *sender)
{
    struct pvma_sender old = *sender;
    sender->slots = old.slots ? 2 * old.slots : SLOTS_FIRST;
    sender->slot = pvma_new(sender->slots * sizeof(struct pvma_sd *));
    for (int64_t n = old.a; n < old.end; n++)
        *slot_of(sender, n) = *slot_of(&old, n);
    free(old.slot);
}

size_t pvma_sender_room(const struct pvma_sender *sender)
{
    size_t left = sender->charge < sender->window_bytes ? sender->window_bytes - sender->charge : 0;
    bool full = sender->end - sender->a >= sender->window_sds || left < pvma_sd_charge(0);
    return full ? 0 : left;
}

bool pvma_sender_put(struct pvma_sender *sender, const void *data, size_t length, uint32_t tag, uint32_t offset)
{
    if (!length || length > pvma_sender_room(sender))
        return false;
    if (sender->end - sender->a >= (int64_t)sender->slots)
        grow(sender);
    struct pvma_sd *sd = pvma_new(sizeof *sd + length);
    sd->n = sender->end++;
    sd->tag = tag;
    sd->offset = offset;
    sd->length = length;
    memcpy(sd->data, data, length);
    *slot_of(sender, sd->n) = sd;
    sender->charge += pvma_sd_charge(length);
    return true;
}

/* ---- sending ---- */

static struct pvma_sd *choose(struct pvma_sender *sender)
{
    struct pvma_sd *sd = sender->again;
    if (sd) {
        DL_DELETE(sender->again, sd);
        sd->queued = false;
    } else if (sender->s < sender->end && sender->s < sender->ms) {
        sd = *slot_of(sender, sender->s++);
    }
    return sd;
}

/* A transmission: STATs of POLLs before it say nothing of it. */
static void fill(struct pvma_sender *sender, struct pvma_sd *sd, struct pvma_pdu *pdu)
{
    sd->record = sender->ps;
    pdu->type = PVMA_SD;
    pdu->n = sd->n;
    pdu->tag = sd->tag;
    pdu->offset = sd->offset;
    pdu->data = sd->data;
    pdu->length = sd->length;
}

bool pvma_sender_next(struct pvma_sender *sender, pvma_ps now, struct pvma_pdu *pdu, enum pvma_asked *asked)
{
    struct pvma_sd *sd = choose(sender);
    if (!sd)
        return false;
    fill(sender, sd, pdu);
    sd->issued = pdu->stamp = now;
    sender->unpolled += pvma_sd_charge(sd->length);
    *asked = sd->asked;
    return true;
}

pvma_ps pvma_sender_issued(const struct pvma_sender *sender, int64_t n)
{
    return pvma_sender_is_acknowledged(sender, n) ? -1 : (*slot_of(sender, n))->issued;
}

bool pvma_sender_repeat(struct pvma_sender *sender, int64_t n, struct pvma_pdu *pdu)
{
    if (pvma_sender_is_acknowledged(sender, n))
        return false;
    fill(sender, *slot_of(sender, n), pdu);
    return true;
}

void pvma_sender_poll(struct pvma_sender *sender, struct pvma_pdu *pdu)
{
    sender->unpolled = 0;
    sender->polled_a = sender->a;
    sender->polled_s = sender->s;
    pdu->type = PVMA_POLL;
    pdu->poll = ++sender->ps;
    pdu->n = sender->s;
}

/* ---- what the peer says ---- */

static void acknowledge(struct pvma_sender *sender, int64_t from, int64_t to)
{
    for (int64_t n = from > sender->a ? from : sender->a; n < to; n++) {
        struct pvma_sd *sd = *slot_of(sender, n);
        if (!sd)
            continue;
        if (sd->queued)
            DL_DELETE(sender->again, sd);
        sender->charge -= pvma_sd_charge(sd->length);
        *slot_of(sender, n) = NULL;
        free(sd);
    }
    while (sender->a < sender->s && !*slot_of(sender, sender->a))
        sender->a++;
}

static void queue_again(struct pvma_sender *sender, struct pvma_sd *sd, enum pvma_asked asked)
{
    if (sd->queued)
        return;
    sd->queued = true;
    sd->asked = asked;
    DL_APPEND(sender->again, sd);
}

/* Retransmit1: what was sent after the POLL may be underway. */
static void again_by_stat(struct pvma_sender *sender, int64_t from, int64_t to, int64_t poll, enum pvma_asked asked)
{
    for (int64_t n = from > sender->a ? from : sender->a; n < to; n++) {
        struct pvma_sd *sd = *slot_of(sender, n);
        if (sd && poll > sd->record)
            queue_again(sender, sd, asked);
        else
            sender->inhibited += sd && !sd->queued;
    }
}

/* Retransmit2: the receiver has just seen that they are missing. */
static void again_by_ustat(struct pvma_sender *sender, int64_t from, int64_t to)
{
    for (int64_t n = from > sender->a ? from : sender->a; n < to; n++) {
        struct pvma_sd *sd = *slot_of(sender, n);
        if (sd)
            queue_again(sender, sd, PVMA_BY_USTAT);
    }
}

/* A list ascends, lies within what was sent, and has no element before `from`. */
static bool is_a_list(const struct pvma_sender *sender, const struct pvma_pdu *pdu, int64_t from, const int64_t *list)
{
    for (unsigned i = 0; i < pdu->elements; from = list[i++])
        if (list[i] < from + (i > 0) || list[i] > sender->s)
            return false;
    return true;
}

/* Restores the numbers of a list; false: too many elements. */
static bool restore(const struct pvma_sender *sender, const struct pvma_pdu *pdu, int64_t list[PVMA_LIST_MAX])
{
    if (pdu->elements > PVMA_LIST_MAX)
        return false;
    for (unsigned i = 0; i < pdu->elements; i++)
        list[i] = pvma_serial_near(sender->a, (uint32_t)pdu->list[i], sender->bits);
    return true;
}

/*
 * A list says that the SDs from an element of odd place to the next are missing, and that those from one of even place
 * to the next have come. Of those from its last element on it says nothing.
 */
static bool take_stat(struct pvma_sender *sender, const struct pvma_pdu *pdu, int64_t r, int64_t limit)
{
    int64_t list[PVMA_LIST_MAX];
    int64_t laf = pvma_serial_near(sender->a, (uint32_t)pdu->laf, sender->bits);
    int64_t poll = pvma_serial_near(sender->ps, (uint32_t)pdu->poll, sender->bits);
    enum pvma_asked asked = pdu->type == PVMA_LSTAT ? PVMA_BY_LSTAT : PVMA_BY_STAT;
    if (!restore(sender, pdu, list) || !is_a_list(sender, pdu, laf, list) || poll > sender->ps || !pdu->elements)
        return false;
    acknowledge(sender, sender->a, r);
    acknowledge(sender, laf, list[0]);
    for (unsigned i = 0; i + 1 < pdu->elements; i += 2) {
        again_by_stat(sender, list[i], list[i + 1], poll, asked);
        if (i + 2 < pdu->elements)
            acknowledge(sender, list[i + 1], list[i + 2]);
    }
    if (poll >= sender->answered) {
        sender->answered = poll;
        sender->ms = limit;
    }
    return true;
}

static bool take_ustat(struct pvma_sender *sender, const struct pvma_pdu *pdu, int64_t r, int64_t limit)
{
    int64_t list[PVMA_LIST_MAX];
    if (pdu->elements != 2 || !restore(sender, pdu, list) || !is_a_list(sender, pdu, r, list))
        return false;
    acknowledge(sender, sender->a, r);
    again_by_ustat(sender, list[0], list[1]);
    sender->ms = limit;
    return true;
}

bool pvma_sender_take(struct pvma_sender *sender, const struct pvma_pdu *pdu)
{
    int64_t r = pvma_serial_near(sender->a, (uint32_t)pdu->n, sender->bits);
    int64_t limit = pvma_serial_near(r, (uint32_t)pdu->limit, sender->bits);
    if (r > sender->s || limit < r || limit > r + WINDOW_SDS_MAX)
        return false;
    if (pdu->type == PVMA_USTAT)
        return take_ustat(sender, pdu, r, limit);
    return (pdu->type == PVMA_STAT || pdu->type == PVMA_LSTAT) && take_stat(sender, pdu, r, limit);
}
