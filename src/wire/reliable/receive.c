/* receive.c - incoming data packets: delivers or reorders them, and acknowledges them. */
#include <stdlib.h>
#include <string.h>
#include "state.h"

enum { OWED_MAX = 64 }; /* packets per acknowledgement, at most */

static struct in_slot *slot_of(struct pvmw_reliable *r, uint32_t number)
{
    return &r->in[number & (r->in_count - 1)];
}

static void deliver(struct pvmw_reliable *r, uint8_t flags, const uint8_t *data, uint32_t length)
{
    r->expected++;
    r->callbacks->received(r->arg, flags & PACKET_FIRST, flags & PACKET_LAST, data, length);
}

/* Delivers the packets of the reorder queue that are now in order. */
static void deliver_reordered(struct pvmw_reliable *r)
{
    struct in_slot *s;
    while (r->reordered_count && (s = slot_of(r, r->expected))->data) {
        uint8_t *data = s->data;
        s->data = NULL;
        r->reordered_count--;
        deliver(r, s->flags, data, s->length);
        free(data);
    }
}

/* Copies a packet into the reorder queue. If memory runs out the packet counts as lost. */
static void keep(struct pvmw_reliable *r, const struct packet_header *h, const uint8_t *data, uint32_t length)
{
    struct in_slot *s = slot_of(r, h->number);
    if (s->data) {
        r->counters.duplicates++;
        return;
    }
    s->data = malloc(length + 1ul);
    if (!s->data)
        return;
    memcpy(s->data, data, length);
    s->length = length;
    s->flags = h->flags;
    r->counters.reordered++;
    r->reordered_count++;
    if ((int32_t)(h->number + 1 - r->reordered_end) > 0 || r->reordered_count == 1)
        r->reordered_end = h->number + 1;
}

/*
 * Delays an acknowledgement so that it covers more packets, but not until the peer's window is used up or its caches
 * are cold.
 */
static void owe(struct pvmw_reliable *r, int64_t now_us)
{
    if (!r->owed++)
        r->ack_due_us = now_us + r->settings.ack_delay_us;
    uint32_t room = r->told_limit - r->expected;
    uint32_t most = r->settings.credit / 2 < OWED_MAX ? r->settings.credit / 2 : OWED_MAX;
    if ((int32_t)room <= (int32_t)(r->settings.credit / 2) || r->owed >= most)
        r->ack_now = true;
}

void pvmw_reliable_take_data(struct pvmw_reliable *r, const struct packet_header *h, const uint8_t *data,
                             uint32_t length, int64_t now_us)
{
    int32_t ahead = (int32_t)(h->number - r->expected);
    if (ahead >= 0) { /* the echo then tells the sender of a spurious retransmission */
        r->last_stamp = h->stamp;
        r->last_stamp_us = now_us ? now_us : 1;
    }
    if (ahead == 0) {
        deliver(r, h->flags, data, length);
        deliver_reordered(r);
        owe(r, now_us);
        r->ack_now |= r->reordered_count > 0;
        return;
    }
    r->ack_now = true; /* the sender's view of our packets is out of date */
    if (ahead < 0)
        r->counters.duplicates++;
    else if ((int32_t)(h->number - r->told_limit) < 0 && !r->settings.go_back_n)
        keep(r, h, data, length);
}

void pvmw_reliable_set_credit(struct pvmw_reliable *r, uint32_t packets)
{
    if (packets > PVMW_RELIABLE_WINDOW_MAX)
        return;
    r->settings.credit = packets;
    if (packets && r->met && (int32_t)(r->told_limit - r->expected) <= 0)
        r->ack_now = true;
}

void pvmw_reliable_tell(struct pvmw_reliable *r, struct packet_header *h, int64_t now_us)
{
    uint32_t limit = r->expected + r->settings.credit;
    if ((int32_t)(limit - r->told_limit) > 0)
        r->told_limit = limit;
    h->to = r->peer;
    h->from = r->own;
    h->ack = r->expected;
    h->limit = r->told_limit;
    h->stamp = (uint32_t)now_us;
    h->echo = r->last_stamp_us ? r->last_stamp + (uint32_t)(now_us - r->last_stamp_us) : 0;
    if (r->last_stamp_us && !h->echo)
        h->echo = 1; /* 0 means that there is no echo */
}

void pvmw_reliable_send_ack(struct pvmw_reliable *r, bool asks, int64_t now_us)
{
    uint8_t bitmap[PVMW_RELIABLE_WINDOW_MAX / 8] = {0};
    uint32_t span = r->reordered_count ? r->reordered_end - r->expected - 1 : 0;
    for (uint32_t i = 0; i < span; i++)
        if (slot_of(r, r->expected + 1 + i)->data)
            bitmap[i / 8] |= (uint8_t)(1 << i % 8);
    struct packet_header h = {.flags = (uint8_t)((span ? PACKET_BITMAP : 0) | (asks ? PACKET_ASKS : 0)),
                              .number = r->next};
    struct iovec piece = {bitmap, (span + 7) / 8};
    if (!pvmw_reliable_emit(r, &h, &piece, span > 0, now_us))
        r->counters.acks_sent++;
}
