/* test_assured.c - frames over a stream of bytes: what a header costs, and that frames survive any division. */
#include "core/error.h"
#include "transports/datagram/assured.h"
#include "tests/unit/unit.h"

#define ROOM  4096
#define SIZES 6

/* What the carrier has taken and not delivered; one direction is enough. */
static struct {
    uint8_t bytes[ROOM];
    size_t count;
    size_t most;             /* bytes that a write or a read moves at most */
    uint32_t written, items; /* in all; of the last write */
    uint32_t awaited;
    bool ended, promises; /* after each read, more may be there */
    bool broken;          /* nothing can be written */
} pipe_;

static struct {
    unsigned placed, done;
    struct pvmc_frame_header h;
    uint8_t payload[1 << 16];
    bool refuses, disconnects;
    struct pvmt_assured *a;
} seen;

static ssize_t carrier_write(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count, uint32_t item_bytes)
{
    size_t n = 0, room = ROOM - pipe_.count < pipe_.most ? ROOM - pipe_.count : pipe_.most;
    (void)ep;
    if (pipe_.broken)
        return PVMC_EDOWN;
    for (unsigned i = 0; i < count && n < room; i++) {
        size_t part = pieces[i].iov_len < room - n ? pieces[i].iov_len : room - n;
        memcpy(pipe_.bytes + pipe_.count + n, pieces[i].iov_base, part);
        n += part;
    }
    pipe_.count += n;
    pipe_.written += (uint32_t)n;
    pipe_.items = item_bytes;
    return (ssize_t)n;
}

static ssize_t carrier_read(struct pvmt_endpoint *ep, const uint8_t **bytes, bool *more)
{
    static uint8_t part[ROOM];
    size_t n = pipe_.count < pipe_.most ? pipe_.count : pipe_.most;
    (void)ep;
    memcpy(part, pipe_.bytes, n);
    memmove(pipe_.bytes, pipe_.bytes + n, pipe_.count - n);
    pipe_.count -= n;
    *bytes = part;
    *more = pipe_.count || pipe_.ended || pipe_.promises;
    return n || !pipe_.ended ? (ssize_t)n : PVMC_ESHORT;
}

static void carrier_await(struct pvmt_endpoint *ep, uint32_t bytes)
{
    (void)ep;
    pipe_.awaited = bytes;
}

static uint8_t *rx_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg, (void)ep;
    seen.placed++;
    seen.h = *h;
    if (seen.disconnects)
        seen.a->silent = true;
    return seen.refuses ? NULL : seen.payload;
}

static void rx_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg, (void)ep;
    ck_assert_uint_eq(h->seq, seen.h.seq);
    for (uint32_t i = 0; i < h->length; i++)
        ck_assert_uint_eq(seen.payload[i], (uint8_t)(h->seq * 31 + i));
    seen.done++;
}

static const struct pvmt_callbacks callbacks = {.rx_place = rx_place, .rx_done = rx_done};
static struct pvmt_transport transport = {.callbacks = &callbacks};
static struct pvmt_endpoint ends[2] = {{.transport = &transport}, {.transport = &transport}};
static struct pvmt_assured *from, *to;

static void open_cells(void)
{
    static const struct pvmt_assured_carrier cells = {
        .write = carrier_write, .read = carrier_read, .await = carrier_await, .counts_items = true};
    memset(&pipe_, 0, sizeof pipe_);
    memset(&seen, 0, sizeof seen);
    pipe_.most = ROOM;
    from = pvmt_assured_new(&cells, &ends[0]);
    to = seen.a = pvmt_assured_new(&cells, &ends[1]);
}

static void close_cells(void)
{
    pvmt_assured_free(from);
    pvmt_assured_free(to);
}

/* Frame seq of a message of `body` bytes. Returns what send() does. */
static int send_piece(uint32_t seq, int32_t tag, uint64_t body, uint64_t offset, uint32_t length)
{
    struct pvmc_frame_header h = {.dst = 0x40001,
                                  .src = 0x80002,
                                  .tag = tag,
                                  .dsig = 0x241,
                                  .seq = seq,
                                  .length = length,
                                  .body_length = body,
                                  .offset = offset};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    for (uint32_t i = 0; i < length; i++)
        ((uint8_t *)f->pieces[0].iov_base)[i] = (uint8_t)(seq * 31 + i);
    int rc = pvmt_assured_send(from, f);
    pvmc_frame_unref(f);
    return rc;
}

/* Bytes that the header of that frame costs. */
static uint32_t cost(uint32_t seq, int32_t tag, uint64_t body, uint64_t offset, uint32_t length)
{
    uint32_t before = pipe_.written;
    ck_assert_int_eq(send_piece(seq, tag, body, offset, length), 0);
    uint32_t bytes = pipe_.written - before - length;
    pvmt_assured_hear(to);
    ck_assert_int_eq(to->over, 0);
    ck_assert_uint_eq(seen.h.seq, seq);
    ck_assert_int_eq(seen.h.tag, tag);
    ck_assert_uint_eq(seen.h.offset, offset);
    ck_assert_uint_eq(seen.h.length, length);
    return bytes;
}

START_TEST(headers_cost_what_is_new)
{
    ck_assert_uint_le(cost(100, 7, 1000, 0, 400), 2 + 7 * 4);
    ck_assert_uint_eq(cost(101, 7, 1000, 400, 400), 2); /* the next piece ... */
    ck_assert_uint_eq(cost(102, 7, 1000, 800, 200), 2); /* ... and the last, which is shorter */
    ck_assert_uint_eq(cost(103, 7, 1000, 0, 200), 2);   /* another message like it */
    ck_assert_uint_eq(cost(104, 7, 1000, 200, 800), 6); /* a longer piece */
    ck_assert_uint_eq(cost(105, 8, 1000, 0, 800), 6);   /* another tag */
    ck_assert_uint_eq(cost(106, 8, 1000, 800, 200), 2);
    ck_assert_uint_eq(cost(107, 8, 8, 0, 8), 10); /* a short message; its piece and its length are new */
    ck_assert_uint_eq(cost(108, 8, 8, 0, 8), 2);
    ck_assert_uint_eq(cost(120, 8, 8, 0, 8), 6); /* numbers are missing: they went by another route */
    ck_assert_uint_eq(seen.done, 10);
}
END_TEST

START_TEST(header_and_payload_have_their_items)
{
    struct pvmc_frame_header h = {.dst = 1, .src = 2, .length = 16, .body_length = 16};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    memset(f->pieces[0].iov_base, 0, 16);
    ck_assert_int_eq(pvmt_assured_send(from, f), 0);
    ck_assert_uint_eq(pipe_.items, PVMT_ASSURED_ITEM);
    f->items = 2 | 8;
    ck_assert_int_eq(pvmt_assured_send(from, f), 0);
    ck_assert_uint_eq(pipe_.items, 2);
    pvmc_frame_unref(f);
    ck_assert_int_eq(send_piece(1, 0, 0, 0, 0), 0); /* a header alone */
    ck_assert_uint_eq(pipe_.items, PVMT_ASSURED_HEADER_ITEM);
}
END_TEST

/* Frames of all sizes, written and read in portions of _i + 1 bytes, with refusals. */
START_TEST(frames_survive_any_division)
{
    static const uint32_t sizes[SIZES] = {0, 1, 24, 100, 2000, 9000};
    pipe_.most = (size_t)_i * _i * 7 + 1;
    for (uint32_t seq = 0; seen.done < 3 * SIZES;) {
        uint32_t length = sizes[seq % SIZES];
        if (seq < 3 * SIZES && send_piece(seq, (int32_t)seq / 4, length, 0, length) == 0)
            seq++;
        pvmt_assured_flush(from);
        pvmt_assured_hear(to);
        ck_assert_int_eq(to->over, 0);
    }
    ck_assert_uint_eq(from->queued, 0);
    ck_assert_uint_eq(pipe_.count, 0);
}
END_TEST

START_TEST(the_queue_is_limited)
{
    pipe_.most = 0; /* no room */
    for (uint32_t seq = 0; seq < PVMT_ASSURED_QUEUE_MAX; seq++)
        ck_assert_int_eq(send_piece(seq, 0, 8, 0, 8), 0);
    ck_assert_int_eq(send_piece(99, 0, 8, 0, 8), PVMC_EAGAIN);
    pipe_.most = ROOM;
    ck_assert_int_eq(pvmt_assured_flush(from), PVMT_ASSURED_QUEUE_MAX);
}
END_TEST

START_TEST(what_is_missing_is_awaited)
{
    send_piece(1, 0, 1000, 0, 1000);
    pipe_.most = 1;
    pipe_.count = 1; /* half of the mask */
    pvmt_assured_hear(to);
    ck_assert_uint_eq(pipe_.awaited, 1);
    close_cells();
    open_cells();
    send_piece(1, 0, 1000, 0, 1000);
    pipe_.count = pipe_.written - 990;
    pvmt_assured_hear(to);
    ck_assert_uint_eq(pipe_.awaited, 990);
}
END_TEST

/* A read that filled the buffer says that there may be more, and there is none. */
START_TEST(the_next_header_is_awaited)
{
    pipe_.promises = true;
    send_piece(1, 0, 1000, 0, 1000);
    pvmt_assured_hear(to);
    ck_assert_uint_eq(seen.done, 1);
    ck_assert_uint_eq(pipe_.awaited, 2);
}
END_TEST

START_TEST(refused_frames_are_skipped)
{
    seen.refuses = true;
    send_piece(1, 0, 100, 0, 100);
    pvmt_assured_hear(to);
    seen.refuses = false;
    send_piece(2, 0, 100, 0, 100);
    pvmt_assured_hear(to);
    ck_assert_uint_eq(seen.placed, 2);
    ck_assert_uint_eq(seen.done, 1);
}
END_TEST

START_TEST(nothing_follows_a_disconnect)
{
    seen.disconnects = true;
    send_piece(1, 0, 100, 0, 100);
    send_piece(2, 0, 100, 0, 100);
    pvmt_assured_hear(to);
    ck_assert_uint_eq(seen.placed, 1);
    ck_assert_uint_eq(seen.done, 0);
}
END_TEST

START_TEST(the_end_is_clean_between_frames_only)
{
    send_piece(1, 0, 100, 0, 100);
    pipe_.count -= (size_t)_i * 40; /* within the payload, then within the header */
    pipe_.ended = true;
    pvmt_assured_hear(to);
    ck_assert_int_eq(to->over, PVMC_ESHORT);
    ck_assert_int_eq(pvmt_assured_reason(to), _i ? PVMC_EDOWN : 0);
    ck_assert_uint_eq(seen.done, !_i);
}
END_TEST

/* The peer has sent its last frames and left, and that is noticed by a write. */
START_TEST(last_frames_are_read_after_a_failed_write)
{
    struct pvmc_frame *f = pvmc_frame_alloc(&(struct pvmc_frame_header){.dst = 1, .src = 2});
    send_piece(1, 0, 100, 0, 100);
    send_piece(2, 0, 100, 0, 100);
    pipe_.ended = _i;
    pipe_.broken = true;
    ck_assert_int_eq(pvmt_assured_send(to, f), 0);
    ck_assert_int_eq(pvmt_assured_send(to, f), PVMC_EDOWN);
    pvmt_assured_hear(to);
    if (!_i) /* the first read had all; the next one says that there is no more */
        pvmt_assured_hear(to);
    ck_assert_uint_eq(seen.done, 2);
    ck_assert_int_eq(pvmt_assured_reason(to), _i ? 0 : PVMC_EDOWN);
    pvmc_frame_unref(f);
}
END_TEST

/* A piece behind the end of its message, an unknown flag, another magic number. */
START_TEST(wrong_headers_end_it)
{
    static const uint8_t wrong[][6] = {{1 << 1, 0, 9, 0, 0, 0}, {1, 0, 0x44, 0x56, 1, 0x80}, {1, 0, 1, 2, 1, 0}};
    memcpy(pipe_.bytes, wrong[_i], sizeof wrong[_i]);
    pipe_.count = sizeof wrong[_i];
    pvmt_assured_hear(to);
    ck_assert_int_eq(pvmt_assured_reason(to), PVMC_EFORMAT);
    ck_assert_uint_eq(seen.placed, 0);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("assured");
    tcase_add_checked_fixture(tc, open_cells, close_cells);
    tcase_add_test(tc, headers_cost_what_is_new);
    tcase_add_test(tc, header_and_payload_have_their_items);
    tcase_add_loop_test(tc, frames_survive_any_division, 0, 10);
    tcase_add_test(tc, the_queue_is_limited);
    tcase_add_test(tc, what_is_missing_is_awaited);
    tcase_add_test(tc, the_next_header_is_awaited);
    tcase_add_test(tc, refused_frames_are_skipped);
    tcase_add_test(tc, nothing_follows_a_disconnect);
    tcase_add_loop_test(tc, the_end_is_clean_between_frames_only, 0, 4);
    tcase_add_loop_test(tc, last_frames_are_read_after_a_failed_write, 0, 2);
    tcase_add_loop_test(tc, wrong_headers_end_it, 0, 3);
    Suite *suite = suite_create("assured");
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
