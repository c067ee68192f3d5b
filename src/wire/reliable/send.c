/* send.c - outgoing packets: splitting, sending, processing acknowledgements, detecting losses and retransmitting. */
#include <string.h>
#include "core/error.h"
#include "state.h"

enum {
    WINDOW_MIN = 4,            /* the window never shrinks below this, however many packets get lost */
    REORDER_MIN_US = 20,       /* packets sent this close together may be reordered */
    BLOCKED_US = 200,          /* delay before a carrier without room is tried again */
    ECHO_MAX_US = 60000000,    /* an older echo is not credible */
    FIRST_ROUND_TRIP_US = 500, /* assumed before the first measurement */
    LONG_WAY_US = 1000000,     /* a longer sample means that the peer was not listening */
    WARY_PACKETS = 256,        /* deliveries after a loss before the carrier counts as lossless again */
};

static struct out_slot *slot_of(struct pvmw_reliable *r, uint32_t number)
{
    return &r->out[number & (r->settings.window - 1)];
}

static struct out_message *message_of(const struct pvmw_reliable *r, unsigned number)
{
    return &r->messages[number & (r->settings.messages - 1)];
}

static int32_t distance(uint32_t from, uint32_t to)
{
    return (int32_t)(to - from);
}

/* ---- retransmission timeout ---- */

static int64_t time_limit_us(const struct pvmw_reliable *r)
{
    int64_t us = r->round_trip_us ? r->round_trip_us + 4 * r->variation_us : 2 * FIRST_ROUND_TRIP_US;
    if (us < r->settings.retry_min_us)
        us = r->settings.retry_min_us;
    int64_t most_us = us < LONG_WAY_US ? us : LONG_WAY_US;
    if (most_us < r->settings.retry_max_us)
        most_us = r->settings.retry_max_us;
    us <<= r->backoff;
    return us < most_us ? us : most_us;
}

static void start_clock(struct pvmw_reliable *r, int64_t now_us)
{
    r->retry_us = r->base == r->next ? PVMW_RELIABLE_NEVER : now_us + time_limit_us(r);
}

/* As TCP does (RFC 6298). Timestamps make samples of retransmitted packets valid, too. */
static void measure(struct pvmw_reliable *r, int64_t sample_us)
{
    if (sample_us < 1)
        sample_us = 1;
    if (!r->round_trip_us) {
        r->round_trip_us = sample_us;
        r->variation_us = sample_us / 2;
        return;
    }
    int64_t error_us = sample_us - r->round_trip_us;
    r->round_trip_us += error_us / 8;
    r->variation_us += ((error_us < 0 ? -error_us : error_us) - r->variation_us) / 4;
}

/* ---- losses ---- */

static void mark_lost(struct pvmw_reliable *r, struct out_slot *s)
{
    if (s->lost || s->arrived)
        return;
    s->lost = true;
    r->lost_count++;
}

/*
 * A packet is lost if one sent later has arrived: at once if it was clearly sent earlier, else when it is overdue. Send
 * times, unlike numbers, also reveal a lost retransmission. With Go-Back-N all following packets count as lost.
 */
static void find_lost(struct pvmw_reliable *r, int64_t now_us)
{
    int64_t reorder_us = r->round_trip_us / 4 > REORDER_MIN_US ? r->round_trip_us / 4 : REORDER_MIN_US;
    bool all = false;
    r->recheck_us = PVMW_RELIABLE_NEVER;
    for (uint32_t n = r->base; n != r->next; n++) {
        struct out_slot *s = slot_of(r, n);
        int64_t overdue_us = s->sent_us + r->round_trip_us + 4 * r->variation_us + reorder_us;
        if (s->arrived || s->lost)
            continue;
        if (s->sent_us > r->delivered_us && !all) {
            if (s->tries > 1)
                continue; /* a packet with a higher number may have been sent before this retransmission */
            break;
        }
        if (all || s->sent_us < r->delivered_us - reorder_us || now_us >= overdue_us) {
            mark_lost(r, s);
            all = r->settings.go_back_n;
        } else if (overdue_us < r->recheck_us) {
            r->recheck_us = overdue_us;
        }
    }
}

/* Detects a loss without a bitmap: a retransmission has arrived, but a packet first sent before it has not. */
static bool is_overtaken(struct pvmw_reliable *r)
{
    return slot_of(r, r->base)->sent_us < r->delivered_us;
}

void pvmw_reliable_recheck(struct pvmw_reliable *r, int64_t now_us)
{
    if (now_us >= r->recheck_us)
        find_lost(r, now_us);
}

void pvmw_reliable_retry(struct pvmw_reliable *r, int64_t now_us)
{
    if (r->blocked) {
        r->blocked = false;
        start_clock(r, now_us);
        return;
    }
    bool probes = r->greeting || pvmw_reliable_needs_word(r);
    if (r->base == r->next && !probes) {
        r->retry_us = PVMW_RELIABLE_NEVER;
        return;
    }
    r->counters.timeouts++;
    if (r->base == r->next) {
        pvmw_reliable_send_ack(r, true, now_us); /* the credit update may have got lost */
    } else {
        for (uint32_t n = r->base; n != r->next; n++) {
            mark_lost(r, slot_of(r, n));
            if (!r->settings.go_back_n)
                break; /* the acknowledgement of this one will report the others */
        }
        slot_of(r, r->base)->flags |= PACKET_ASKS;
    }
    r->allowed = r->allowed / 2 > WINDOW_MIN ? r->allowed / 2 : WINDOW_MIN;
    if (r->allowed > r->settings.window)
        r->allowed = r->settings.window;
    if (r->backoff < 16)
        r->backoff++;
    r->retry_us = now_us + time_limit_us(r);
}

/* ---- acknowledgements ---- */

static void note_arrival(struct pvmw_reliable *r, struct out_slot *s)
{
    if (s->arrived)
        return;
    s->arrived = true;
    if (s->sent_us > r->arrived_us)
        r->arrived_us = s->sent_us;
    r->wary -= r->wary > 0;
    if (s->lost) {
        s->lost = false;
        r->lost_count--;
    }
    if (++r->allowed_count >= r->allowed && r->allowed < r->settings.window) {
        r->allowed_count = 0;
        r->allowed *= 2;
        if (r->allowed > r->settings.window)
            r->allowed = r->settings.window;
    }
}

/*
 * Frees the slots of all packets before `ack` and returns finished messages. A retransmitted packet counts as a real
 * loss unless the peer's newest packet predates the retransmission: then the peer was only slow to look.
 */
static void advance(struct pvmw_reliable *r, uint32_t ack, int64_t newest_us)
{
    while (r->base != ack) {
        struct out_slot *s = slot_of(r, r->base++);
        note_arrival(r, s);
        if (s->tries > 1 && newest_us + r->round_trip_us >= s->sent_us)
            r->wary = WARY_PACKETS;
        if (s->flags & PACKET_LAST) {
            r->messages_done++;
            r->callbacks->sent(r->arg, s->message);
        }
    }
}

static void read_bitmap(struct pvmw_reliable *r, const struct packet_header *h, const uint8_t *bitmap, size_t length)
{
    for (size_t i = 0; i < 8 * length; i++) {
        uint32_t number = h->ack + 1 + (uint32_t)i;
        if (!(bitmap[i / 8] & 1 << i % 8))
            continue;
        if (distance(number, r->next) <= 0)
            return;
        note_arrival(r, slot_of(r, number));
    }
}

/*
 * The echo holds the send time of the peer's newest packet plus the time since then: it gives the round trip. Returns
 * it on our clock, or delivered_us if there is no echo.
 */
static int64_t read_echo(struct pvmw_reliable *r, uint32_t echo, int64_t now_us)
{
    uint32_t ago_us = (uint32_t)now_us - echo;
    if (!echo || ago_us > ECHO_MAX_US)
        return r->delivered_us;
    if (r->base == r->next || slot_of(r, r->base)->tries < 2 || now_us - ago_us >= slot_of(r, r->base)->sent_us)
        measure(r, ago_us); /* otherwise the sample measures the peer's pause, not the path */
    return now_us - ago_us;
}

/*
 * Earlier packets than the newest arrival may be lost. The echo alone is too late a time, by what the acknowledgement
 * waited at the peer. Go-Back-N needs it for packets that arrived and were dropped.
 */
static void note_newest(struct pvmw_reliable *r, int64_t newest_us, bool advanced)
{
    bool dropped = r->settings.go_back_n && (!advanced || newest_us > r->arrived_us + REORDER_MIN_US);
    if (!dropped && newest_us > r->arrived_us)
        newest_us = r->arrived_us;
    if (newest_us > r->delivered_us)
        r->delivered_us = newest_us;
}

void pvmw_reliable_hear(struct pvmw_reliable *r, const struct packet_header *h, const uint8_t *bitmap, size_t length,
                        int64_t now_us)
{
    if (distance(r->base, h->ack) < 0 || distance(h->ack, r->next) < 0)
        return; /* old, or acknowledges packets that we have not sent */
    if (distance(r->limit, h->limit) > 0) {
        r->limit = h->limit;
        r->backoff = 0;
    }
    int64_t newest_us = read_echo(r, h->echo, now_us);
    bool advanced = h->ack != r->base;
    if (advanced) {
        advance(r, h->ack, newest_us);
        r->backoff = 0;
        start_clock(r, now_us);
    }
    if (h->flags & PACKET_BITMAP)
        read_bitmap(r, h, bitmap, length);
    note_newest(r, newest_us, advanced);
    if (r->base != r->next && (h->flags & PACKET_BITMAP || r->settings.go_back_n || is_overtaken(r)))
        find_lost(r, now_us);
}

/* ---- sending ---- */

int pvmw_reliable_emit(struct pvmw_reliable *r, struct packet_header *h, struct iovec *pieces, unsigned count,
                       int64_t now_us)
{
    uint8_t header[PVMW_RELIABLE_HEADER_BYTES];
    struct iovec all[1 + PVMW_RELIABLE_PIECES_MAX] = {{header, sizeof header}};
    pvmw_reliable_tell(r, h, now_us);
    pvmw_reliable_encode(h, header);
    bool covered = !r->settings.unchecked || !(h->flags & PACKET_DATA);
    pvmw_reliable_seal(header, pvmw_reliable_checksum(header, pieces, covered ? count : 0));
    memcpy(all + 1, pieces, count * sizeof *pieces);
    int rc = r->callbacks->emit(r->arg, all, 1 + count);
    if (rc == PVMC_EAGAIN) {
        r->blocked = true;
        r->retry_us = now_us + BLOCKED_US;
        return rc;
    }
    r->owed = 0;
    r->ack_now =
        r->ack_now && h->flags & PACKET_DATA && r->reordered_count; /* only a bitmap reports reordered packets */
    r->ack_due_us = PVMW_RELIABLE_NEVER;
    return 0;
}

static int send_slot(struct pvmw_reliable *r, uint32_t number, int64_t now_us)
{
    struct out_slot *s = slot_of(r, number);
    struct iovec pieces[PVMW_RELIABLE_PIECES_MAX];
    unsigned count = s->length ? r->callbacks->gather(r->arg, s->message, s->offset, s->length, pieces) : 0;
    struct packet_header h = {.flags = s->flags, .number = number};
    int rc = pvmw_reliable_emit(r, &h, pieces, count, now_us);
    if (rc)
        return rc;
    r->counters.packets_sent++;
    r->counters.resent += s->tries++ > 0;
    s->sent_us = now_us;
    return 0;
}

static int send_lost(struct pvmw_reliable *r, int64_t now_us)
{
    int n = 0;
    for (uint32_t number = r->base; r->lost_count && number != r->next; number++) {
        struct out_slot *s = slot_of(r, number);
        if (!s->lost)
            continue;
        if (send_slot(r, number, now_us))
            return n;
        s->lost = false;
        r->lost_count--;
        n++;
    }
    return n;
}

static uint32_t packet_room(const struct pvmw_reliable *r)
{
    return r->settings.packet_bytes - PVMW_RELIABLE_HEADER_BYTES;
}

/* The first message with bytes left. */
static struct out_message *first_message(struct pvmw_reliable *r)
{
    return message_of(r, r->messages_cut);
}

static bool is_held(const struct pvmw_reliable *r)
{
    return r->messages_cut != r->messages_queued && message_of(r, r->messages_cut)->held;
}

/* Cuts the next packet off that message. */
static void cut(struct pvmw_reliable *r)
{
    struct out_message *m = first_message(r);
    uint32_t left = m->length - m->offset, length = left < m->packet_bytes ? left : m->packet_bytes;
    bool last = length == left;
    *slot_of(r, r->next) =
        (struct out_slot){.message = m->message,
                          .offset = m->offset,
                          .length = length,
                          .flags = (uint8_t)(PACKET_DATA | (m->offset ? 0 : PACKET_FIRST) | (last ? PACKET_LAST : 0))};
    m->offset += length;
    r->messages_cut += last;
}

/* Undoes cut() when the carrier had no room. */
static void uncut(struct pvmw_reliable *r)
{
    struct out_slot *s = slot_of(r, r->next);
    r->messages_cut -= !!(s->flags & PACKET_LAST);
    first_message(r)->offset = s->offset;
}

static bool has_room(const struct pvmw_reliable *r)
{
    return distance(r->next, r->limit) > 0 && r->next - r->base < r->allowed;
}

static bool may_send_new(const struct pvmw_reliable *r)
{
    return r->messages_cut != r->messages_queued && has_room(r);
}

bool pvmw_reliable_needs_word(const struct pvmw_reliable *r)
{
    return r->messages_done != r->messages_queued && !(r->base == r->next && is_held(r) && has_room(r));
}

/*
 * Whether no packet will follow this one soon: the window is full, or so many messages wait that no more are accepted.
 */
static bool is_urgent(const struct pvmw_reliable *r)
{
    bool last = distance(r->next + 1, r->limit) <= 0 || r->next + 1 - r->base >= r->allowed;
    uint32_t half = r->settings.messages / 2;
    bool many = r->messages_cut == r->messages_queued && !(pvmw_reliable_pending(r) & (half - 1));
    return last || many;
}

/* Sends one more packet. 0, or the result of emit(). */
static int send_next(struct pvmw_reliable *r, int64_t now_us)
{
    cut(r);
    if (is_urgent(r))
        slot_of(r, r->next)->flags |= PACKET_ASKS;
    int rc = send_slot(r, r->next, now_us);
    if (rc)
        uncut(r);
    else
        r->next++;
    return rc;
}

static int send_new(struct pvmw_reliable *r, int64_t now_us)
{
    int n = 0;
    while (may_send_new(r) && !is_held(r) && !send_next(r, now_us))
        n++;
    return n;
}

int pvmw_reliable_push(struct pvmw_reliable *r, int64_t now_us)
{
    if (r->blocked && now_us < r->retry_us)
        r->blocked = false; /* the owner knows that there is room again */
    bool idle = r->base == r->next;
    int n = r->lost_count ? send_lost(r, now_us) : 0;
    if (!r->blocked)
        n += send_new(r, now_us);
    if (n && idle && !r->blocked)
        start_clock(r, now_us);
    if (r->retry_us == PVMW_RELIABLE_NEVER && pvmw_reliable_needs_word(r))
        r->retry_us = now_us + time_limit_us(r); /* the peer has no room: probe from time to time */
    return n;
}

static int queue(struct pvmw_reliable *r, const struct out_message *m, int64_t now_us)
{
    if (r->dead)
        return PVMC_EDOWN;
    if (r->messages_queued - r->messages_done == r->settings.messages)
        return PVMC_EAGAIN;
    if (r->messages_queued == r->messages_done)
        r->heard_us = now_us; /* from now on the peer owes an answer */
    *message_of(r, r->messages_queued++) = *m;
    pvmw_reliable_push(r, now_us);
    return 0;
}

int pvmw_reliable_send(struct pvmw_reliable *r, void *message, uint32_t length, int64_t now_us)
{
    return queue(r, &(struct out_message){.message = message, .length = length, .packet_bytes = packet_room(r)},
                 now_us);
}

/* ---- messages to several peers ---- */

int pvmw_reliable_send_held(struct pvmw_reliable *r, void *message, uint32_t length, uint32_t bytes, int64_t now_us)
{
    struct out_message m = {.message = message, .length = length, .packet_bytes = bytes, .held = true};
    if (m.packet_bytes > packet_room(r))
        m.packet_bytes = packet_room(r);
    return queue(r, &m, now_us);
}

void *pvmw_reliable_held(const struct pvmw_reliable *r)
{
    bool may = !r->dead && is_held(r) && has_room(r);
    return may ? message_of(r, r->messages_cut)->message : NULL;
}

int pvmw_reliable_step(struct pvmw_reliable *r, int64_t now_us)
{
    bool idle = r->base == r->next;
    if (idle)
        r->heard_us = now_us; /* from now on the peer owes an answer */
    int rc = send_next(r, now_us);
    if (!rc && idle)
        start_clock(r, now_us);
    return rc;
}

bool pvmw_reliable_holds(const struct pvmw_reliable *r)
{
    for (unsigned i = r->messages_cut; i != r->messages_queued; i++)
        if (message_of(r, i)->held)
            return true;
    return false;
}

void pvmw_reliable_release(struct pvmw_reliable *r)
{
    for (unsigned i = r->messages_cut; i != r->messages_queued; i++)
        message_of(r, i)->held = false;
}
