/* reliable.c - life cycle of a reliable connection, dispatch of incoming packets, and timers. */
#include "reliable.h"
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "state.h"

enum {
    UNANSWERED = 3,   /* tries */
    ENDS = 3,         /* copies of the end packet */
    ENOUGH_TRIES = 4, /* with 20 % loss, all of them get lost once in 600 times */
};

static bool is_power(uint32_t n)
{
    return n && !(n & (n - 1));
}

static bool is_sound(const struct pvmw_reliable_settings *s)
{
    return is_power(s->window) && is_power(s->messages) && s->messages <= PVMW_RELIABLE_WINDOW_MAX &&
           s->window <= PVMW_RELIABLE_WINDOW_MAX && s->credit && s->credit <= PVMW_RELIABLE_WINDOW_MAX &&
           s->packet_bytes >= 256 && s->packet_bytes <= 65535 && s->retry_min_us > 0 &&
           s->retry_max_us >= s->retry_min_us && s->dead_after_us > 0 && s->ack_delay_us >= 0;
}

struct pvmw_reliable *pvmw_reliable_new(const struct pvmw_reliable_settings *settings, uint32_t own, uint32_t peer,
                                        const struct pvmw_reliable_callbacks *callbacks, void *arg)
{
    struct pvmw_reliable_settings all = *settings;
    if (!all.messages)
        all.messages = PVMW_RELIABLE_MESSAGES_MAX;
    struct pvmw_reliable *r = is_sound(&all) ? calloc(1, sizeof *r) : NULL;
    if (!r)
        return NULL;
    r->settings = all;
    r->callbacks = callbacks;
    r->arg = arg;
    r->own = r->base = r->next = own;
    r->limit = own + 1; /* one probe packet, until the peer grants credit */
    r->peer = r->expected = r->reordered_end = peer;
    r->told_limit = peer + 1;
    r->allowed = all.window;
    r->retry_us = r->recheck_us = r->ack_due_us = PVMW_RELIABLE_NEVER;
    r->in_count = PVMW_RELIABLE_WINDOW_MAX;
    r->messages = calloc(all.messages, sizeof *r->messages);
    r->out = calloc(all.window, sizeof *r->out);
    r->in = calloc(r->in_count, sizeof *r->in);
    if (!r->messages || !r->out || !r->in) {
        pvmw_reliable_free(r);
        return NULL;
    }
    return r;
}

void pvmw_reliable_free(struct pvmw_reliable *r)
{
    for (uint32_t i = 0; r->in && i < r->in_count; i++)
        free(r->in[i].data);
    free(r->in);
    free(r->out);
    free(r->messages);
    free(r);
}

static bool is_undamaged(const uint8_t *packet, size_t length, const struct packet_header *h, bool unchecked)
{
    uint8_t header[PVMW_RELIABLE_HEADER_BYTES];
    memcpy(header, packet, sizeof header);
    pvmw_reliable_seal(header, 0);
    bool covered = !unchecked || !(h->flags & PACKET_DATA);
    struct iovec payload = {(void *)(packet + sizeof header), length - sizeof header};
    return pvmw_reliable_checksum(header, &payload, covered) == h->checksum;
}

int pvmw_reliable_take(struct pvmw_reliable *r, const uint8_t *packet, size_t length, int64_t now_us)
{
    struct packet_header h;
    if (!pvmw_reliable_decode(packet, length, &h) || !is_undamaged(packet, length, &h, r->settings.unchecked)) {
        r->counters.damaged++;
        return PVMC_EFORMAT;
    }
    if (h.to != r->own || h.from != r->peer) {
        r->counters.strangers++;
        return PVMC_EDENIED;
    }
    if (r->dead)
        return PVMC_EFORMAT;
    const uint8_t *payload = packet + PVMW_RELIABLE_HEADER_BYTES;
    size_t bytes = length - PVMW_RELIABLE_HEADER_BYTES;
    bool data = h.flags & PACKET_DATA;
    r->heard_us = now_us;
    r->met = true;
    if (r->greeting && r->base == r->next)
        r->retry_us = PVMW_RELIABLE_NEVER; /* was the timer of the next probe */
    r->greeting = false;
    pvmw_reliable_hear(r, &h, data ? NULL : payload, data ? 0 : bytes, now_us);
    if (data) {
        r->counters.packets_received++;
        pvmw_reliable_take_data(r, &h, payload, (uint32_t)bytes, now_us);
    } else {
        r->counters.acks_received++;
    }
    if (h.flags & PACKET_END) {
        r->dead = r->ended = true;
        r->whole = h.number == r->expected;
    }
    if (h.flags & PACKET_ASKS)
        r->ack_now = true;
    return 0;
}

static bool is_due_from_peer(const struct pvmw_reliable *r)
{
    return r->base != r->next || pvmw_reliable_needs_word(r) || r->greeting;
}

/* When to declare the peer dead. An owner that was busy has not asked for an answer, so it gets a few tries first. */
static int64_t dead_us(const struct pvmw_reliable *r)
{
    bool asked = r->backoff >= UNANSWERED || r->blocked;
    return asked && is_due_from_peer(r) ? r->heard_us + r->settings.dead_after_us : PVMW_RELIABLE_NEVER;
}

int pvmw_reliable_progress(struct pvmw_reliable *r, int64_t now_us)
{
    if (r->dead)
        return PVMC_EDOWN;
    if (now_us >= dead_us(r)) {
        r->dead = true;
        return PVMC_EDOWN;
    }
    pvmw_reliable_recheck(r, now_us);
    if (now_us >= r->retry_us)
        pvmw_reliable_retry(r, now_us);
    int n = pvmw_reliable_push(r, now_us);
    if (r->ack_now || now_us >= r->ack_due_us)
        pvmw_reliable_send_ack(r, false, now_us);
    return n;
}

void pvmw_reliable_greet(struct pvmw_reliable *r, int64_t now_us)
{
    if (r->met || r->greeting)
        return;
    r->greeting = true;
    r->heard_us = r->retry_us = now_us;
    pvmw_reliable_progress(r, now_us);
}

bool pvmw_reliable_is_met(const struct pvmw_reliable *r)
{
    return r->met;
}

bool pvmw_reliable_owes(const struct pvmw_reliable *r)
{
    return !r->dead && (r->owed || r->ack_now);
}

void pvmw_reliable_acknowledge(struct pvmw_reliable *r, int64_t now_us)
{
    if (pvmw_reliable_owes(r))
        pvmw_reliable_send_ack(r, false, now_us);
}

bool pvmw_reliable_is_unanswered(const struct pvmw_reliable *r)
{
    return !r->met || r->backoff >= UNANSWERED;
}

/* ---- the end ---- */

void pvmw_reliable_end(struct pvmw_reliable *r, int64_t now_us)
{
    for (int i = 0; i < ENDS && !r->ended; i++) {
        struct packet_header h = {.flags = PACKET_END, .number = r->next};
        struct iovec nothing = {.iov_len = 0};
        pvmw_reliable_emit(r, &h, &nothing, 0, now_us);
    }
    r->dead = true;
}

bool pvmw_reliable_is_ended(const struct pvmw_reliable *r, bool *whole)
{
    *whole = r->whole;
    return r->ended;
}

/* The number makes the refused sender look for a gap. The ack field names a packet that was never sent. */
size_t pvmw_reliable_refuse(const uint8_t *packet, size_t length, int64_t now_us,
                            uint8_t answer[PVMW_RELIABLE_HEADER_BYTES])
{
    struct packet_header h;
    if (!pvmw_reliable_decode(packet, length, &h) || h.flags & PACKET_END || !is_undamaged(packet, length, &h, false))
        return 0;
    struct packet_header end = {.flags = PACKET_END,
                                .to = h.from,
                                .from = h.to,
                                .number = h.ack - 1,
                                .ack = h.number - (1u << 30),
                                .stamp = (uint32_t)now_us};
    pvmw_reliable_encode(&end, answer);
    pvmw_reliable_seal(answer, pvmw_reliable_checksum(answer, NULL, 0));
    return PVMW_RELIABLE_HEADER_BYTES;
}

static int64_t earlier(int64_t a_us, int64_t b_us)
{
    return a_us < b_us ? a_us : b_us;
}

int64_t pvmw_reliable_due_us(const struct pvmw_reliable *r)
{
    if (r->dead)
        return PVMW_RELIABLE_NEVER;
    return earlier(earlier(dead_us(r), r->recheck_us), earlier(r->retry_us, r->ack_due_us));
}

unsigned pvmw_reliable_pending(const struct pvmw_reliable *r)
{
    return r->messages_queued - r->messages_done;
}

static bool is_sent_enough(const struct pvmw_reliable *r)
{
    return r->base != r->next && r->out[r->base & (r->settings.window - 1)].tries >= ENOUGH_TRIES;
}

unsigned pvmw_reliable_unsent(const struct pvmw_reliable *r)
{
    if ((r->wary && !is_sent_enough(r)) || r->lost_count || !r->met)
        return pvmw_reliable_pending(r);
    return r->messages_queued - r->messages_cut;
}

bool pvmw_reliable_is_dead(const struct pvmw_reliable *r)
{
    return r->dead;
}

int64_t pvmw_reliable_round_trip_us(const struct pvmw_reliable *r)
{
    return r->round_trip_us;
}

const struct pvmw_reliable_counters *pvmw_reliable_counters(const struct pvmw_reliable *r)
{
    return &r->counters;
}
