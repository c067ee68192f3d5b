/*
 * test_reliable.c - the reliability layer over a channel that loses, duplicates, delays and damages packets, in virtual
 * time.
 */
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "wire/reliable/reliable.h"
#include "wire/reliable/state.h"
#include "lossy_channel.h"
#include "tests/unit/unit.h"

enum { PACKET_BYTES = 300, LINES = 64 };

/* Sanitizers make each packet about twenty times as slow, so they test a tenth of the packets. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { FEWER = 10 };
#else
enum { FEWER = 1 };
#endif

/* Like ck_assert(), which makes a system call even on success: for checks that run millions of times. */
#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg("%s is not so", #condition);                                                                  \
    } while (0)

/* ---- callbacks ---- */

struct side {
    struct pvmw_reliable *r;
    struct side *other;
    uint64_t to_send, sent, given_back; /* messages */
    uint64_t received, received_bytes;  /* of the current message */
    int64_t wire_us;                    /* when the wire from here is free */
    bool asleep;                        /* reads nothing: packets pile up in its ring */
    struct lossy_flight *ring[LINES];
    unsigned waiting;
    unsigned overruns;
};

static struct lossy_channel net;
static struct side a, b;
static unsigned room;    /* packets in flight at a time; 0: no limit */
static uint64_t emitted; /* packets so far, with those that the channel loses */

static int emit(void *arg, const struct iovec *pieces, unsigned count)
{
    struct side *s = arg;
    uint8_t bytes[PACKET_BYTES];
    uint32_t length = 0;
    if (room && net.count >= room)
        return PVMC_EAGAIN;
    for (unsigned i = 0; i < count; i++) {
        MUST(length + pieces[i].iov_len <= PACKET_BYTES);
        memcpy(bytes + length, pieces[i].iov_base, pieces[i].iov_len);
        length += (uint32_t)pieces[i].iov_len;
    }
    emitted++;
    lossy_send(&net, s->other, &s->wire_us, bytes, length);
    return 0;
}

/* Message n has (n * 37 % 1009) bytes; byte i is n + i * 7. */
static uint32_t length_of(uint64_t n)
{
    return (uint32_t)(n * 37 % 1009);
}

static unsigned gather(void *arg, void *message, uint32_t offset, uint32_t length,
                       struct iovec pieces[PVMW_RELIABLE_PIECES_MAX])
{
    static uint8_t bytes[PACKET_BYTES];
    uint64_t n = (uintptr_t)message;
    (void)arg;
    MUST(offset + length <= length_of(n));
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)(n + (offset + i) * 7);
    uint32_t half = length / 2;
    pieces[0] = (struct iovec){bytes, half};
    pieces[1] = (struct iovec){bytes + half, length - half};
    return 2;
}

static void on_sent(void *arg, void *message)
{
    struct side *s = arg;
    MUST((uintptr_t)message == s->given_back);
    s->given_back++;
}

static void on_received(void *arg, bool first, bool last, const uint8_t *data, uint32_t length)
{
    struct side *s = arg;
    MUST(first == !s->received_bytes || !length_of(s->received));
    for (uint32_t i = 0; i < length; i++)
        MUST(data[i] == (uint8_t)(s->received + (s->received_bytes + i) * 7));
    s->received_bytes += length;
    MUST(last == (s->received_bytes == length_of(s->received)));
    if (last) {
        s->received++;
        s->received_bytes = 0;
    }
}

static const struct pvmw_reliable_callbacks callbacks = {
    .emit = emit, .gather = gather, .sent = on_sent, .received = on_received};

/* ---- two sides ---- */

static const struct pvmw_reliable_settings usual = {.packet_bytes = PACKET_BYTES,
                                                    .window = 64,
                                                    .credit = 48,
                                                    .retry_min_us = 1000,
                                                    .retry_max_us = 200000,
                                                    .ack_delay_us = 500,
                                                    .dead_after_us = 60000000};

static void start(const struct pvmw_reliable_settings *settings)
{
    net = (struct lossy_channel){.delay_us = 20, .now_us = 1, .random = 4711};
    room = 0;
    emitted = 0;
    a = (struct side){.other = &b};
    b = (struct side){.other = &a};
    a.r = pvmw_reliable_new(settings, 0xffffff00, 7, &callbacks, &a); /* its numbers wrap soon */
    b.r = pvmw_reliable_new(settings, 7, 0xffffff00, &callbacks, &b);
    ck_assert_ptr_nonnull(a.r);
    ck_assert_ptr_nonnull(b.r);
}

static void finish(void)
{
    while (net.count)
        free(lossy_take(&net));
    for (struct side *s = &a; s; s = s == &a ? &b : NULL) {
        while (s->waiting)
            free(s->ring[--s->waiting]);
        pvmw_reliable_free(s->r);
    }
}

static void take(struct side *s, struct lossy_flight *f)
{
    pvmw_reliable_take(s->r, f->bytes, f->length, net.now_us);
    free(f);
}

static void wake(struct side *s)
{
    s->asleep = false;
    for (unsigned i = 0; i < s->waiting; i++)
        take(s, s->ring[i]);
    s->waiting = 0;
}

/* Like the ring of a raw socket: packets without room are lost. */
static void arrive(struct lossy_flight *f)
{
    struct side *s = f->to;
    if (!s->asleep) {
        take(s, f);
    } else if (s->waiting < LINES) {
        s->ring[s->waiting++] = f;
    } else {
        s->overruns++;
        free(f);
    }
}

static void work(struct side *s)
{
    if (s->asleep)
        return;
    while (s->sent < s->to_send &&
           !pvmw_reliable_send(s->r, (void *)(uintptr_t)s->sent, length_of(s->sent), net.now_us))
        s->sent++;
    pvmw_reliable_progress(s->r, net.now_us);
}

/* Advances the time to the next event, up to a limit. */
static void step(int64_t limit_us)
{
    int64_t next_us = limit_us;
    if (net.count && net.heap[0]->arrives_us < next_us)
        next_us = net.heap[0]->arrives_us;
    for (struct side *s = &a; s; s = s == &a ? &b : NULL)
        if (!s->asleep && pvmw_reliable_due_us(s->r) < next_us)
            next_us = pvmw_reliable_due_us(s->r);
    MUST(next_us < PVMW_RELIABLE_NEVER); /* otherwise nothing would ever happen again */
    if (next_us > net.now_us)
        net.now_us = next_us;
    while (net.count && net.heap[0]->arrives_us <= net.now_us)
        arrive(lossy_take(&net));
    work(&a);
    work(&b);
}

static bool done(const struct side *s)
{
    return s->given_back == s->to_send && s->other->received == s->to_send;
}

static void run(uint64_t from_a, uint64_t from_b)
{
    a.to_send = from_a;
    b.to_send = from_b;
    work(&a);
    work(&b);
    while (!done(&a) || !done(&b)) {
        step(PVMW_RELIABLE_NEVER);
        MUST(!pvmw_reliable_is_dead(a.r) && !pvmw_reliable_is_dead(b.r));
    }
    ck_assert_uint_eq(pvmw_reliable_pending(a.r), 0);
}

/* ---- tests ---- */

START_TEST(nothing_is_sent_twice_without_loss)
{
    start(&usual);
    run(20000 / FEWER, 0);
    const struct pvmw_reliable_counters *c = pvmw_reliable_counters(a.r);
    ck_assert_uint_eq(c->resent, 0);
    ck_assert_uint_eq(c->timeouts, 0);
    ck_assert_uint_eq(pvmw_reliable_counters(b.r)->duplicates, 0);
    ck_assert_uint_lt(pvmw_reliable_counters(b.r)->acks_sent, c->packets_sent / 4);
    ck_assert_int_ge(pvmw_reliable_round_trip_us(a.r), 40);
    ck_assert_int_le(pvmw_reliable_round_trip_us(a.r), 60);
    finish();
}
END_TEST

static void let_it_rest(void)
{
    while (pvmw_reliable_due_us(a.r) != PVMW_RELIABLE_NEVER || pvmw_reliable_due_us(b.r) != PVMW_RELIABLE_NEVER ||
           net.count)
        step(net.now_us + 1000000);
}

/* Packets sent at the same time arrive one by one, and a delayed acknowledgement overtakes the last of them. */
START_TEST(packets_behind_a_delayed_acknowledgement_are_not_lost)
{
    start(&usual);
    run(100, 0);
    let_it_rest();
    net.packet_us = 10;
    a.to_send++;
    work(&a);
    int64_t ack_us = net.now_us + net.packet_us + net.delay_us + usual.ack_delay_us;
    int64_t burst_us = ack_us - net.delay_us - 3 * net.packet_us / 2;
    while (net.now_us < burst_us)
        step(burst_us);
    a.to_send += 4;
    work(&a);
    run(a.to_send, 0);
    ck_assert_uint_eq(pvmw_reliable_counters(a.r)->resent, 0);
    ck_assert_uint_eq(pvmw_reliable_counters(b.r)->duplicates, 0);
    finish();
}
END_TEST

/* Loss, duplicates, reordering and damage per 10,000 packets, and Go-Back-N. Two million packets in all. */
static const struct {
    unsigned loss, duplicate, reorder, damage;
    bool go_back_n;
    uint64_t messages;
} channels[] = {
    {100, 0, 0, 0, false, 60000},      {500, 0, 0, 0, false, 60000},         {2000, 0, 0, 0, false, 40000},
    {0, 500, 0, 0, false, 60000},      {0, 0, 500, 0, false, 60000},         {0, 0, 0, 200, false, 40000},
    {100, 100, 500, 50, false, 60000}, {5000, 1000, 3000, 500, false, 4000}, {100, 0, 0, 0, true, 40000},
    {100, 100, 500, 50, true, 20000},
};

static void check_channel(unsigned i)
{
    struct pvmw_reliable_settings s = usual;
    s.go_back_n = channels[i].go_back_n;
    start(&s);
    net.loss = channels[i].loss;
    net.duplicate = channels[i].duplicate;
    net.reorder = channels[i].reorder;
    net.damage = channels[i].damage;
    run(channels[i].messages / FEWER, channels[i].messages / 2 / FEWER);
    if (net.loss)
        ck_assert_uint_gt(pvmw_reliable_counters(a.r)->resent, 0);
    if (net.damage)
        ck_assert_uint_gt(pvmw_reliable_counters(a.r)->damaged, 0);
    if (getenv("TEST_RELIABLE_VERBOSE")) {
        const struct pvmw_reliable_counters *c = pvmw_reliable_counters(a.r), *d = pvmw_reliable_counters(b.r);
        fprintf(stderr, "channel %u: %.1f s, %lu packets, resent %lu, timeouts %lu, duplicates %lu, acks %lu\n", i,
                (double)net.now_us / 1e6, (unsigned long)c->packets_sent, (unsigned long)c->resent,
                (unsigned long)c->timeouts, (unsigned long)d->duplicates, (unsigned long)d->acks_sent);
    }
    finish();
}

START_TEST(all_arrives_once_and_in_order)
{
    for (unsigned i = 0; i < sizeof channels / sizeof channels[0]; i++)
        if (!channels[i].go_back_n)
            check_channel(i);
}
END_TEST

START_TEST(so_it_does_by_go_back_n)
{
    for (unsigned i = 0; i < sizeof channels / sizeof channels[0]; i++)
        if (channels[i].go_back_n)
            check_channel(i);
}
END_TEST

/* A wire that takes 1 us per packet and loses one packet in a hundred. */
START_TEST(a_little_loss_costs_little)
{
    struct pvmw_reliable_settings s = usual;
    s.window = s.credit = 256;
    int64_t took_us[2];
    for (int lossy = 0; lossy < 2; lossy++) {
        start(&s);
        net.packet_us = 1;
        net.loss = lossy ? 100 : 0;
        run(40000 / FEWER, 0);
        took_us[lossy] = net.now_us;
        if (lossy) /* most losses were detected without the timer, few packets resent in vain */
            ck_assert_uint_lt(pvmw_reliable_counters(a.r)->resent, pvmw_reliable_counters(a.r)->packets_sent / 40);
        finish();
    }
    ck_assert_int_lt(took_us[1], 2 * took_us[0]);
}
END_TEST

/* The first packet is a probe; its acknowledgement shows that the others, sent before it, are lost. */
START_TEST(a_lost_burst_costs_one_time_limit)
{
    enum { BURST = 8 };
    start(&usual);
    run(10, 0);
    net.loss = 10000;
    a.to_send = 10 + BURST;
    work(&a);
    net.loss = 0;
    run(10 + BURST, 0);
    ck_assert_uint_gt(pvmw_reliable_counters(a.r)->resent, BURST - 1);
    ck_assert_uint_eq(pvmw_reliable_counters(a.r)->timeouts, 1);
    ck_assert_uint_eq(pvmw_reliable_counters(b.r)->duplicates, 0);
    finish();
}
END_TEST

/* retry_max_us limits the doubling of the timer, not the timer of a longer round trip. */
START_TEST(a_long_way_is_waited_for)
{
    start(&usual);
    net.delay_us = 2 * usual.retry_max_us;
    run(100, 0);
    struct pvmw_reliable_counters before = *pvmw_reliable_counters(a.r);
    run(1000, 0);
    ck_assert_uint_eq(pvmw_reliable_counters(a.r)->timeouts, before.timeouts);
    ck_assert_uint_eq(pvmw_reliable_counters(a.r)->resent, before.resent);
    finish();
}
END_TEST

/* A reader that sleeps longer than all timers: its ring does not overflow, and it is not declared dead. */
START_TEST(a_slow_reader_is_not_overrun)
{
    start(&usual);
    for (int round = 0; round < 20; round++) {
        b.asleep = true;
        a.to_send += 500;
        int64_t until_us = net.now_us + 2000000;
        work(&a);
        while (net.now_us < until_us)
            step(until_us);
        wake(&b);
        run(a.to_send, 0);
    }
    ck_assert_uint_eq(b.overruns, 0);
    ck_assert_uint_lt(pvmw_reliable_counters(a.r)->resent, 20 * 20); /* probes at growing intervals */
    finish();
}
END_TEST

START_TEST(a_silent_peer_is_dead)
{
    start(&usual);
    run(10, 10);
    int64_t idle_us = net.now_us + 10 * usual.dead_after_us;
    while (net.now_us < idle_us)
        step(idle_us);
    ck_assert(!pvmw_reliable_is_dead(a.r)); /* nothing was due from it */
    net.loss = 10000;
    int64_t begin_us = net.now_us;
    ck_assert_int_eq(pvmw_reliable_send(a.r, (void *)10, length_of(10), net.now_us), 0);
    while (!pvmw_reliable_is_dead(a.r))
        step(PVMW_RELIABLE_NEVER);
    ck_assert_int_ge(net.now_us - begin_us, usual.dead_after_us);
    ck_assert_int_lt(net.now_us - begin_us, usual.dead_after_us + usual.retry_max_us);
    ck_assert_int_eq(pvmw_reliable_send(a.r, NULL, 0, net.now_us), PVMC_EDOWN);
    ck_assert_int_eq(pvmw_reliable_progress(a.r, net.now_us), PVMC_EDOWN);
    ck_assert_int_eq(pvmw_reliable_due_us(a.r), PVMW_RELIABLE_NEVER);
    finish();
}
END_TEST

/* An idle connection sends nothing and has nothing to do. */
START_TEST(idle_is_silent)
{
    start(&usual);
    run(100, 100);
    let_it_rest();
    uint64_t before = emitted;
    net.now_us += 3600 * 1000000ll;
    work(&a);
    work(&b);
    ck_assert_uint_eq(emitted, before);
    finish();
}
END_TEST

/* The greeting arrives in spite of heavy loss; an absent peer is detected. */
START_TEST(a_greeting_is_answered)
{
    start(&usual);
    net.loss = 5000;
    pvmw_reliable_greet(a.r, net.now_us);
    while (!pvmw_reliable_is_met(a.r))
        step(PVMW_RELIABLE_NEVER);
    ck_assert(pvmw_reliable_is_met(b.r));
    ck_assert_int_lt(net.now_us, usual.dead_after_us);
    run(100, 100);
    finish();
    start(&usual);
    net.loss = 10000;
    pvmw_reliable_greet(a.r, net.now_us);
    while (!pvmw_reliable_is_dead(a.r))
        step(PVMW_RELIABLE_NEVER);
    finish();
}
END_TEST

START_TEST(packets_of_another_life_are_refused)
{
    start(&usual);
    a.to_send = 3;
    work(&a);
    struct lossy_flight *old = net.heap[0];
    struct pvmw_reliable *reborn = pvmw_reliable_new(&usual, 8, 0xffffff00, &callbacks, &b);
    ck_assert_int_eq(pvmw_reliable_take(reborn, old->bytes, old->length, net.now_us), PVMC_EDENIED);
    ck_assert_uint_eq(pvmw_reliable_counters(reborn)->strangers, 1);
    pvmw_reliable_free(reborn);
    reborn = pvmw_reliable_new(&usual, 7, 0xffffff01, &callbacks, &b);
    ck_assert_int_eq(pvmw_reliable_take(reborn, old->bytes, old->length, net.now_us), PVMC_EDENIED);
    ck_assert_uint_eq(b.received, 0);
    pvmw_reliable_free(reborn);
    finish();
}
END_TEST

START_TEST(a_carrier_without_room_is_tried_again)
{
    start(&usual);
    room = 3;
    net.loss = 100;
    run(5000, 1000);
    finish();
}
END_TEST

/*
 * A multicast: packets leave only on request, later messages wait for them, and lost ones are retransmitted
 * automatically.
 */
START_TEST(held_messages_go_step_by_step)
{
    static const uint32_t bytes = 100;
    start(&usual);
    run(30, 0); /* message 30 has 101 bytes, 31 has 138, 32 has 175 */
    ck_assert(!pvmw_reliable_send_held(a.r, (void *)(uintptr_t)30, length_of(30), bytes, net.now_us));
    ck_assert(!pvmw_reliable_send(a.r, (void *)(uintptr_t)31, length_of(31), net.now_us));
    a.sent = a.to_send = 32;
    uint64_t before = pvmw_reliable_counters(a.r)->packets_sent;
    for (int64_t until_us = net.now_us + 1000000; net.now_us < until_us;)
        step(until_us);
    ck_assert_uint_eq(pvmw_reliable_counters(a.r)->packets_sent, before);
    ck_assert(pvmw_reliable_held(a.r) == (void *)(uintptr_t)30 && pvmw_reliable_holds(a.r));
    net.loss = 10000;
    for (uint32_t at = 0; at < length_of(30); at += bytes)
        ck_assert_int_eq(pvmw_reliable_step(a.r, net.now_us), 0);
    net.loss = 0;
    ck_assert_ptr_null(pvmw_reliable_held(a.r));
    ck_assert_uint_eq(pvmw_reliable_counters(a.r)->packets_sent, before + 2);
    run(32, 0);
    ck_assert_uint_ge(pvmw_reliable_counters(a.r)->resent, 2);
    finish();
}
END_TEST

START_TEST(released_messages_go_as_others)
{
    start(&usual);
    for (uintptr_t n = 0; n < 4; n++)
        ck_assert(!pvmw_reliable_send_held(a.r, (void *)n, length_of(n), 50, net.now_us));
    a.sent = a.to_send = 4;
    ck_assert_uint_eq(pvmw_reliable_counters(a.r)->packets_sent, 0);
    pvmw_reliable_release(a.r);
    ck_assert(!pvmw_reliable_holds(a.r));
    run(4, 0);
    finish();
}
END_TEST

START_TEST(messages_have_a_limit)
{
    start(&usual);
    net.loss = 10000;
    for (uintptr_t i = 0; i < PVMW_RELIABLE_MESSAGES_MAX; i++)
        ck_assert_int_eq(pvmw_reliable_send(a.r, (void *)i, length_of(i), net.now_us), 0);
    ck_assert_int_eq(pvmw_reliable_send(a.r, NULL, 0, net.now_us), PVMC_EAGAIN);
    ck_assert_uint_eq(pvmw_reliable_pending(a.r), PVMW_RELIABLE_MESSAGES_MAX);
    finish();
}
END_TEST

START_TEST(their_limit_can_be_set)
{
    struct pvmw_reliable_settings s = usual;
    s.messages = 100;
    ck_assert_ptr_null(pvmw_reliable_new(&s, 1, 2, &callbacks, &a)); /* not a power of 2 */
    s.messages = 256;
    start(&s);
    net.loss = 10000;
    for (uintptr_t i = 0; i < 256; i++)
        ck_assert_int_eq(pvmw_reliable_send(a.r, (void *)i, length_of(i), net.now_us), 0);
    ck_assert_int_eq(pvmw_reliable_send(a.r, NULL, 0, net.now_us), PVMC_EAGAIN);
    finish();
}
END_TEST

START_TEST(credit_may_change)
{
    start(&usual);
    net.loss = 100;
    for (uint32_t round = 1; round <= 40; round++) {
        pvmw_reliable_set_credit(b.r, round % 2 ? 1 : 40);
        run(200 * round, 0);
    }
    finish();
}
END_TEST

/* Random bytes, and valid packets with random changes whose checksum is right only by chance: nothing happens. */
START_TEST(hostile_packets_do_no_harm)
{
    start(&usual);
    uint8_t bytes[PACKET_BYTES];
    for (int i = 0; i < 200000 / FEWER; i++) {
        uint32_t length = lossy_random(&net) % sizeof bytes;
        for (uint32_t j = 0; j < length; j++)
            bytes[j] = (uint8_t)lossy_random(&net);
        if (length && i % 2)
            bytes[0] = 1;
        MUST(pvmw_reliable_take(b.r, bytes, length, net.now_us) == PVMC_EFORMAT);
    }
    ck_assert_uint_eq(b.received, 0);
    run(100, 100);
    finish();
}
END_TEST

/* step() lets both ends make progress, and these detect it. */
START_TEST(an_end_is_told)
{
    bool whole;
    start(&usual);
    run(100, 100);
    pvmw_reliable_end(a.r, net.now_us);
    ck_assert_int_eq(pvmw_reliable_send(a.r, NULL, 0, net.now_us), PVMC_EDOWN);
    while (!pvmw_reliable_is_dead(b.r))
        step(PVMW_RELIABLE_NEVER);
    ck_assert(pvmw_reliable_is_ended(b.r, &whole) && whole);
    finish();
}
END_TEST

START_TEST(who_is_gone_is_told_of)
{
    uint8_t answer[PVMW_RELIABLE_HEADER_BYTES];
    bool whole;
    start(&usual);
    a.to_send = 3;
    work(&a);
    const struct lossy_flight *f = net.heap[0];
    ck_assert_uint_eq(pvmw_reliable_addressee(f->bytes, f->length), 7);
    ck_assert_uint_eq(pvmw_reliable_addressee(f->bytes, PVMW_RELIABLE_HEADER_BYTES - 1), 0);
    ck_assert_uint_eq(pvmw_reliable_refuse(f->bytes, f->length, net.now_us, answer), sizeof answer);
    uint64_t given_back = a.given_back;
    ck_assert_int_eq(pvmw_reliable_take(a.r, answer, sizeof answer, net.now_us), 0);
    ck_assert(pvmw_reliable_is_ended(a.r, &whole) && !whole);
    ck_assert_uint_eq(a.given_back, given_back); /* it acknowledges nothing */
    uint8_t again[PVMW_RELIABLE_HEADER_BYTES];
    ck_assert_uint_eq(pvmw_reliable_refuse(answer, sizeof answer, net.now_us, again), 0);
    finish();
}
END_TEST

/* As wire.c describes it, word by word, whatever instructions the processor has. */
static uint32_t plain_checksum(const uint8_t *bytes, size_t length)
{
    uint32_t x[8] = {0}, y[8] = {0}, result = (uint32_t)length * 0x9e3779b1u;
    for (size_t at = 0; at < length / 32 * 32 + 32; at += 4) {
        uint32_t word = 0;
        for (size_t i = 0; i < 4 && at + i < length; i++)
            word |= (uint32_t)bytes[at + i] << 8 * i;
        x[at / 4 % 8] += word;
        y[at / 4 % 8] += x[at / 4 % 8];
    }
    for (int i = 0; i < 8; i++) {
        result = (result ^ x[i]) * 0x85ebca6bu;
        result = ((result ^ result >> 15) + y[i]) * 0xc2b2ae35u;
    }
    return result ^ result >> 16;
}

START_TEST(checksums_are_the_same_everywhere)
{
    uint8_t bytes[600];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i * 7 + 3);
    for (size_t n = PVMW_RELIABLE_HEADER_BYTES; n <= sizeof bytes; n++) {
        uint8_t *payload = bytes + PVMW_RELIABLE_HEADER_BYTES;
        size_t length = n - PVMW_RELIABLE_HEADER_BYTES, half = length / 3;
        struct iovec pieces[] = {{payload, half}, {payload + half, length - half}}, whole = {payload, length};
        ck_assert_uint_eq(pvmw_reliable_checksum(bytes, &whole, 1), plain_checksum(bytes, n));
        ck_assert_uint_eq(pvmw_reliable_checksum(bytes, pieces, 2), plain_checksum(bytes, n));
    }
}
END_TEST

/* A peer that does not read is not mistaken for a carrier that loses packets: the sender need not wait for it. */
START_TEST(what_is_on_its_way_needs_no_calls)
{
    start(&usual);
    run(100, 100);
    b.asleep = true;
    a.to_send += 3;
    work(&a);
    while (pvmw_reliable_counters(a.r)->timeouts < 3)
        step(PVMW_RELIABLE_NEVER);
    ck_assert_uint_eq(pvmw_reliable_pending(a.r), 3);
    ck_assert_uint_eq(pvmw_reliable_unsent(a.r), 0);
    wake(&b);
    run(103, 100);
    a.to_send++;
    work(&a);
    ck_assert_uint_eq(pvmw_reliable_pending(a.r), 1);
    ck_assert_uint_eq(pvmw_reliable_unsent(a.r), 0);
    b.asleep = true;
    a.to_send += PVMW_RELIABLE_MESSAGES_MAX;
    work(&a); /* more than the credit */
    ck_assert_uint_gt(pvmw_reliable_unsent(a.r), 0);
    wake(&b);
    run(a.to_send, 100);
    finish();
}
END_TEST

static void begin_with_a_loss(void)
{
    start(&usual);
    run(100, 100);
    net.loss = 10000;
    a.to_send++;
    work(&a);
    net.loss = 0;
    run(a.to_send, 100);
}

START_TEST(after_a_loss_a_sender_waits_for_packets_in_flight)
{
    begin_with_a_loss();
    a.to_send++;
    work(&a);
    ck_assert_uint_eq(pvmw_reliable_unsent(a.r), 1);
    run(a.to_send, 100);
    ck_assert_uint_eq(pvmw_reliable_unsent(a.r), 0);
    run(1000, 100);
    a.to_send++;
    work(&a);
    ck_assert_uint_eq(pvmw_reliable_pending(a.r), 1);
    ck_assert_uint_eq(pvmw_reliable_unsent(a.r), 0);
    finish();
}
END_TEST

/* Losses say nothing about a peer that computes: its sender must not stall for that long. */
START_TEST(after_a_loss_a_sender_does_not_wait_for_a_computing_peer)
{
    begin_with_a_loss();
    b.asleep = true;
    a.to_send++;
    work(&a);
    ck_assert_uint_eq(pvmw_reliable_unsent(a.r), 1);
    int64_t start_us = net.now_us;
    while (pvmw_reliable_unsent(a.r))
        step(PVMW_RELIABLE_NEVER);
    ck_assert_uint_eq(pvmw_reliable_pending(a.r), 1);
    ck_assert_int_lt(net.now_us - start_us, 1000000);
    wake(&b);
    run(a.to_send, 100);
    finish();
}
END_TEST

/* It sent no probes meanwhile, so it must not treat the silence as a death. */
START_TEST(who_looks_away_for_long_takes_nobody_for_dead)
{
    start(&usual);
    run(100, 100);
    b.asleep = true;
    a.to_send++;
    work(&a);
    net.now_us += 2 * usual.dead_after_us;
    step(PVMW_RELIABLE_NEVER);
    ck_assert(!pvmw_reliable_is_dead(a.r));
    wake(&b);
    run(a.to_send, 100);
    finish();
}
END_TEST

START_TEST(bad_settings_are_refused)
{
    struct pvmw_reliable_settings s = usual;
    s.window = 48;
    ck_assert_ptr_null(pvmw_reliable_new(&s, 1, 2, &callbacks, NULL));
    s = usual;
    s.credit = 0;
    ck_assert_ptr_null(pvmw_reliable_new(&s, 1, 2, &callbacks, NULL));
    s = usual;
    s.packet_bytes = 100;
    ck_assert_ptr_null(pvmw_reliable_new(&s, 1, 2, &callbacks, NULL));
}
END_TEST

UNIT_MAIN("reliable", nothing_is_sent_twice_without_loss, packets_behind_a_delayed_acknowledgement_are_not_lost,
          all_arrives_once_and_in_order, so_it_does_by_go_back_n, a_little_loss_costs_little,
          a_lost_burst_costs_one_time_limit, a_long_way_is_waited_for, a_slow_reader_is_not_overrun,
          a_silent_peer_is_dead, idle_is_silent, a_greeting_is_answered, packets_of_another_life_are_refused,
          a_carrier_without_room_is_tried_again, messages_have_a_limit, their_limit_can_be_set, credit_may_change,
          hostile_packets_do_no_harm, bad_settings_are_refused, checksums_are_the_same_everywhere,
          held_messages_go_step_by_step, released_messages_go_as_others, an_end_is_told, who_is_gone_is_told_of,
          what_is_on_its_way_needs_no_calls, after_a_loss_a_sender_waits_for_packets_in_flight,
          after_a_loss_a_sender_does_not_wait_for_a_computing_peer, who_looks_away_for_long_takes_nobody_for_dead)
