/* receiver.c - the SDs that have come, and what is reported of them. */
#include "receiver.h"
#include <stdlib.h>
#include <string.h>
#include "sender.h"
#include "serial.h"

enum {
    SLOTS_FIRST = 16,
};

void pvma_receiver_init(struct pvma_receiver *receiver, unsigned bits, size_t window_bytes, int64_t first)
{
    memset(receiver, 0, offsetof(struct pvma_receiver, gap));
    receiver->bits = bits;
    receiver->window_bytes = window_bytes;
    receiver->window_sds = pvma_window_sds(window_bytes);
    receiver->r = receiver->h = first;
    receiver->last = &receiver->first;
    receiver->gaps = receiver->gap_first = 0;
    receiver->stat = receiver->begun = false;
    receiver->stat_end = receiver->stat_at = first;
}

void pvma_receiver_free(struct pvma_receiver *receiver)
{
    for (size_t i = 0; i < receiver->slots; i++)
        free(receiver->slot[i]);
    free(receiver->slot);
    while (receiver->first) {
        struct pvma_arrival *arrival = receiver->first;
        receiver->first = arrival->next;
        free(arrival);
    }
}

static struct pvma_arrival **slot_of(const struct pvma_receiver *receiver, int64_t n)
{
    return &receiver->slot[(size_t)n & (receiver->slots - 1)];
}

bool pvma_receiver_has(const struct pvma_receiver *receiver, int64_t n)
{
    return n < receiver->r || (n - receiver->r < (int64_t)receiver->slots && *slot_of(receiver, n));
}

/* ---- SDs ---- */

/* Makes room for the number n, which is within the window. */
static void grow(struct pvma_receiver *receiver, int64_t n)
{
    struct pvma_receiver old = *receiver;
    while (n - receiver->r >= (int64_t)receiver->slots)
        receiver->slots = receiver->slots ? 2 * receiver->slots : SLOTS_FIRST;
    receiver->slot = pvma_new(receiver->slots * sizeof(struct pvma_arrival *));
    for (size_t i = 0; i < old.slots; i++)
        *slot_of(receiver, old.r + (int64_t)i) = *slot_of(&old, old.r + (int64_t)i);
    free(old.slot);
}

/* Appends what has come without a gap to the readable SDs. */
static void advance(struct pvma_receiver *receiver)
{
    while (receiver->slots && *slot_of(receiver, receiver->r)) {
        struct pvma_arrival *arrival = *slot_of(receiver, receiver->r);
        *slot_of(receiver, receiver->r++) = NULL;
        *receiver->last = arrival;
        receiver->last = &arrival->next;
        receiver->readable += arrival->length;
    }
}

static void keep(struct pvma_receiver *receiver, int64_t n, const struct pvma_pdu *pdu)
{
    if (n - receiver->r >= (int64_t)receiver->slots)
        grow(receiver, n);
    struct pvma_arrival *arrival = pvma_new(sizeof *arrival + pdu->length);
    arrival->tag = pdu->tag;
    arrival->offset = pdu->offset;
    arrival->length = pdu->length;
    memcpy(arrival->data, pdu->data, pdu->length);
    *slot_of(receiver, n) = arrival;
    receiver->charge += pvma_sd_charge(pdu->length);
    advance(receiver);
}

/* Those between the expected SD and this one are missing. */
static void expect(struct pvma_receiver *receiver, int64_t n)
{
    if (n > receiver->h && receiver->gaps < PVMA_GAPS_MAX) {
        unsigned at = (receiver->gap_first + receiver->gaps++) % PVMA_GAPS_MAX;
        receiver->gap[at] = (struct pvma_gap){receiver->h, n};
    }
    if (n >= receiver->h)
        receiver->h = n + 1;
}

/* What came out of order may have filled the window, so the next one is taken if nothing else can be read. */
static bool fits(const struct pvma_receiver *receiver, int64_t n, size_t length)
{
    bool is_needed = n == receiver->r && !receiver->first;
    return is_needed || receiver->charge + pvma_sd_charge(length) <= 2 * receiver->window_bytes;
}

static enum pvma_taken take_sd(struct pvma_receiver *receiver, const struct pvma_pdu *pdu)
{
    int64_t n = pvma_serial_near(receiver->r, (uint32_t)pdu->n, receiver->bits);
    if (n >= receiver->r + receiver->window_sds || !pdu->length || !fits(receiver, n, pdu->length))
        return PVMA_REFUSED;
    if (pvma_receiver_has(receiver, n))
        return PVMA_DUPLICATE;
    keep(receiver, n, pdu);
    expect(receiver, n);
    return PVMA_TAKEN;
}

/* ---- reports ---- */

/*
 * What the peer has sent before the POLL has come by now, or is lost. If its window is larger than this one, it may
 * have sent more than was taken here: the answer is about this window.
 */
static enum pvma_taken take_poll(struct pvma_receiver *receiver, const struct pvma_pdu *pdu)
{
    int64_t n = pvma_serial_near(receiver->r, (uint32_t)pdu->n, receiver->bits);
    int64_t most = receiver->r + receiver->window_sds;
    n = n < most ? n : most;
    if (n > receiver->h)
        receiver->h = n;
    receiver->pr = pvma_serial_near(receiver->pr, (uint32_t)pdu->poll, receiver->bits);
    receiver->stat_end = n;
    receiver->stat = true;
    receiver->begun = false;
    return PVMA_TAKEN;
}

enum pvma_taken pvma_receiver_take(struct pvma_receiver *receiver, const struct pvma_pdu *pdu)
{
    return pdu->type == PVMA_SD     ? take_sd(receiver, pdu)
           : pdu->type == PVMA_POLL ? take_poll(receiver, pdu)
                                    : PVMA_REFUSED;
}

void pvma_receiver_report_again(struct pvma_receiver *receiver)
{
    receiver->stat = true;
    receiver->begun = false;
    receiver->stat_end = receiver->h;
}

/* The peer may send as many SDs as the window counts, or none that it has not sent, if too much is not read. */
static void fill_common(struct pvma_receiver *receiver, enum pvma_pdu_type type, struct pvma_pdu *pdu)
{
    receiver->closed = receiver->charge >= receiver->window_bytes;
    pdu->type = type;
    pdu->n = receiver->r;
    pdu->poll = receiver->pr;
    pdu->limit = receiver->closed ? receiver->h : receiver->r + receiver->window_sds;
    pdu->elements = 0;
}

/* The first number from `from` on, and before `end`, whose SD has come, or has not; else `end`. */
static int64_t find(const struct pvma_receiver *receiver, int64_t from, int64_t end, bool come)
{
    while (from < end && pvma_receiver_has(receiver, from) != come)
        from++;
    return from;
}

/* Makes a USTAT of the oldest gap. False: what was missing there has come while the report waited. */
static bool make_ustat(struct pvma_receiver *receiver, struct pvma_pdu *pdu)
{
    const struct pvma_gap *gap = &receiver->gap[receiver->gap_first];
    int64_t missing = find(receiver, gap->from, gap->to, false);
    receiver->gap_first = (receiver->gap_first + 1) % PVMA_GAPS_MAX;
    receiver->gaps--;
    if (missing >= gap->to)
        return false;
    fill_common(receiver, PVMA_USTAT, pdu);
    pdu->list[pdu->elements++] = missing;
    pdu->list[pdu->elements++] = gap->to;
    return true;
}

/* Lists pairs from stat_at on. True: the list is complete, with what ends the last run of received SDs. */
static bool list_pairs(struct pvma_receiver *receiver, unsigned elements, struct pvma_pdu *pdu)
{
    int64_t end = receiver->stat_end;
    for (;;) {
        int64_t missing = find(receiver, receiver->stat_at, end, false);
        if (pdu->elements + (missing < end ? 2 : 1) > elements)
            return false;
        pdu->list[pdu->elements++] = missing;
        if (missing >= end)
            return true;
        receiver->stat_at = find(receiver, missing, end, true);
        pdu->list[pdu->elements++] = receiver->stat_at;
        if (receiver->stat_at >= end)
            return true;
    }
}

static void make_stat(struct pvma_receiver *receiver, unsigned elements, bool once, struct pvma_pdu *pdu)
{
    fill_common(receiver, PVMA_STAT, pdu);
    if (!receiver->begun) {
        receiver->begun = true;
        receiver->stat_at = receiver->r;
        if (receiver->stat_end < receiver->r)
            receiver->stat_end = receiver->r;
        pdu->laf = receiver->r - 1;
    } else {
        pdu->laf = receiver->stat_at;
    }
    bool complete = list_pairs(receiver, elements, pdu);
    receiver->stat = !complete && !once;
}

bool pvma_receiver_report(struct pvma_receiver *receiver, unsigned elements, bool once, struct pvma_pdu *pdu)
{
    while (receiver->gaps)
        if (make_ustat(receiver, pdu))
            return true;
    if (!receiver->stat)
        return false;
    make_stat(receiver, elements < PVMA_LIST_MAX ? elements : PVMA_LIST_MAX, once, pdu);
    return true;
}

/* ---- reading ---- */

static void drop_first(struct pvma_receiver *receiver)
{
    struct pvma_arrival *arrival = receiver->first;
    receiver->first = arrival->next;
    if (!receiver->first)
        receiver->last = &receiver->first;
    receiver->charge -= pvma_sd_charge(arrival->length);
    free(arrival);
}

size_t pvma_receiver_read(struct pvma_receiver *receiver, void *buffer, size_t bytes)
{
    size_t done = 0;
    while (receiver->first && done < bytes) {
        struct pvma_arrival *arrival = receiver->first;
        size_t left = arrival->length - arrival->taken, part = left < bytes - done ? left : bytes - done;
        memcpy((uint8_t *)buffer + done, arrival->data + arrival->taken, part);
        arrival->taken += part;
        done += part;
        if (arrival->taken == arrival->length)
            drop_first(receiver);
    }
    receiver->readable -= done;
    if (receiver->closed && receiver->charge < receiver->window_bytes / 2)
        pvma_receiver_report_again(receiver);
    return done;
}
