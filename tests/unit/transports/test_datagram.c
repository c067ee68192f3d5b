/* test_datagram.c - links whose carrier never sets up a path, with a clock and a carrier of the test's own. */
#include "core/error.h"
#include "core/message/frame.h"
#include "transports/datagram/datagram.h"
#include "tests/unit/unit.h"

#define START_US 1000000
#define LIMIT_US 2000000 /* PVM_HOST_TIMEOUT */
#define SECOND   1000000

static int64_t now_us = START_US;
static struct {
    int64_t due_us; /* end of the last sleep */
    int left, ready;
    int down, reason;
} seen;

static int64_t now_ns(void)
{
    return now_us * 1000;
}

static const struct pvmc_virtual_clock test_clock = {.now_ns = now_ns};

/* ---- the carrier ---- */

static int begin(struct pvmt_datagram_link *l)
{
    const struct pvmt_datagram *t = (struct pvmt_datagram *)l->ep.transport;
    const struct pvmw_reliable_settings settings = {.packet_bytes = 1000,
                                                    .window = 16,
                                                    .credit = 16,
                                                    .retry_min_us = 20000,
                                                    .retry_max_us = 250000,
                                                    .ack_delay_us = 2000,
                                                    .dead_after_us = t->dead_after_us};
    return pvmt_datagram_connect(l, &settings, 7);
}

static int carrier_open(struct pvmt_datagram *t)
{
    (void)t;
    return 0;
}

static void carrier_close(struct pvmt_datagram *t)
{
    (void)t;
}

static int carrier_offer(struct pvmt_datagram_link *l, uint8_t blob[PVMT_OFFER_MAX])
{
    (void)l;
    blob[0] = 1;
    return 1;
}

static int carrier_join(struct pvmt_datagram_link *l, const uint8_t *blob, size_t length, uint8_t reply[PVMT_OFFER_MAX])
{
    (void)blob, (void)length;
    int rc = begin(l);
    return rc ? rc : carrier_offer(l, reply);
}

static int carrier_joined(struct pvmt_datagram_link *l, const uint8_t *reply, size_t length)
{
    (void)reply, (void)length;
    return begin(l);
}

static void carrier_leave(struct pvmt_datagram_link *l)
{
    (void)l;
    seen.left++;
}

static int carrier_emit(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count)
{
    (void)pieces, (void)count;
    return ((struct pvmt_datagram_link *)ep)->up ? 0 : PVMC_EAGAIN;
}

static int carrier_hear(struct pvmt_datagram *t)
{
    (void)t;
    return 0;
}

static int carrier_sleep_until(struct pvmt_datagram *t, int64_t due_us)
{
    (void)t;
    seen.due_us = due_us;
    return 0;
}

static const struct pvmt_datagram_carrier carrier = {.transport_bytes = sizeof(struct pvmt_datagram),
                                                     .link_bytes = sizeof(struct pvmt_datagram_link),
                                                     .open = carrier_open,
                                                     .close = carrier_close,
                                                     .offer = carrier_offer,
                                                     .join = carrier_join,
                                                     .joined = carrier_joined,
                                                     .leave = carrier_leave,
                                                     .emit = carrier_emit,
                                                     .hear = carrier_hear,
                                                     .sleep_until = carrier_sleep_until};

/* ---- the layer above ---- */

static void tx_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)arg, (void)ep;
    seen.ready++;
}

static void down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    (void)arg;
    seen.down++;
    seen.reason = reason;
    pvmt_datagram_disconnect(ep);
}

static const struct pvmt_callbacks callbacks = {.tx_ready = tx_ready, .down = down};

static struct pvmt_transport *open_transport(void)
{
    struct pvmt_transport *t;
    setenv("PVM_HOST_TIMEOUT", "2", 1);
    pvmc_virtual_clock = &test_clock;
    ck_assert_int_eq(pvmt_datagram_open(&carrier, NULL, &callbacks, NULL, &t), 0);
    return t;
}

static struct pvmt_endpoint *join_one(struct pvmt_transport *t)
{
    struct pvmt_endpoint *ep;
    uint8_t reply[PVMT_OFFER_MAX];
    ck_assert_int_eq(pvmt_datagram_join(t, (const uint8_t *)"x", 1, -1, NULL, reply, &ep), 1);
    return ep;
}

/* As a task does: sleeps as long as it may, and looks what there is to do. */
static void sleep_once(struct pvmt_transport *t)
{
    if (!pvmt_datagram_arm(t)) {
        ck_assert_int_ne(seen.due_us, INT64_MAX);
        now_us = seen.due_us > now_us ? seen.due_us : now_us;
    }
    pvmt_datagram_progress(t);
}

static void sleep_until_down(struct pvmt_transport *t)
{
    for (int i = 0; i < 1000 && !seen.down; i++)
        sleep_once(t);
    ck_assert_int_eq(seen.down, 1);
}

static struct pvmc_frame *send_one(struct pvmt_endpoint *ep)
{
    struct pvmc_frame *f = pvmc_frame_new(&(struct pvmc_frame_header){.src = 1, .dst = 2}, NULL);
    ck_assert_int_eq(pvmt_datagram_send(ep, f), 0);
    return f;
}

/* ---- tests ---- */

START_TEST(a_joined_link_that_never_comes_up_is_lost)
{
    struct pvmt_transport *t = open_transport();
    struct pvmc_frame *f = send_one(join_one(t));
    sleep_until_down(t);
    ck_assert_int_eq(seen.reason, PVMC_ETIMEOUT);
    ck_assert_int_eq(now_us, START_US + LIMIT_US);
    ck_assert_int_eq(seen.left, 1);
    ck_assert_int_eq(f->refs, 1); /* the layer above sends it by another route */
    pvmc_frame_unref(f);
    pvmt_datagram_close(t);
}
END_TEST

START_TEST(it_is_lost_also_if_nothing_was_sent)
{
    struct pvmt_transport *t = open_transport();
    join_one(t);
    sleep_until_down(t);
    ck_assert_int_eq(now_us, START_US + LIMIT_US);
    pvmt_datagram_close(t);
}
END_TEST

/* How long an offer waits for its answer is for the layer above to say. */
START_TEST(an_offered_link_has_the_time_from_the_answer_on)
{
    struct pvmt_transport *t = open_transport();
    struct pvmt_endpoint *ep;
    uint8_t blob[PVMT_OFFER_MAX];
    int fd;
    ck_assert_int_eq(pvmt_datagram_offer(t, NULL, blob, &fd, &ep), 1);
    ck_assert_int_eq(pvmt_datagram_arm(t), 0);
    ck_assert_int_eq(seen.due_us, INT64_MAX);
    now_us += 10 * SECOND;
    ck_assert_int_eq(pvmt_datagram_progress(t), 0);
    ck_assert_int_eq(pvmt_datagram_joined(ep, blob, 1), 0);
    sleep_until_down(t);
    ck_assert_int_eq(seen.reason, PVMC_ETIMEOUT);
    ck_assert_int_eq(now_us, START_US + 10 * SECOND + LIMIT_US);
    pvmt_datagram_close(t);
}
END_TEST

/* From then on the peer has that time to answer. */
START_TEST(a_link_that_comes_up_in_time_stays)
{
    struct pvmt_transport *t = open_transport();
    struct pvmt_endpoint *ep = join_one(t);
    now_us += LIMIT_US - 1;
    pvmt_datagram_progress(t);
    pvmt_datagram_up((struct pvmt_datagram_link *)ep);
    while (now_us < START_US + LIMIT_US + SECOND)
        sleep_once(t);
    ck_assert_int_eq(seen.down, 0);
    sleep_until_down(t);
    ck_assert_int_ge(now_us, START_US + 2 * LIMIT_US - 1);
    pvmt_datagram_close(t);
}
END_TEST

UNIT_MAIN("datagram", a_joined_link_that_never_comes_up_is_lost, it_is_lost_also_if_nothing_was_sent,
          an_offered_link_has_the_time_from_the_answer_on, a_link_that_comes_up_in_time_stays)
